/** Three servers over one database: ids, order, streams and retention hold across all of them. */
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { DAY_MS, HOUR_MS } from "../../../src/core/clock.ts";
import { LONG_READ_BYTES } from "../../../src/audit/long-reads.ts";
import { readMarkedPosition, streamPosition } from "../../../src/audit/positions.ts";
import type { AuditEvent } from "../../../src/audit/schema.ts";
import { UnknownPosition, type Position } from "../../../src/audit/store.ts";
import type { PostgresAudit } from "../../../src/storage/postgres/audit.ts";
import type { Database } from "../../../src/storage/postgres/database.ts";
import { sweep } from "../../../src/storage/postgres/audit/retention.ts";
import { indexClosedDays } from "../../../src/storage/postgres/audit/closed-days.ts";
import {
  append,
  auditEventOf,
  Follower,
  NOON,
  ORGANIZATION,
  page,
} from "../../audit/store-suite.ts";
import { createDatabase, openDatabase, withoutPostgres } from "../../support/postgres.ts";
import { auditOver, auditServer } from "./open-audit.ts";

const skip = withoutPostgres;

type Three = readonly [PostgresAudit, PostgresAudit, PostgresAudit];

async function threeServers(t: TestContext): Promise<{ servers: Three; database: Database }> {
  const url = await createDatabase();
  const database = await openDatabase(url, 2);
  t.after(() => database.close());
  const open = () => auditServer(t, url);
  return { servers: [await open(), await open(), await open()], database };
}

function on(day: number, fields: Partial<AuditEvent> = {}): AuditEvent {
  return auditEventOf({ ingested_at: new Date(NOON + day * DAY_MS).toISOString(), ...fields });
}

test("streams at every server deliver each event once, in the same order", { skip }, async (t) => {
  const { servers } = await threeServers(t);
  const streams = await Promise.all(servers.map((server) => Follower.of(server)));
  const denied = await Follower.of(servers[2], { decision: "DENIED" });
  const stored: string[] = [];
  // Two hundred senders over all servers; each also stores an event of another organization.
  await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const server = servers[n % 3] as PostgresAudit;
      const decision = n % 5 === 0 ? "DENIED" : "ALLOWED";
      const events = await append(server, [
        auditEventOf({ policy_decision: decision }),
        auditEventOf(),
      ]);
      stored.push(...events.map(({ id }) => id));
      await append(server, [auditEventOf({ organization_id: `o${n % 7}` })], `o${n % 7}`);
    }),
  );
  const seen = await Promise.all(streams.map((stream) => stream.stop(400)));
  const ids = seen.map((events) => events.map(({ id }) => id));
  assert.deepEqual(ids[1], ids[0]);
  assert.deepEqual(ids[2], ids[0]);
  assert.deepEqual([...(ids[0] ?? [])].sort(), stored.sort());
  assert.equal((await denied.stop(40)).length, 40);
  const order = (await page(servers[1], {}, 1_000)).events.map(({ id }) => id).toReversed();
  assert.deepEqual(order, ids[0]);
});

test("providers are counted alike before and after the counters have them", { skip }, async (t) => {
  const { servers, database } = await threeServers(t);
  const [first, second] = servers;
  const names = ["git", "\u0000\ud83d\ude00", "é".repeat(256), "e".repeat(257), "é".repeat(2_000)];
  for (const [i, provider] of names.entries()) {
    const timestamp = new Date(NOON + i).toISOString();
    const denied = auditEventOf({ provider, timestamp, policy_decision: "DENIED" });
    await append(first, [denied, auditEventOf({ provider, timestamp, status: "Failed" })]);
  }
  const now = NOON + names.length;
  const counts = async () => [
    await second.activity(ORGANIZATION, now),
    await second.providerUse(ORGANIZATION, names, now),
    await second.providerNames(ORGANIZATION, 10),
    (await second.providerNames(ORGANIZATION, 1)).size,
  ];
  const before = await counts();
  const use = names.map((name, i) => [name, { events: 2, failed: 2, lastUsed: NOON + i }] as const);
  assert.deepEqual(before.slice(1, 3), [new Map(use), new Set(names.slice(0, 3))]);
  for (const most of [3, 20]) {
    await database.query("SELECT audit_count_1($1, $2)", [ORGANIZATION, most]);
    assert.deepEqual(await counts(), before);
  }
});

test("a position from one server is valid at another", { skip }, async (t) => {
  const { servers } = await threeServers(t);
  const [first, second, third] = servers;
  const { start } = await first.tail(ORGANIZATION, {}, undefined);
  const events = Array.from({ length: 30 }, () => auditEventOf());
  await append(second, events);
  const all = await (await Follower.of(third, {}, start)).stop(30);
  assert.deepEqual(all, events);
  const { next } = await second.page(ORGANIZATION, {}, 10, 0);
  assert.ok(next);
  const rest = await third.page(ORGANIZATION, {}, 100, next);
  assert.equal(rest.returned, 20);
});

/** Gives all rows to other events, as a fail-over does to rows that the standby lacked and that are stored anew. */
async function replaceRows(database: Database): Promise<void> {
  await database.run(`UPDATE audit_events SET line = replace(line, '"id":"', '"id":"other-')`);
}

for (const [events, filter] of [
  ["its last events", {}],
  ["the events that it passed over", { decision: "DENIED" }],
  ["its last event, a long one", { q: "x".repeat(LONG_READ_BYTES) }],
] as const) {
  test(
    `a stream ends once the rows of ${events} are those of others, and its position is refused`,
    { skip },
    async (t) => {
      const { servers, database } = await threeServers(t);
      const [first, second, third] = servers;
      const event = () => auditEventOf({ policy_decision: "DENIED", command: filter.q ?? "ls" });
      const { start, arrivals } = await first.tail(ORGANIZATION, filter, undefined);
      let position: Position = start;
      let replaced: Promise<void> | undefined;
      await append(second, [event(), auditEventOf({ policy_decision: "ALLOWED" })]);
      for await (const arrived of arrivals(new AbortController().signal)) {
        const other = arrived.find(({ json }) => json.includes("late"));
        assert.equal(other, undefined);
        position = arrived.at(-1)?.position ?? position;
        replaced ??= replaceRows(database).then(async () => {
          await append(second, [{ ...event(), id: "late" }]);
        });
        await replaced;
      }
      await assert.rejects(async () => third.tail(ORGANIZATION, filter, position), UnknownPosition);
      // A position of an earlier version has the number only.
      const { row } = readMarkedPosition(position);
      await third.tail(ORGANIZATION, filter, streamPosition(row));
      await third.tail(ORGANIZATION, filter, undefined);
    },
  );
}

test("a stream continues after an event that retention has removed", { skip }, async (t) => {
  const { servers } = await threeServers(t);
  const [first, second] = servers;
  await append(first, [on(0)]);
  const { start } = await first.tail(ORGANIZATION, {}, undefined);
  assert.notEqual(readMarkedPosition(start).mark, undefined);
  await first.retain(ORGANIZATION, NOON + DAY_MS);
  assert.equal((await first.usage(ORGANIZATION)).events, 0);
  const follower = await Follower.of(second, {}, start);
  await append(first, [on(2)]);
  assert.equal((await follower.stop(1)).length, 1);
});

test("an id that goes to several servers at once is stored once", { skip }, async (t) => {
  const { servers } = await threeServers(t);
  const ids = Array.from({ length: 40 }, (_, n) => `id-${n}`);
  const senders = servers.flatMap((server, n) =>
    ids.map(async (id, at) => {
      const other = ids[(at * 7) % ids.length] as string;
      const command = `of ${n}`;
      return append(server, [auditEventOf({ id, command }), auditEventOf({ id: other, command })]);
    }),
  );
  const answers = (await Promise.all(senders)).flat();
  const { events, total } = await page(servers[0], {}, 1_000);
  assert.equal(total, ids.length);
  const stored = new Map(events.map((event) => [event.id, event]));
  for (const answer of answers) assert.deepEqual(answer, stored.get(answer.id));
  assert.equal((await servers[1].usage(ORGANIZATION)).events, ids.length);
});

test("a reader never misses a row that commits late", { skip }, async (t) => {
  const { servers } = await threeServers(t);
  let isOver = false;
  const writing = Promise.all(
    servers.map(async (server) => {
      for (let n = 0; n < 60; n++) await append(server, [auditEventOf(), auditEventOf()]);
    }),
  ).finally(() => (isOver = true));
  // The events that are visible at one moment are the first of those that are visible later.
  let before: readonly string[] = [];
  while (!isOver) {
    const { start } = await servers[0].tail(ORGANIZATION, {}, undefined);
    const row = start.readDoubleBE(0);
    const { events } = await page(servers[1], {}, 1_000);
    const ids = events.map(({ id }) => id).toReversed();
    assert.deepEqual(ids.slice(0, before.length), before);
    assert.ok(ids.length >= row, "a row with a lower number came later");
    before = ids;
  }
  await writing;
  assert.equal((await page(servers[2], {}, 1_000)).total, 360);
});

test(
  "retention removes days for all servers, and a running export keeps its rows",
  { skip },
  async (t) => {
    const { servers, database } = await threeServers(t);
    const [first, second] = servers;
    const long = "x".repeat(300_000);
    const events = [-3, -3, -2, -1, 0].map((day) =>
      on(day, { command: long, provider: `p${day}` }),
    );
    for (const event of events) await append(first, [event]);
    await append(second, [on(-3, { organization_id: "other" })], "other");
    const { rows, total } = await second.export(ORGANIZATION, {});
    assert.equal(total, 5);
    const removals = await first.retain(undefined, NOON - DAY_MS);
    assert.deepEqual(
      removals.map((removal) => [removal.organization, removal.events]),
      [
        [ORGANIZATION, 3],
        ["other", 1],
      ],
    );
    assert.deepEqual(await first.retain(undefined, NOON - DAY_MS), []);
    for (const server of servers) {
      assert.equal((await page(server)).total, 2);
      assert.equal((await server.usage(ORGANIZATION)).events, 2);
      assert.deepEqual(await server.providerNames(ORGANIZATION, 9), new Set(["p-1", "p0"]));
      assert.deepEqual(await server.withId(ORGANIZATION, events[0]?.id ?? ""), []);
    }
    await sweep(database, 0); // the export holds it off
    let text = "";
    for await (const piece of rows) text += piece.toString();
    assert.equal(text.split("\n").length, 6);
    await retryUntilSwept(database);
    const days = await database.query<{ day: string }>(
      "SELECT day::text AS day FROM audit_partitions ORDER BY 1",
    );
    assert.deepEqual(
      days.map(({ day }) => day),
      ["2026-01-01", "2026-01-02", "2026-01-03"],
    );
    assert.deepEqual(await database.query("SELECT FROM audit_ids"), [{}, {}]);
    // The id of a removed event can be used again, even by a server whose clock is behind.
    const again = on(-3, { id: events[0]?.id ?? "", command: "again" });
    assert.deepEqual(await append(first, [again]), [again]);
    assert.deepEqual(await append(second, [{ ...again, command: "more" }]), [again]);
  },
);

/** The end of an export deletes its lease without waiting. */
async function retryUntilSwept(database: Database): Promise<void> {
  for (;;) {
    await sweep(database, 0);
    const left = await database.query("SELECT FROM audit_days WHERE removed_at IS NOT NULL");
    if (left.length === 0) return;
  }
}

test("a page of an offset is whole while events arrive", { skip }, async (t) => {
  const { servers, database } = await threeServers(t);
  const [other] = servers;
  const inHour = (hour: number) =>
    append(
      other,
      Array.from({ length: 6 }, () =>
        auditEventOf({ timestamp: new Date(NOON + hour * HOUR_MS).toISOString() }),
      ),
    );
  const [older, newer] = [await inHour(-1), await inHour(0)];
  const query: Database["query"] = async (text, ...more) => {
    if (text.includes("AS before")) await inHour(0); // between the count of the page and its rows
    return database.query(text, ...more);
  };
  const over = new Proxy(database, {
    get: (target, name) => {
      const value: unknown = name === "query" ? query : Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const store = auditOver(over);
  t.after(() => store.close());
  const { json, returned, total, next } = await store.page(ORGANIZATION, {}, 5, 3);
  assert.deepEqual([returned, total, next !== undefined], [5, 12, true]);
  const ids = (JSON.parse(`[${json.toString()}]`) as { id: string }[]).map(({ id }) => id);
  const all = [...older, ...newer].toReversed().map(({ id }) => id);
  assert.deepEqual(ids, all.slice(3, 8));
});

test(
  "trimming removes the oldest days of one organization, never the newest",
  { skip },
  async (t) => {
    const { servers, database } = await threeServers(t);
    const [first, second] = servers;
    for (const day of [-2, -1, 0]) {
      await append(first, [on(day), on(day)]);
      await append(first, [on(day, { organization_id: "other" })], "other");
    }
    const removal = await second.trim(ORGANIZATION, { events: 3, bytes: Infinity });
    assert.equal(removal?.events, 4);
    assert.equal((await second.trim(ORGANIZATION, { events: 0, bytes: 0 }))?.events, undefined);
    await sweep(database, 0);
    assert.equal((await page(first)).total, 2);
    assert.equal((await page(first, {}, 9, 0, "other")).total, 3);
    assert.equal((await database.query("SELECT FROM audit_events")).length, 5);
  },
);

test("days that are over get indexes, and searches and filters stay exact", { skip }, async (t) => {
  const { servers, database } = await threeServers(t);
  const [first] = servers;
  // As long as the indexed beginning of a text, a character longer, and of other characters.
  const texts = [
    "a".repeat(63),
    "a".repeat(64),
    "😀".repeat(64),
    "a".repeat(65),
    "a".repeat(65_000),
  ];
  const names = texts.map((text) => ({ executor: text, provider: text, trace_id: text }));
  await append(
    first,
    [-4, -3, -1, 0].map((day) => on(day, { command: `Rare ${day} \u0000% ΟΔΟΣ`, ...names[-day] })),
  );
  await indexClosedDays(database, NOON);
  await indexClosedDays(database, NOON);
  const indexes = await database.query<{ n: number }>(
    "SELECT count(*) AS n FROM pg_indexes WHERE indexdef LIKE '%gin_trgm_ops%'",
  );
  assert.deepEqual(indexes, [{ n: 3 }]); // both days, and the one that was made ahead
  for (const [q, total] of [
    ["rare", 4],
    ["e -4", 1],
    ["\u0000%", 4],
    ["οδος", 4],
    ["rare%", 0],
    ["r", 4],
  ] as const) {
    assert.equal((await page(first, { q })).total, total, q);
  }
  for (const [i, text] of texts.entries()) {
    const stored = i === 2 ? 0 : 1; // there is no event two days ago
    for (const name of ["executor", "provider", "trace_id"]) {
      assert.equal((await page(first, { [name]: text })).total, stored, `${name} ${i}`);
    }
    const both = await page(first, { executor: text, provider: text });
    assert.equal(both.total, stored);
  }
});
