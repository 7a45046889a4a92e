import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FairShare, type Holding, type Party } from "../../../src/core/scheduling/fair-share.ts";

/** A budget that records its cuts by name. */
function budgetOf(limit: number) {
  const shares = new FairShare<string>();
  const cuts: string[] = [];
  const take = (party: Party, amount: number, name: string): Holding<string> | undefined => {
    const holding = shares.hold(party, name);
    if (shares.makeRoom(holding, amount, limit, (owner) => cuts.push(owner))) {
      holding.set(amount);
      return holding;
    }
    holding.close();
    return undefined;
  };
  return { shares, cuts, take };
}

test("the newest holding of the biggest user makes room for a smaller one", () => {
  const { cuts, take, shares } = budgetOf(10);
  take(["v1", "acme", "a"], 2, "small");
  for (const name of ["first", "second", "third"]) take(["v1", "acme", "b"], 2, name);
  take(["v1", "acme", "c"], 2, "other");
  assert.ok(take(["v1", "acme", "d"], 2, "new"));
  assert.deepEqual(cuts, ["third"]);
  assert.equal(shares.used(), 10);
});

test("a user that holds as much as the biggest user, or would do so, gets no more", () => {
  const { cuts, take } = budgetOf(8);
  take(["v1", "acme", "a"], 4, "a");
  take(["v1", "acme", "b"], 4, "b");
  assert.equal(take(["v1", "acme", "a"], 1, "more"), undefined);
  assert.equal(take(["v1", "acme", "c"], 4, "as much"), undefined);
  assert.deepEqual(cuts, []);
});

test("many addresses of one organization count as one user beside another organization", () => {
  const { cuts, take } = budgetOf(10);
  for (let i = 0; i < 9; i++) take(["public", "default", `a${i}`], 1, `crowd ${i}`);
  take(["v1", "acme", "x"], 1, "acme");
  for (const name of ["2", "3", "4", "5"]) assert.ok(take(["v1", "acme", "x"], 1, name));
  assert.deepEqual(cuts, ["crowd 0", "crowd 1", "crowd 2", "crowd 3"]);
  assert.equal(take(["v1", "acme", "x"], 1, "6"), undefined, "now both surfaces hold half");
});

test("a limit of a group counts that group alone", () => {
  const shares = new FairShare<string>();
  const group = ["v1", "acme"];
  shares.hold(["v1", "other", "a"], "other").set(100);
  shares.hold([...group, "a"], "own").set(2);
  const asking = shares.hold([...group, "b"], "asking");
  const cuts: string[] = [];
  assert.ok(shares.makeRoom(asking, 1, 2, (owner) => cuts.push(owner), group));
  assert.deepEqual(cuts, ["own"]);
  assert.equal(shares.used(), 100);
});

test("a closed holding stays empty, and its user is removed", () => {
  const shares = new FairShare<string>();
  const party = ["v1", "acme", "a"];
  const old = shares.hold(party, "old");
  old.set(5);
  old.close();
  assert.equal(shares.biggest()?.amount, 0);
  const next = shares.hold(party, "next");
  next.set(3);
  old.set(9);
  old.close();
  assert.deepEqual([shares.used(), shares.used(party)], [3, 3]);
});

interface Held {
  readonly party: Party;
  readonly name: number;
  readonly amount: number;
}

/** Whether a user holds most at each level, by adding up everything anew. */
function isBiggest(party: Party, held: readonly Held[]): boolean {
  return party.every((_, level) => {
    const group = party.slice(0, level);
    const sums = new Map<string, number>();
    for (const one of held.filter((other) => group.every((key, i) => other.party[i] === key))) {
      const key = one.party[level] as string;
      sums.set(key, (sums.get(key) ?? 0) + one.amount);
    }
    return sums.get(party[level] as string) === Math.max(...sums.values());
  });
}

const LIMIT = 100;
const key = fc.constantFrom("a", "b", "c");
const step = fc.record({
  party: fc.tuple(key, key, key),
  amount: fc.integer({ min: 1, max: 30 }),
  closes: fc.option(fc.nat(20)),
});

test("by a plain recount, users that were cut or refused held the most", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const shares = new FairShare<Held>();
      const holdings = new Map<Held, Holding<Held>>();
      const held = (): readonly Held[] => [...holdings.keys()];
      const sum = () => held().reduce((all, { amount }) => all + amount, 0);
      steps.forEach(({ party, amount, closes }, name) => {
        const closed = closes === null ? undefined : held()[closes];
        if (closed) holdings.get(closed)?.close();
        if (closed) holdings.delete(closed);
        const asking = { party, name, amount };
        const holding = shares.hold(party, asking);
        const isGiven = shares.makeRoom(holding, amount, LIMIT, (cut) => {
          assert.ok(sum() + amount > LIMIT, "there was room already");
          assert.ok(isBiggest(cut.party, [...held(), asking]));
          assert.notDeepEqual(cut.party, party);
          assert.ok(
            !held().some((one) => `${one.party}` === `${cut.party}` && one.name > cut.name),
          );
          holdings.delete(cut);
        });
        if (isGiven) {
          holding.set(amount);
          holdings.set(asking, holding);
        } else {
          assert.ok(isBiggest(party, [...held(), asking]));
          holding.close();
        }
        assert.equal(shares.used(), sum());
        assert.ok(shares.used() <= LIMIT);
      });
    }),
  );
});
