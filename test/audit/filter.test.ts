import assert from "node:assert/strict";
import { test } from "node:test";
import { filterOf, filterQuery } from "../../src/audit/filter.ts";
import { BadInput } from "../../src/core/errors.ts";

/** The filters that were given a value. */
function given(filter: object): object {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

test("texts are read unchanged", () => {
  const texts = {
    q: "Get",
    provider: "Git",
    executor: "Ada",
    capability: "git/Push",
    status: "Failed",
    runtime: "R1",
    trace_id: "T-1",
    policy: "V1",
  };
  assert.deepEqual(given(filterOf(texts)), texts);
});

test("decision and consumer are read in any letter case, and never refused", () => {
  const filter = filterOf({ decision: "denied", consumer: "AI" });
  assert.deepEqual(given(filter), { decision: "DENIED", consumer: "ai" });
  assert.deepEqual(given(filterOf({ decision: "maybe" })), { decision: "MAYBE" });
});

for (const name of ["observed", "not_decision", "not_consumer", "not_observed"] as const) {
  test(`an unknown word in ${name} is refused by name`, () => {
    const words = name === "not_consumer" ? "human, ai or ci" : "ALLOWED or DENIED";
    assert.throws(() => filterOf({ [name]: "DENY" }), new BadInput(`${name}: expected ${words}`));
  });
}

test("known words are read in any letter case", () => {
  const filter = filterOf({ observed: "denied", not_decision: "Allowed", not_consumer: "CI" });
  const words = { observed: "DENIED", not_decision: "ALLOWED", not_consumer: "ci" };
  assert.deepEqual(given(filter), words);
});

test("wildcards take the place of the exact filters that they name", () => {
  const values = { executor: "a*", not_policy: "v*", status: "*" };
  const wildcards = [
    { parameter: "executor", field: "executor", text: "a*", isExcluded: false },
    { parameter: "not_policy", field: "policy", text: "v*", isExcluded: true },
  ];
  const filter = filterOf({ ...values, wildcards: "not_policy,executor,runtime" });
  assert.deepEqual(given(filter), { status: "*", wildcards });
  assert.deepEqual(given(filterOf({ ...values, wildcards: "runtime" })), values);
});

for (const name of ["", "trace_id", "decision", "not_consumer", "observed", "reason", "q", "zz"]) {
  test(`wildcards=${name || "executor,"} is refused by name`, () => {
    assert.throws(
      () => filterOf({ executor: "a*", wildcards: `executor,${name}` }),
      (error) => error instanceof BadInput && error.message.startsWith(`wildcards: "${name}" `),
    );
  });
}

for (const name of ["executor", "not_policy"]) {
  test(`${name} has at most 64 asterisks where wildcards names it`, () => {
    const most = "a*".repeat(64);
    assert.equal(filterOf({ [name]: most, wildcards: name }).wildcards?.[0]?.text, most);
    const more = { [name]: `${most}*` };
    assert.deepEqual(given(filterOf(more)), more, "other asterisks stand for themselves");
    assert.throws(
      () => filterOf({ ...more, wildcards: name }),
      (error) =>
        error instanceof BadInput &&
        error.message.startsWith(`${name}: has more than 64 asterisks: leave out `),
    );
  });
}

test("moments are read with their offset", () => {
  const filter = filterOf({ from: "2026-11-20T22:00:00+02:00", to: "2026-11-20T20:00:00.001Z" });
  const moment = Date.parse("2026-11-20T20:00:00Z");
  assert.deepEqual(given(filter), { from: moment, to: moment + 1 });
});

for (const name of ["from", "to"] as const) {
  for (const text of ["yesterday", "2026-11-20", "2026-02-30T00:00:00Z", "1700000000000"]) {
    test(`${name}=${text} is refused by name`, () => {
      assert.throws(
        () => filterOf({ [name]: text }),
        (error) => error instanceof BadInput && error.message.startsWith(`${name}: `),
      );
    });
  }
}

test("every parameter becomes a filter, in any order", () => {
  const names = Object.keys(filterQuery);
  const valueOf = (name: string): string => {
    if (/decision|observed/.test(name)) return "DENIED";
    if (name === "wildcards") return "not_status, executor";
    return name.endsWith("consumer") ? "ai" : "2026-11-20T20:00:00Z";
  };
  const values = (list: readonly string[]) =>
    filterOf(Object.fromEntries(list.map((name) => [name, valueOf(name)])));
  const exact = names.filter((name) => name !== "executor" && name !== "not_status");
  assert.deepEqual(Object.keys(given(values(names))).sort(), exact.sort());
  assert.equal(JSON.stringify(values(names)), JSON.stringify(values(names.toReversed())));
});
