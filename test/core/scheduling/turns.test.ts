import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { connectionArrived } from "../../../src/core/scheduling/arrivals.ts";
import {
  SLOW_BYTES,
  SLOW_SECONDS,
  Turns,
  TURNS_BETWEEN,
  type TurnLimits,
} from "../../../src/core/scheduling/turns.ts";
import { SENT_AT_ONCE, turnsOfAnswers } from "../../../src/shared-limits.ts";
import type { Work } from "../../../src/core/scheduling/work.ts";

const LIMITS: TurnLimits = { atOnce: 3, atOnceOfOne: 2, waiting: 5 };

/** Turns, the names of the requests that have begun or were refused, and a way to end one. */
function turnsWithRecord(limits: Partial<TurnLimits> = {}) {
  const turns = new Turns({ ...LIMITS, ...limits });
  const begun: string[] = [];
  const refused: string[] = [];
  const ends = new Map<string, () => void>();
  /** Names are like `public a 1`: surface, address, number. */
  const take = (name: string) =>
    turns.take(
      name.split(" ").slice(0, -1),
      (end) => {
        begun.push(name);
        ends.set(name, end);
      },
      ({ status }) => refused.push(`${name}: ${status}`),
    );
  return { take, begun, refused, end: (name = "") => ends.get(name)?.() };
}

async function turnsOfTheLoop(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

test("only one answer begins in each event loop turn, even if many are requested together", async () => {
  const { take, begun } = turnsWithRecord({ atOnce: 10, atOnceOfOne: 10 });
  for (const name of ["p a 1", "p a 2", "p b 1"]) take(name);
  assert.equal(begun.length, 1);
  await turn();
  assert.equal(begun.length, 2);
  await turn();
  assert.equal(begun.length, 3);
});

test("several short answers begin in one event loop turn, as many as may be made at once", () => {
  const { take, begun, end } = turnsWithRecord({ areShort: true });
  for (const name of ["p a 1", "p a 2", "p a 3", "p b 1", "p b 2"]) take(name);
  assert.deepEqual(begun, ["p a 1", "p a 2", "p b 1"]);
  end("p a 1");
  assert.deepEqual(begun.slice(3), ["p a 3"]);
});

test("while connections arrive, short answers do not begin together either", async () => {
  const { take, begun } = turnsWithRecord({ areShort: true });
  connectionArrived();
  for (const name of ["p a 1", "p a 2", "p b 1"]) take(name);
  assert.deepEqual(begun, ["p a 1"]);
  await turnsOfTheLoop(5);
  assert.deepEqual(begun, ["p a 1", "p b 1", "p a 2"], "all of them begin once none arrive");
});

test("while connections arrive, an answer begins in one of many event loop turns", async () => {
  const { take, begun } = turnsWithRecord({ atOnce: 10, atOnceOfOne: 10 });
  const counts: number[] = [];
  connectionArrived();
  for (const name of ["p a 1", "p a 2", "p a 3", "p a 4"]) take(name);
  for (let i = 0; i < 2 * TURNS_BETWEEN; i++) {
    counts.push(begun.length);
    connectionArrived();
    await turn();
  }
  const each = (count: number) => Array<number>(TURNS_BETWEEN).fill(count);
  assert.deepEqual(counts, [...each(1), ...each(2)]);
  await turnsOfTheLoop(5);
  assert.equal(begun.length, 4, "without more connections one begins in each turn");
});

test("both limits hold: answers made at once, and answers of one user", async () => {
  const { take, begun, end } = turnsWithRecord();
  for (const name of ["p a 1", "p a 2", "p a 3", "p b 1", "p b 2"]) take(name);
  await turnsOfTheLoop(6);
  assert.deepEqual(begun, ["p a 1", "p b 1", "p a 2"]);
  end("p b 1");
  end("p b 1"); // a turn ends once
  await turnsOfTheLoop(3);
  assert.deepEqual(begun.slice(3), ["p b 2"], "and not the third of one user");
  end("p b 2");
  await turnsOfTheLoop(3);
  assert.deepEqual(begun.slice(4), [], "two of one user go on");
  end("p a 1");
  await turnsOfTheLoop(3);
  assert.deepEqual(begun.slice(4), ["p a 3"]);
});

test("a user without free turns does not delay other users", async () => {
  const { take, begun } = turnsWithRecord();
  for (const name of ["p a 1", "p a 2", "p a 3"]) take(name);
  await turnsOfTheLoop(4);
  take("p b 1");
  assert.deepEqual(begun, ["p a 1", "p a 2", "p b 1"]);
});

test("a group that holds turns waits behind one that holds none, also if its turns began at once", async () => {
  const { take, begun, end } = turnsWithRecord({ atOnce: 2, atOnceOfOne: 1 });
  for (const name of ["p a ada 1", "p a ben 1"]) {
    take(name);
    await turn();
  }
  for (const name of ["p a cyd 1", "p a cyd 2", "p b dan 1", "p b eve 1"]) take(name);
  end("p a ada 1");
  await turn();
  assert.deepEqual(begun.slice(2), ["p b dan 1"]);
  end("p a ben 1"); // now one group holds no turn, and the other one does
  await turn();
  assert.deepEqual(begun.slice(3), ["p a cyd 1"]);
  end("p b dan 1");
  end("p a cyd 1");
  await turnsOfTheLoop(2);
  assert.deepEqual(begun.slice(4).sort(), ["p a cyd 2", "p b eve 1"]);
});

/** Turns held by one reader each; the rates are bytes per check. */
async function turnsWithReaders(rates: readonly number[]) {
  const turns = new Turns({ atOnce: rates.length, atOnceOfOne: 1, waiting: 5 });
  const cut: number[] = [];
  for (const [n, rate] of rates.entries()) {
    let taken = 0;
    const reader = { taken: () => (taken += rate), cut: () => void cut.push(n) };
    turns.take([`address ${n}`], () => {}, assert.fail, reader);
    await turn();
  }
  const check = (times: number): void => {
    for (let n = 0; n < times; n++) turns.check();
  };
  return { turns, cut, check };
}

test("readers that are slow for some seconds are cut while another client waits", async () => {
  const { turns, cut, check } = await turnsWithReaders([0, SLOW_BYTES, SLOW_BYTES - 1]);
  check(10);
  assert.deepEqual(cut, []);
  turns.take(["another address"], () => {}, assert.fail);
  check(SLOW_SECONDS - 1);
  assert.deepEqual(cut, []);
  check(1);
  assert.deepEqual(cut, [0, 2]);
});

test("surfaces take turns, and addresses within each surface", async () => {
  const { take, begun, end } = turnsWithRecord({ atOnce: 1, waiting: 10 });
  const names = ["p a 1", "p a 2", "p a 3", "p b 1", "p c 1", "v d 1", "v d 2"];
  for (const name of names) take(name);
  for (let i = 0; i < names.length; i++) {
    await turnsOfTheLoop(2);
    end(begun.at(-1));
  }
  const order = ["p a 1", "p a 2", "v d 1", "p b 1", "v d 2", "p c 1", "p a 3"];
  assert.deepEqual(begun, order);
});

test("in a full line the user with the most waiting requests loses its newest one, or is refused", () => {
  const { take, refused } = turnsWithRecord({ atOnce: 1 });
  for (const name of ["p a 0", "p a 1", "p a 2", "p a 3", "p a 4", "p a 5"]) take(name);
  assert.throws(() => take("p a 6"), { status: 503, retryAfterSeconds: 2 });
  take("p b 1");
  assert.deepEqual(refused, ["p a 5: 503"]);
  take("v c 1");
  assert.deepEqual(refused.slice(1), ["p a 4: 503"]);
});

test("a cancelled turn makes room in the line and never begins", async () => {
  const { take, begun, end } = turnsWithRecord({ atOnce: 1, waiting: 1 });
  take("p a 1");
  const cancel = take("p a 2");
  cancel?.();
  cancel?.();
  take("p a 3");
  assert.throws(() => take("p a 4"));
  end("p a 1");
  await turnsOfTheLoop(3);
  assert.deepEqual(begun, ["p a 1", "p a 3"]);
});

test("a client that has left before it asks gets no turn and no place in the line", async () => {
  const turns = new Turns({ atOnce: 1, atOnceOfOne: 1, waiting: 1 });
  const gone = AbortSignal.abort(new Error("left"));
  await assert.rejects(turns.wait(["p", "a"], gone), /left/);
  const end = await turns.wait(["p", "a"]);
  await assert.rejects(turns.wait(["p", "b"], gone), /left/);
  const next = turns.wait(["p", "b"]);
  end();
  (await next)();
});

test("a turn that begins behind a line leaves no listener on the client's signal", async () => {
  const turns = new Turns({ atOnce: 9, atOnceOfOne: 1, waiting: 9, areShort: true });
  for (let i = 0; i < 2; i++) turns.take(["p", "a"], () => {}, assert.fail); // the second one waits
  const { signal } = new AbortController();
  for (let i = 0; i < 20; i++) (await turns.wait(["p", "b"], signal))();
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("a client whose credentials ended while it waited does no work, and its turn is free again", async () => {
  const turns = new Turns({ atOnce: 1, atOnceOfOne: 1, waiting: 2 });
  const end = await turns.wait(["p", "a"]);
  const worked: string[] = [];
  const work = (name: string) => (): void => void worked.push(name);
  const recheck = (): Promise<void> => Promise.reject(new Error("ended"));
  const refused = turns.run({ party: ["p", "b"], recheck }, work("b"));
  const last = turns.run({ party: ["p", "c"], recheck: () => {} }, work("c"));
  end();
  await assert.rejects(refused, /ended/);
  await last;
  assert.deepEqual(worked, ["c"]);
});

test("groups of users have limits of their own", () => {
  const limits = { atOnce: 9, atOnceOfOne: 2, atOnceOfGroups: [3, 2], areShort: true } as const;
  const { take, begun, end } = turnsWithRecord(limits);
  for (const name of ["o p a 1", "o p b 1", "o p b 2", "o v a 1", "o v b 1", "u p a 1"]) take(name);
  assert.deepEqual(begun, ["o p a 1", "o p b 1", "o v a 1", "u p a 1"]);
  end("o v a 1");
  assert.deepEqual(begun.slice(4), ["o v b 1"]);
  end("o p a 1");
  assert.deepEqual(begun.slice(5), ["o p b 2"]);
});

test("slow readers that hold all turns of their group are cut while another of it waits", async () => {
  const limits = {
    atOnce: 9,
    atOnceOfOne: 2,
    atOnceOfGroups: [2],
    waiting: 9,
    areShort: true,
  } as const;
  const turns = new Turns(limits);
  const cut: string[] = [];
  for (const name of ["o a", "o b", "u a"]) {
    const reader = { taken: () => 0, cut: () => void cut.push(name) };
    turns.take(name.split(" "), () => {}, assert.fail, reader);
  }
  for (let n = 0; n < SLOW_SECONDS; n++) turns.check();
  assert.deepEqual(cut, []);
  turns.take(["o", "c"], () => {}, assert.fail);
  for (let n = 0; n < SLOW_SECONDS; n++) turns.check();
  assert.deepEqual(cut, ["o a", "o b"]);
});

test("the large answers of one organization leave turns to the others", async () => {
  const turns = turnsOfAnswers().sent;
  const begun: string[] = [];
  const take = (...party: string[]): void =>
    void turns.take(party, () => void begun.push(party.join(" ")), assert.fail);
  for (let n = 0; n < 2 * SENT_AT_ONCE; n++) take("v1", "o", `address ${n}`);
  take("v1", "u", "address");
  await turnsOfTheLoop(4 * SENT_AT_ONCE);
  assert.equal(begun.length, SENT_AT_ONCE / 2 + 1);
  assert.ok(begun.includes("v1 u address"));
});

test("slices without a turn take a millisecond together in one turn of the event loop", async () => {
  const turns = new Turns({ atOnce: 1, atOnceOfOne: 1, waiting: Infinity });
  void turns.wait(["holds the only turn"]);
  let parts = 0;
  function* work(): Work<object> {
    const end = performance.now() + 2;
    while (performance.now() < end);
    parts++;
    yield;
    return {};
  }
  for (let i = 0; i < 10; i++) void turns.runInParts({ party: [`${i}`] }, work());
  assert.equal(parts, 1);
  await turn();
  void turns.runInParts({ party: ["later"] }, work());
  assert.equal(parts, 2);
});

/** Work of some slices. */
function* longWork(slices: number): Work<object> {
  for (let slice = 0; slice < slices; slice++) {
    const end = performance.now() + 1;
    while (performance.now() < end);
    yield;
  }
  return {};
}

test("the long work of one user ends in its order, beside that of others", async () => {
  const turns = new Turns({ atOnce: 4, atOnceOfOne: 1, waiting: Infinity });
  const ended: string[] = [];
  const run = (user: string, slices: number) =>
    turns.runInParts({ party: [user] }, longWork(slices));
  const all = ["a1", "a2", "a3", "b"].map(async (name, i) => {
    await run(name.charAt(0), [60, 60, 60, 30][i] as number);
    ended.push(name);
  });
  await Promise.all(all);
  assert.deepEqual(ended, ["b", "a1", "a2", "a3"]);
});

test("the next long work of a user waits until the one before it has ended", async () => {
  const turns = new Turns({ atOnce: 4, atOnceOfOne: 1, waiting: Infinity });
  const slices = { first: 0, second: 0 };
  function* counted(name: keyof typeof slices): Work<object> {
    for (const part of longWork(60)) {
      slices[name]++;
      yield part;
    }
    return {};
  }
  const first = turns.runInParts({ party: ["a"] }, counted("first"));
  const second = turns.runInParts({ party: ["a"] }, counted("second"));
  await first;
  assert.ok(slices.first === 60 && slices.second <= 1, `${slices.second}`);
  await second;
});

test("work that has begun is not refused when the line is full", async () => {
  const turns = new Turns({ atOnce: 1, atOnceOfOne: 1, waiting: 2 });
  const run = async (party: string) => turns.runInParts({ party: [party] }, longWork(60));
  const begun = run("a");
  const others = ["a", "a", "b"].map(async (party) => run(party).catch(() => "refused"));
  assert.deepEqual(await begun, {});
  assert.deepEqual(await Promise.all(others), [{}, "refused", {}]);
});

test("a client whose credentials ended during its long work is refused", async () => {
  const turns = new Turns({ atOnce: 1, atOnceOfOne: 1, waiting: Infinity });
  let hasEnded = false;
  const recheck = (): void => {
    if (hasEnded) throw new Error("revoked");
    hasEnded = true;
  };
  const running = turns.runInParts({ party: ["a"], recheck }, longWork(60));
  await assert.rejects(async () => running, /revoked/);
});
