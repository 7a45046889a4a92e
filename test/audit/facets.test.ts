import assert from "node:assert/strict";
import { test } from "node:test";
import { mostFrequent } from "../../src/audit/facets.ts";
import { start } from "../support/start.ts";

test("facets count the matching events by the values of their fields", async (t) => {
  const app = await start(t);
  const reason = "Force pushes are blocked";
  await app.post("/api/public/audit", {
    events: [
      { command: "git push -f", executor: "ada", policy_decision: "DENIED", reason },
      { command: "git push -f", executor: "bob", policy_decision: "DENIED", reason },
      { command: "git pull", executor: "ada", policy_decision: "ALLOWED", consumer: "ai" },
      { command: "ls", executor: "x".repeat(257) },
    ],
  });
  const valuesOf = async (query: string): Promise<Record<string, unknown>> => {
    const { body } = await app.get(`/api/public/audit/facets${query}`);
    const { facets, ...rest } = body as {
      readonly facets: readonly { readonly field: string; readonly values: unknown }[];
    };
    return { ...rest, ...Object.fromEntries(facets.map(({ field, values }) => [field, values])) };
  };
  const all = await valuesOf("");
  assert.equal(all["counted"], 4);
  assert.equal(all["complete"], true);
  assert.deepEqual(all["executor"], [
    { value: "ada", events: 2 },
    { value: "bob", events: 1 },
  ]);
  assert.deepEqual(all["reason"], [{ value: reason, events: 2 }]);
  const denied = await valuesOf("?decision=denied&limit=1");
  assert.equal(denied["counted"], 2);
  assert.deepEqual(denied["decision"], [{ value: "DENIED", events: 2 }]);
  assert.deepEqual(denied["executor"], [{ value: "ada", events: 1 }]);
  assert.deepEqual(denied["consumer"], [{ value: "human", events: 2 }]);
});

test("facets of an organization without events are empty", async (t) => {
  const app = await start(t);
  const { status, body } = await app.get("/api/public/audit/facets");
  assert.equal(status, 200);
  assert.equal((body as { readonly counted: number }).counted, 0);
});

test("the most frequent values come first, equally frequent ones by name; long and empty values are left out", () => {
  const counts = [
    ["b", 1],
    ["", 9],
    ["x".repeat(257), 9],
    ["A", 1],
    ["c", 3],
  ] as const;
  assert.deepEqual(mostFrequent(counts, 2), [
    ["c", 3],
    ["A", 1],
  ]);
});
