import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import fc from "fast-check";
import type { AuditEvent } from "../../src/audit/schema.ts";
import type {
  AuditFacets,
  AuditFilter,
  AuditRows,
  AuditStore,
  Position,
} from "../../src/audit/store.ts";
import { DAY_MS } from "../../src/core/clock.ts";
import {
  activityOf,
  facetsOf,
  histogramOf,
  matches,
  matchesOf,
  providerNamesOf,
  providerUseOf,
} from "./naive-audit.ts";
import {
  append,
  auditEventOf,
  eventsIn,
  Follower,
  NOON,
  ORGANIZATION,
  page,
  type AuditEngine,
} from "./store-suite.ts";

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
const someTime = fc.nat(6).map((n) => NOON + (n - 3) * (DAY_MS / 3));
const someEvent = fc.record({
  id: fc.nat(60).map((n) => `id-${n}`),
  timestamp: someTime.map((time) => new Date(time).toISOString()),
  command: someText,
  executor: someText,
  resource: someText,
  provider: someText,
  capability: someText,
  reason: someText,
  policy_decision: fc.constantFrom("ALLOWED" as const, "DENIED" as const, undefined),
  consumer: fc.constantFrom("human" as const, "ai" as const, "ci" as const),
  ai: fc.boolean(),
  status: fc.constantFrom("failed", "Error", "allowed"),
  policy: someText,
  runtime_name: someText,
  trace_id: someText,
});
/** Events of one append, which all have the same reporter. */
const someBatch = fc
  .tuple(fc.array(someEvent, { maxLength: 6 }), fc.constantFrom("key-1", "user-1", undefined))
  .map(([events, reported_by]) => events.map((event) => ({ ...event, reported_by })));

// Most filters are absent, so that some events match.
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.nat(4).chain((n) => (n === 0 ? arbitrary : fc.constant(undefined)));
const WILD = [
  "*",
  "a*",
  "*T",
  "İ*",
  "i*",
  "*σ",
  "*😀",
  "G*t",
  "g*i*T*",
  "A",
  "*\u0000*",
  "g**h",
  "key-*",
  "%",
  "*}*",
];
const someWildcards = fc
  .array(
    fc.record({
      field: fc.constantFrom(
        "executor",
        "provider",
        "capability",
        "status",
        "runtime_name",
        "policy",
        "reported_by",
      ),
      text: fc.constantFrom(...WILD),
      isExcluded: fc.boolean(),
    }),
    { minLength: 1, maxLength: 2 },
  )
  .map((some) => some.map((one) => ({ ...one, parameter: "executor" as const })));
const someFilter = fc.record({
  wildcards: rarely(someWildcards),
  q: fc.option(fc.constantFrom(...texts, "i", "σ", "\u0307", "id", "zz"), { nil: undefined }),
  decision: rarely(fc.constantFrom("ALLOWED", "DENIED", "other")),
  provider: rarely(fc.constantFrom("git", "a")),
  consumer: rarely(fc.constantFrom("human", "ai", "nobody")),
  from: rarely(someTime),
  to: rarely(someTime.map((time) => time + 1)),
  executor: rarely(fc.constantFrom("İx", "a")),
  capability: rarely(fc.constantFrom(...texts)),
  status: rarely(fc.constantFrom("failed", "none")),
  runtime: rarely(fc.constantFrom(...texts)),
  trace_id: rarely(fc.constantFrom("git", "😀", "zz")),
  policy: rarely(fc.constantFrom("ΑΣ", "ß")),
  reason: rarely(fc.constantFrom(...texts, "i", "\u0307", "zz", "")),
  reported_by: rarely(fc.constantFrom("key-1", "user-1", "nobody")),
  not_decision: rarely(fc.constantFrom("ALLOWED", "DENIED", "other")),
  not_consumer: rarely(fc.constantFrom("human", "ai", "nobody")),
  not_provider: rarely(fc.constantFrom("git", "a", "zz")),
  not_executor: rarely(fc.constantFrom(...texts)),
  not_policy: rarely(fc.constantFrom(...texts)),
  not_reported_by: rarely(fc.constantFrom("key-1", "nobody")),
});
const someStep = fc.oneof(
  { weight: 6, arbitrary: fc.record({ batch: someBatch }) },
  {
    weight: 6,
    arbitrary: fc.record({
      filter: someFilter,
      limit: fc.integer({ min: 1, max: 9 }),
      offset: fc.nat(9),
    }),
  },
  { weight: 1, arbitrary: fc.record({ walk: someFilter, limit: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.constant({ restart: true }) },
  { weight: 1, arbitrary: fc.constant({ damage: true }) },
);

/** Compares an engine with a list that is filtered anew for every query; a slow engine takes fewer runs. */
export function testAgainstNaive(
  open: (t: TestContext) => Promise<AuditEngine>,
  numRuns = 100,
): void {
  test("any query over any events has the same answer as a filter over a list", async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(someStep, { maxLength: 25 }), async (steps) => {
        const engine = await open(t);
        let { store } = engine;
        const { start } = await store.tail(ORGANIZATION, {}, undefined);
        const model: AuditEvent[] = [];
        for (const step of steps) {
          if ("restart" in step) store = await engine.restart();
          else if ("damage" in step) store = await (engine.loseIndexes ?? engine.restart)();
          else if ("batch" in step) await appendToBoth(store, model, step.batch);
          else if ("walk" in step) await walkBoth(store, model, step.walk, step.limit);
          else await askBoth(store, model, start, step);
        }
        await engine.close?.();
      }),
      { numRuns },
    );
  });
}

/** Moments at the edges of minutes and of the window, close enough that many are equal. */
const someMoment = fc
  .record({
    day: fc.constantFrom(0, 1),
    third: fc.integer({ min: -9, max: 9 }),
    ms: fc.constantFrom(-1, 0, 0, 1),
  })
  .map(({ day, third, ms }) => NOON + day * DAY_MS + third * 20_000 + ms);
const someMinuteStep = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ batch: fc.array(fc.tuple(someEvent, someMoment), { maxLength: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ now: someMoment }) },
);

/** Compares the counts of the last 24 hours while time passes, and sometimes goes back. */
export function testActivityAgainstNaive(
  open: (t: TestContext) => Promise<AuditEngine>,
  numRuns = 100,
): void {
  test("at any time, activity equals the counts over a list", async (t) => {
    const engine = await open(t);
    let tenants = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(someMinuteStep, { maxLength: 25, size: "max" }), async (steps) => {
        const organization = `tenant-${tenants++}`;
        const model: AuditEvent[] = [];
        for (const step of steps) {
          if ("now" in step) await askActivity(engine.store, model, step.now, organization);
          else {
            const events = step.batch.map(([fields, time]) => {
              const timestamp = new Date(time).toISOString();
              const { id: _, ...rest } = fields;
              return auditEventOf({ ...rest, timestamp, organization_id: organization });
            });
            if (events.length === 0) continue;
            await append(engine.store, events, organization);
            model.push(...events);
          }
        }
      }),
      { numRuns },
    );
  });
}

async function askActivity(
  store: AuditStore,
  model: readonly AuditEvent[],
  now: number,
  organization = ORGANIZATION,
): Promise<void> {
  assert.deepEqual(await store.activity(organization, now), activityOf(model, now));
  const names = ["git", "a", "ß", "never", "__proto__"];
  assert.deepEqual(
    await store.providerUse(organization, names, now),
    providerUseOf(model, names, now),
  );
  assert.deepEqual(
    [...(await store.providerNames(organization, 100))].sort(),
    [...providerNamesOf(model)].sort(),
  );
}

async function appendToBoth(
  store: AuditStore,
  model: AuditEvent[],
  batch: readonly Partial<AuditEvent>[],
): Promise<void> {
  // Through JSON, as events arrive: `undefined` fields are absent.
  const given = JSON.parse(JSON.stringify(batch.map(auditEventOf))) as AuditEvent[];
  const storedOf = ({ id, reported_by }: AuditEvent): AuditEvent | undefined =>
    model.find((event) => event.id === id && event.reported_by === reported_by);
  for (const event of given) if (storedOf(event) === undefined) model.push(event);
  assert.deepEqual(await append(store, given), given.map(storedOf));
}

async function askBoth(
  store: AuditStore,
  model: readonly AuditEvent[],
  beginning: Position,
  { filter, limit, offset }: { filter: AuditFilter; limit: number; offset: number },
): Promise<void> {
  const found = matchesOf(model, filter);
  assert.deepEqual(await page(store, filter, limit, offset), {
    events: found.slice(offset, offset + limit),
    total: found.length,
  });
  await askActivity(store, model, NOON);
  assert.deepEqual(await exportOf(store, filter), { events: found, total: found.length });
  const [from, to, interval] = [NOON - DAY_MS, NOON + 5, DAY_MS / 5];
  assert.deepEqual(
    await store.histogram(ORGANIZATION, filter, from, to, interval),
    histogramOf(model, filter, from, to, interval),
  );
  const id = `id-${offset * 7}`;
  const withId = await store.withId(ORGANIZATION, id);
  assert.deepEqual(
    withId.map((event) => JSON.parse(String(event)) as AuditEvent),
    model.filter((one) => one.id === id).slice(0, 10),
  );
  assert.deepEqual(
    lowerReasons(await store.facets(ORGANIZATION, filter, texts.length)),
    lowerReasons(facetsOf(model, filter, texts.length)),
  );
  const followed = inOrder(model, filter);
  const follower = await Follower.of(store, filter, beginning);
  assert.deepEqual(await follower.stop(followed.length), followed);
}

/** A reason may come back in any of its spellings. */
function lowerReasons({ values, ...rest }: AuditFacets): object {
  const lower = [...values].map(([facet, counts]) => [
    facet,
    facet === "reason" ? counts.map(([value, events]) => [value.toLowerCase(), events]) : counts,
  ]);
  return { ...rest, values: lower };
}

function inOrder(model: readonly AuditEvent[], filter: AuditFilter): AuditEvent[] {
  return model.filter((event) => matches(event, filter));
}

async function exportOf(
  store: AuditStore,
  filter: AuditFilter,
): Promise<{ events: AuditEvent[]; total: number }> {
  const { total, rows } = await store.export(ORGANIZATION, filter);
  let text = "";
  for await (const piece of rows) text += piece.toString("utf8");
  return {
    events: text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as AuditEvent),
    total,
  };
}

/** Follows cursors to the end while an event arrives between every two pages. */
async function walkBoth(
  store: AuditStore,
  model: AuditEvent[],
  filter: AuditFilter,
  limit: number,
): Promise<void> {
  const before = matchesOf(model, filter);
  const known = new Set(model.map(({ id }) => id));
  const follower = await Follower.of(store, filter);
  const stored = model.length;
  const seen: AuditEvent[] = [];
  let start: number | Position = 0;
  for (let turn = 0; ; turn++) {
    const rows: AuditRows = await store.page(ORGANIZATION, filter, limit, start);
    assert.equal(rows.total, matchesOf(model, filter).length);
    seen.push(...(await eventsIn(rows.json)));
    if (rows.next === undefined) break;
    start = rows.next;
    const late = { id: `w-${model.length}`, command: "a", provider: "git" };
    const timestamp = new Date(NOON + ((turn % 5) - 2) * (DAY_MS / 3)).toISOString();
    await appendToBoth(store, model, [{ ...late, timestamp }]);
  }
  const live = inOrder(model.slice(stored), filter);
  assert.deepEqual(await follower.stop(live.length), live);
  assert.deepEqual(
    seen.filter(({ id }) => known.has(id)),
    before,
  );
  const distinct = new Set(seen.map(({ id, reported_by }) => JSON.stringify([id, reported_by])));
  assert.equal(distinct.size, seen.length);
}
