import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import fc from "fast-check";
import type { AuditEvent } from "../../src/audit/schema.ts";
import type { AuditFilter, AuditStore } from "../../src/audit/store.ts";
import { DAY_MS } from "../../src/core/clock.ts";
import { activityOf, matchesOf } from "./naive-audit.ts";
import { append, auditEventOf, NOON, ORGANIZATION, page, type AuditEngine } from "./store-suite.ts";

const texts = [
  "İx",
  "i̇X",
  "ΑΣ",
  "ας",
  "Σ",
  "ß",
  "git",
  "GIT push",
  '},{"id":"',
  "😀",
  "\u0000\n",
  "a",
];
const someText = fc.option(fc.constantFrom(...texts), { nil: undefined });
const someEvent = fc.record({
  id: fc.nat(60).map((n) => `id-${n}`),
  timestamp: fc.nat(6).map((n) => new Date(NOON + (n - 3) * (DAY_MS / 3)).toISOString()),
  command: someText,
  executor: someText,
  resource: someText,
  provider: someText,
  capability: someText,
  policy_decision: fc.constantFrom("ALLOWED" as const, "DENIED" as const, undefined),
  consumer: fc.constantFrom("human" as const, "ai" as const, "ci" as const),
  ai: fc.boolean(),
  status: fc.constantFrom("failed", "error", "allowed"),
});
const someFilter = fc.record({
  q: fc.option(fc.constantFrom(...texts, "i", "σ", "\u0307", "id", "zz"), { nil: undefined }),
  decision: fc.constantFrom("ALLOWED", "DENIED", "other", undefined, undefined),
  provider: fc.constantFrom("git", "a", undefined, undefined),
  consumer: fc.constantFrom("human", "ai", undefined, undefined),
});
const someStep = fc.oneof(
  { weight: 6, arbitrary: fc.record({ batch: fc.array(someEvent, { maxLength: 6 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      filter: someFilter,
      limit: fc.integer({ min: 1, max: 9 }),
      offset: fc.nat(9),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ restart: true }) },
);

/** Checks an engine against a list that is filtered anew for every question. */
export function testAgainstNaive(open: (t: TestContext) => Promise<AuditEngine>): void {
  test("whatever is stored and asked, the answer is that of a filter over a list", async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(someStep, { maxLength: 25 }), async (steps) => {
        const engine = await open(t);
        let { store } = engine;
        const model: AuditEvent[] = [];
        for (const step of steps) {
          if ("restart" in step) store = await engine.restart();
          else if ("batch" in step) await appendToBoth(store, model, step.batch);
          else await askBoth(store, model, step);
        }
      }),
      { numRuns: 100 },
    );
  });
}

async function appendToBoth(
  store: AuditStore,
  model: AuditEvent[],
  batch: readonly Partial<AuditEvent>[],
): Promise<void> {
  // Through JSON, as events come: what is undefined is not there.
  const given = JSON.parse(JSON.stringify(batch.map(auditEventOf))) as AuditEvent[];
  const storedOf = ({ id }: AuditEvent): AuditEvent | undefined =>
    model.find((event) => event.id === id);
  for (const event of given) if (storedOf(event) === undefined) model.push(event);
  assert.deepEqual(await append(store, given), given.map(storedOf));
}

async function askBoth(
  store: AuditStore,
  model: readonly AuditEvent[],
  { filter, limit, offset }: { filter: AuditFilter; limit: number; offset: number },
): Promise<void> {
  const found = matchesOf(model, filter);
  assert.deepEqual(await page(store, filter, limit, offset), {
    events: found.slice(offset, offset + limit),
    total: found.length,
  });
  assert.deepEqual(await store.activity(ORGANIZATION, NOON), activityOf(model, NOON));
}
