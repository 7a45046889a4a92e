/**
 * Feeds the file engine and PostgreSQL with the same random events and questions, and compares every answer
 * byte for byte; only positions are each engine's own.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { DAY_MS, MINUTE_MS } from "../../../src/core/clock.ts";
import type { AuditEvent } from "../../../src/audit/schema.ts";
import type { AuditFilter, AuditRows, AuditStore, Position } from "../../../src/audit/store.ts";
import { FileAuditStore } from "../../../src/storage/files/audit.ts";
import { Layout } from "../../../src/storage/layout.ts";
import { NOON } from "../../audit/store-suite.ts";
import { ForgetfulFiles } from "../../support/forgetful-files.ts";
import { createDatabase, withoutPostgres } from "../../support/postgres.ts";
import { auditServer } from "./open-audit.ts";
import { silent } from "../../support/silent-log.ts";

const EVENTS = 2_000;
const QUESTIONS = 300;
const ORGANIZATIONS = ["acme", "other"];

const words = [
  "git",
  "Git",
  "push --force",
  "ÄÖ",
  "İx",
  "i̇X",
  "ΑΣ",
  "ας",
  "ß",
  "a%b",
  "a_b",
  "\\",
  "%",
  "_",
  "\u0000",
];
const odd = [
  "\ud800",
  "\udc00x",
  "\ufffd",
  "\ufde0",
  "\ufdd0\ufde0",
  "😀",
  "\n\t",
  '","',
  "\u0001",
  "\uffff",
  "K",
  "ZZ",
];
const someText = fc
  .array(fc.constantFrom(...words, ...words, ...odd), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join(""));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });
const someTime = fc
  .integer({ min: -40, max: 40 })
  .chain((thirds) =>
    fc.constantFrom(-1, 0, 0, 1, 20_000, 59_999).map((ms) => NOON + thirds * (DAY_MS / 24) + ms),
  );
const someEvent = fc.record({
  id: fc.nat(4 * EVENTS).map((n) => `id-${n}`),
  organization_id: fc.constantFrom(...ORGANIZATIONS),
  timestamp: someTime.map(momentOf),
  ingested_at: fc.nat(5).map((day) => momentOf(NOON + (day - 5) * DAY_MS)),
  command: maybe(someText),
  executor: maybe(someText),
  consumer: fc.constantFrom("human" as const, "ai" as const, "ci" as const),
  ai: fc.boolean(),
  provider: maybe(fc.oneof(someText, fc.constantFrom("git", "npm", "x".repeat(300)))),
  capability: maybe(someText),
  resource: maybe(someText),
  policy_decision: fc.constantFrom("ALLOWED" as const, "DENIED" as const, undefined),
  policy: maybe(fc.constantFrom("v1", "v2", "\u0000")),
  reason: maybe(
    fc.oneof(
      { weight: 300, arbitrary: someText },
      { weight: 1, arbitrary: fc.constant("long ".repeat(120_000)) },
    ),
  ),
  status: fc.constantFrom("failed", "Error", "allowed", "denied", "ERRor\n"),
  runtime_name: maybe(someText),
  trace_id: maybe(fc.oneof(someText, fc.constantFrom("t".repeat(70) + "a", "t".repeat(70) + "b"))),
});

/** The files compare half a surrogate pair by its unit in some segments, and by U+FFFD in others. */
const wellFormed = someText.filter((text) => !/\p{Cs}/u.test(text));
const someFilter = fc.record({
  q: fc.oneof(fc.constantFrom(...words, ...odd, "gi", "x", "\ud83d", "e", "."), someText),
  decision: fc.constantFrom("ALLOWED", "DENIED", "maybe"),
  consumer: fc.constantFrom("human", "ai", "nobody"),
  provider: fc.oneof(wellFormed, fc.constantFrom("git", "x".repeat(300))),
  from: someTime,
  to: someTime,
  executor: wellFormed,
  capability: wellFormed,
  status: fc.constantFrom("failed", "none"),
  runtime: wellFormed,
  trace_id: fc.oneof(wellFormed, fc.constant("t".repeat(70) + "a")),
  policy: fc.constantFrom("v1", "\u0000"),
  reported_by: fc.constantFrom("key-1", "nobody"),
});
/** One filter at a time, and now and then several. */
const someQuestion = fc.record({
  organization: fc.constantFrom(...ORGANIZATIONS, "empty"),
  filter: someFilter.chain((all) =>
    fc
      .shuffledSubarray(Object.entries(all), { maxLength: 3 })
      .map((some) => Object.fromEntries(some) as AuditFilter),
  ),
  limit: fc.constantFrom(1, 2, 50, 100, 1_000),
  offset: fc.constantFrom(0, 0, 1, 7, 500),
  characters: fc.constantFrom(undefined, undefined, 20),
  range: fc.record({
    from: fc.constantFrom(NOON - 2 * DAY_MS, NOON - DAY_MS + 7),
    to: fc.constantFrom(NOON, NOON + DAY_MS + 5),
    intervalMs: fc.constantFrom(MINUTE_MS * 30, DAY_MS / 5, 3_600_001),
  }),
  now: someTime,
});

function momentOf(ms: number): string {
  return new Date(ms).toISOString();
}

function fileStore(): FileAuditStore {
  return new FileAuditStore({
    files: new ForgetfulFiles(),
    layout: new Layout("/data"),
    now: () => 0,
    log: silent,
    durability: "sync",
    segmentBytes: 1 << 20,
  });
}

function append(
  store: AuditStore,
  organization: string,
  events: readonly AuditEvent[],
): Promise<string> {
  return new Promise((resolve, reject) => {
    store.append(organization, events, (error, json) => {
      // The file engine puts a line break after a comma; JSON texts cannot contain one.
      if (error === null) resolve(String(json).replaceAll("\n", ""));
      else reject(error as Error);
    });
  });
}

/** The surroundings of the first difference of two long texts. */
function assertSame(found: string, expected: string, what: string): void {
  if (found === expected) return;
  let at = 0;
  while (found[at] === expected[at]) at++;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 100), at + 100));
  assert.fail(
    `${what}, at ${at} of ${expected.length}: ${around(found)} instead of ${around(expected)}`,
  );
}

async function textOf(pieces: Buffer | AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  for await (const piece of Buffer.isBuffer(pieces) ? [pieces] : pieces) {
    all.push(Buffer.from(piece));
  }
  return Buffer.concat(all).toString("utf8");
}

type Question = typeof someQuestion extends fc.Arbitrary<infer T> ? T : never;

async function answerOf(store: AuditStore, question: Question) {
  const { organization, filter, limit, offset, characters, range, now } = question;
  const pages: unknown[] = [];
  let start: number | Position | undefined = offset;
  for (let turn = 0; turn < 3 && start !== undefined; turn++) {
    const rows: AuditRows = await store.page(
      organization,
      filter,
      limit,
      start,
      undefined,
      characters,
    );
    pages.push([await textOf(rows.json), rows.returned, rows.total, rows.next === undefined]);
    start = rows.next;
  }
  const { total, rows } = await store.export(organization, filter);
  const names = ["git", "npm", "Git", "\u0000", "x".repeat(300), "none"];
  return {
    pages,
    total,
    exported: await textOf(rows),
    histogram: await store.histogram(organization, filter, range.from, range.to, range.intervalMs),
    activity: await store.activity(organization, now),
    use: [...(await store.providerUse(organization, names, now))],
    // The file engine counts the space at the end of a line that marks a continued batch.
    usage: { ...(await store.usage(organization)), bytes: 0 },
    names: [...(await store.providerNames(organization, 5_000))].sort(),
  };
}

test("PostgreSQL answers as the files do, byte for byte", { skip: withoutPostgres }, async (t) => {
  const url = await createDatabase();
  const files = fileStore();
  t.after(() => files.close());
  // One counts some hundred events at a time, the other never: queries count the rest.
  const servers = [
    await auditServer(t, url, { countAfter: 300 }),
    await auditServer(t, url, { countAfter: Infinity }),
  ] as const;
  const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`seed ${seed}`);
  const given = fc.sample(someEvent, { numRuns: EVENTS, seed });
  for (let at = 0, turn = 0; at < given.length; turn++) {
    const [organization, reported_by] = [
      ORGANIZATIONS[turn % 2] as string,
      [undefined, "key-1"][turn % 3],
    ];
    const batch = given.slice(at, (at += 1 + ((turn * 7) % 60))).map((event) => {
      // Through JSON, as events arrive; the id comes first, the reporter last.
      const whole = { ...event, organization_id: organization, reported_by };
      return JSON.parse(JSON.stringify(whole)) as AuditEvent;
    });
    const expected = await append(files, organization, batch);
    assertSame(await append(servers[turn % 2 ? 1 : 0], organization, batch), expected, "append");
  }
  const questions = fc.sample(someQuestion, { numRuns: QUESTIONS, seed });
  for (const [turn, question] of questions.entries()) {
    const expected = await answerOf(files, question);
    const found = await answerOf(servers[turn % 2 ? 1 : 0], question);
    for (const key of Object.keys(expected) as (keyof typeof expected)[]) {
      if (isDeepStrictEqual(found[key], expected[key])) continue; // quick for exports of megabytes
      assertSame(
        JSON.stringify(found[key]),
        JSON.stringify(expected[key]),
        `${key} of ${JSON.stringify(question)}`,
      );
    }
  }
  for (const { id } of given.slice(0, 200)) {
    for (const organization of ORGANIZATIONS) {
      assert.deepEqual(
        await servers[0].withId(organization, id),
        await files.withId(organization, id),
      );
    }
  }
});
