import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { AuditEvent } from "../../../../src/audit/schema.ts";
import type { AuditFilter, AuditRows, Position } from "../../../../src/audit/store.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/core/clock.ts";
import { makeDurableDirectory } from "../../../../src/storage/directories.ts";
import { FileAuditStore } from "../../../../src/storage/files/audit.ts";
import type { FileOperations } from "../../../../src/storage/file-operations.ts";
import { hashOf } from "../../../../src/storage/files/audit/index/hash.ts";
import { MOST_CHARACTERS } from "../../../../src/storage/files/audit/segment-set.ts";
import { Layout } from "../../../../src/storage/layout.ts";
import { histogramOf, matchesOf } from "../../../audit/naive-audit.ts";
import { append, auditEventOf, eventsIn, Follower, NOON } from "../../../audit/store-suite.ts";
import { ORGANIZATION, page } from "../../../audit/store-suite.ts";
import { ForgetfulFiles, systemError } from "../../../support/forgetful-files.ts";
import { silent } from "../../../support/silent-log.ts";

const DIRECTORY = "/data/organizations/acme/audit";

async function countOf(files: FileOperations, ending: string): Promise<number> {
  const names = await files.readDirectory(DIRECTORY);
  return names.filter((name) => name.endsWith(ending)).length;
}
const segmentsOf = (files: FileOperations) => countOf(files, ".jsonl");
const indexesOf = (files: FileOperations) => countOf(files, ".idx");
function createStore(
  files: FileOperations,
  segmentBytes: number,
  now = () => 0,
  maxOpen?: number,
): FileAuditStore {
  const layout = new Layout("/data");
  return new FileAuditStore({
    ...{ files, layout, now, log: silent, durability: "sync", segmentBytes },
    ...(maxOpen !== undefined && { maxOpen }),
  });
}

/** Events whose fields repeat in many ways; one in eight is late. */
function historyOf(length: number): AuditEvent[] {
  return Array.from({ length }, (_, i) => {
    const late = i % 8 === 0 ? ((i * 31) % 90) * 1_000 : 0;
    const word = ["push", "delete", "İstanbul", "get pods", "ÄPFEL"][(i * 7) % 5];
    const fields = {
      timestamp: new Date(NOON + i * 500 - late).toISOString(),
      ingested_at: new Date(NOON + i * 500).toISOString(),
      command: i % 11 === 0 ? undefined : `git ${word} ${(i * 2_654_435_761) % 65_521}`,
      executor: `user${(i * i) % 37}@example.com`,
      provider: ["git", "npm", "aws"][i % 3],
      resource: i % 5 === 0 ? undefined : `team-${i % 13}/web`,
      policy_decision: i % 9 === 0 ? "DENIED" : i % 10 === 0 ? undefined : "ALLOWED",
      consumer: (["human", "ai", "ci"] as const)[i % 3],
      trace_id: i % 17 === 0 ? undefined : `trace-${Math.floor(i / 4)}`,
      capability: i % 7 === 0 ? undefined : `git/do-${i % 23}`,
      status: ["allowed", "failed", "error"][(i * i) % 3],
      runtime_name: `laptop-${(i * 5) % 41}`,
      policy: i < 1_700 ? "v1" : "v2",
    };
    return auditEventOf(JSON.parse(JSON.stringify(fields)) as Partial<AuditEvent>);
  });
}

async function appendAll(store: FileAuditStore, events: readonly AuditEvent[]): Promise<void> {
  for (let at = 0; at < events.length; at += 100) await append(store, events.slice(at, at + 100));
}

const filters: readonly AuditFilter[] = [
  {},
  { q: "65" },
  { q: "7" },
  { q: "i̇stanbul" },
  { q: "äpfel 1" },
  { q: "USER9@" },
  { q: "git delete", decision: "DENIED" },
  { q: "no such text" },
  { provider: "git", decision: "DENIED", consumer: "human" },
  { provider: "npm", decision: "DENIED" },
  { executor: "user9@example.com", decision: "ALLOWED" },
  { status: "failed" },
  { status: "failed", policy: "v2" },
  { policy: "v1", decision: "DENIED", consumer: "ai" },
  { executor: "user9@example.com", status: "allowed", capability: "git/do-3" },
  { executor: "user9@example.com", provider: "git" },
  { runtime: "laptop-7", status: "allowed", consumer: "ci" },
  { capability: "git/do-3", q: "git", decision: "ALLOWED" },
  { capability: "git/do-3", executor: "nobody" },
  { executor: "user9@example.com", from: NOON + 100_000, to: NOON + 300_500, policy: "v1" },
  { q: "team-3/WEB" },
  { q: "it" },
  { q: "@" },
  { trace_id: "trace-77" },
  { trace_id: "trace-77", status: "allowed", q: "git" },
  { trace_id: "no trace" },
  { trace_id: "trace-77", q: "get" },
  { from: NOON + 100_000, to: NOON + 300_500 },
  { from: NOON + 100_000, to: NOON + 300_500, decision: "ALLOWED", q: "push" },
];

test("over many blocks and segments every filter finds its events, live and after a restart", async () => {
  const files = new ForgetfulFiles();
  const events = historyOf(3_000);
  let store = createStore(files, 250_000);
  await appendAll(store, events);
  assert.ok((await segmentsOf(files)) > 3);
  for (const round of ["live", "restarted", "rebuilt"]) {
    for (const filter of filters) {
      const found = matchesOf(events, filter);
      for (const offset of [0, 1, 130, found.length - 3, found.length + 1]) {
        const at = Math.max(0, offset);
        const expected = { events: found.slice(at, at + 20), total: found.length };
        assert.deepEqual(
          await page(store, filter, 20, at),
          expected,
          round + JSON.stringify(filter),
        );
      }
    }
    await store.close();
    assert.equal(files.descriptors, 0);
    if (round === "restarted") {
      for (const name of await files.readDirectory(DIRECTORY)) {
        if (name.endsWith(".idx")) await files.remove(`${DIRECTORY}/${name}`);
      }
    }
    store = createStore(files, 250_000);
  }
  await store.close();
});

test("the pages of a filter with many matches have each event once, in order, to the end", async () => {
  const store = createStore(new ForgetfulFiles(), 250_000);
  const events = historyOf(2_000);
  await appendAll(store, events);
  const common = [
    { decision: "ALLOWED" },
    { policy: "v1" }, // only among the older rows of the segment where they end
    { provider: "git", status: "failed" },
    { decision: "ALLOWED", from: NOON + 100_000, to: NOON + 700_500 },
  ];
  for (const filter of common) {
    const seen: AuditEvent[] = [];
    let start: number | Position | undefined = 0;
    do {
      const rows: AuditRows = await store.page(ORGANIZATION, filter, 7, start);
      seen.push(...(await eventsIn(rows.json)));
      start = rows.next;
    } while (start !== undefined && seen.length < events.length);
    assert.deepEqual(seen, matchesOf(events, filter), JSON.stringify(filter));
  }
  await store.close();
});

test("a sealed segment gets a sidecar, and a restart reads the sidecar instead of the log", async () => {
  const files = new ForgetfulFiles();
  let store = createStore(files, 100_000);
  const events = historyOf(1_000);
  await appendAll(store, events);
  await store.close();
  const names = (await files.readDirectory(DIRECTORY)).sort();
  const logs = names.filter((name) => name.endsWith(".jsonl"));
  const sidecars = names.filter((name) => name.endsWith(".idx"));
  assert.deepEqual(
    sidecars,
    logs.slice(0, -1).map((name) => name.replace("jsonl", "idx")),
  );
  store = createStore(files, 100_000);
  const opened: string[] = [];
  files.before = (operation, path) => void (operation === "open" && opened.push(path));
  assert.equal((await store.usage(ORGANIZATION)).events, 1_000);
  assert.equal((await page(store, { decision: "DENIED" })).total, 112);
  files.before = () => {};
  for (const name of sidecars) {
    // Once for its columns, and once to be kept open for the sections on disk: here the newest ids.
    assert.equal(opened.filter((path) => path === `${DIRECTORY}/${name}`).length, 2, name);
  }
  assert.deepEqual(
    opened.filter((path) => path.endsWith(".tmp")),
    [],
  );
  await store.close();
});

test("a batch of thousands is stored once and whole, sent twice at once or cut short by a stop", async () => {
  const files = new ForgetfulFiles();
  let store = createStore(files, 10_000_000);
  const batch = Array.from({ length: 1_200 }, (_, i) => auditEventOf({ command: `git ${i}` }));
  const [first, second] = await Promise.all([append(store, batch), append(store, batch)]);
  assert.deepEqual(first, batch);
  assert.deepEqual(second, batch);
  const more = append(
    store,
    batch.map((event, i) => ({ ...event, id: `more-${i}` })),
  );
  const outcome = more.then(
    () => 2_400,
    () => 1_200,
  );
  await store.close();
  store = createStore(files, 10_000_000);
  assert.equal((await page(store)).total, await outcome);
  await store.close();
});

test("a stop leaves a sidecar of the last segment as well, and the next start reads no log", async () => {
  const files = new ForgetfulFiles();
  let store = createStore(files, 1_000_000);
  const events = historyOf(400);
  await appendAll(store, events);
  await store.close();
  const names = (await files.readDirectory(DIRECTORY)).sort();
  assert.deepEqual(names, ["000000000001.idx", "000000000001.jsonl", "000000000002.jsonl"]);
  store = createStore(files, 1_000_000);
  const opened = new Set<string>();
  files.before = (operation, path) => void (operation === "open" && opened.add(path));
  assert.equal((await page(store, { decision: "DENIED" }, 1_000, 400)).total, 45);
  assert.ok(opened.has(`${DIRECTORY}/000000000001.idx`));
  assert.ok(!opened.has(`${DIRECTORY}/000000000001.jsonl`));
  files.before = () => {};
  const found = await page(store, { status: "failed" });
  assert.deepEqual(found.events, matchesOf(events, { status: "failed" }).slice(0, 100));
  await store.close();
});

test("a server that is killed between any two steps of a roll keeps every acknowledged event", async () => {
  const events = historyOf(400);
  for (let steps = 1; steps < 60; steps += 2) {
    const files = new ForgetfulFiles();
    await makeDurableDirectory(files, "/data", "/");
    const store = createStore(files, 60_000);
    await appendAll(store, events.slice(0, 200));
    let left = steps;
    files.before = () => {
      if (--left < 0) throw new Error("The server was killed");
    };
    const stored: AuditEvent[] = events.slice(0, 200);
    for (let at = 200; at < 400; at += 20) {
      const batch = events.slice(at, at + 20);
      await append(store, batch).then(
        () => stored.push(...batch),
        () => {},
      );
    }
    const restarted = createStore(
      files.powerCut(() => 0),
      60_000,
    );
    const found = (await page(restarted, {}, 1_000)).events;
    const ids = new Set(found.map(({ id }) => id));
    assert.ok(
      stored.every(({ id }) => ids.has(id)),
      `after ${steps} steps`,
    );
    await restarted.close();
  }
});

test("retention removes whole segments and their sidecars, and rows keep their numbers", async () => {
  const files = new ForgetfulFiles();
  const store = createStore(files, 100_000);
  const events = historyOf(1_000);
  await appendAll(store, events);
  const before = await segmentsOf(files);
  const { start: last } = await store.tail(ORGANIZATION, {}, undefined);
  const [removal] = await store.retain(undefined, NOON + 250_000);
  assert.ok(removal !== undefined && removal.events >= 300 && removal.events <= 500);
  const kept = events.slice(removal.events);
  assert.deepEqual((await page(store, {}, 1_000)).events, matchesOf(kept, {}));
  assert.deepEqual(await store.withId(ORGANIZATION, events[0]?.id ?? ""), []);
  assert.deepEqual((await store.tail(ORGANIZATION, {}, undefined)).start, last);
  const after = await segmentsOf(files);
  assert.ok(after < before);
  assert.equal((await store.usage(ORGANIZATION)).events, kept.length);
  while ((await indexesOf(files)) < after - 1) await turn();
  assert.equal(await indexesOf(files), after - 1);
  assert.deepEqual(await store.retain(undefined, NOON), []);
  await store.close();
});

test("retention seals and removes the last segment once all its events are older, also of an idle log", async () => {
  const files = new ForgetfulFiles();
  let store = createStore(files, 100_000_000);
  const events = historyOf(20);
  await appendAll(store, events);
  const newest = Date.parse(events.at(-1)?.ingested_at ?? "");
  assert.deepEqual(await store.retain(undefined, newest), []);
  await store.close();
  store = createStore(files, 100_000_000);
  assert.deepEqual(await store.retain(undefined, NOON), []);
  assert.equal(files.descriptors, 0); // a log without an old event is not opened
  const { start } = await store.tail(ORGANIZATION, {}, undefined);
  const [removal] = await store.retain(undefined, newest + 1);
  assert.equal(removal?.events, 20);
  assert.equal((await page(store)).total, 0);
  assert.deepEqual((await store.tail(ORGANIZATION, {}, start)).start, start);
  assert.deepEqual((await store.usage(ORGANIZATION)).bytes, 0);
  assert.equal(await segmentsOf(files), 1);
  assert.deepEqual(await store.retain(undefined, newest + 1), []);
  await append(store, [events[0] as AuditEvent]);
  await store.close();
  store = createStore(files, 100_000_000);
  assert.equal((await page(store)).total, 1);
  await store.close();
});

test("without room for another segment, retention removes the sealed ones, and the last one later", async () => {
  const files = new ForgetfulFiles();
  let now = NOON;
  const store = createStore(files, 60_000, () => now);
  await appendAll(store, historyOf(400));
  files.before = (operation, path, flags) => {
    const creates = operation === "open" && flags !== "r" && path.endsWith(".jsonl");
    if (creates) throw systemError("ENOSPC");
  };
  const [sealed] = await store.retain(undefined, NOON + DAY_MS);
  assert.ok(sealed && sealed.events > 100 && sealed.events < 400);
  assert.ok(store.failure !== undefined);
  files.before = () => {};
  now += MINUTE_MS;
  const [last] = await store.retain(undefined, NOON + DAY_MS);
  assert.equal(last?.events, 400 - sealed.events);
  await append(store, [auditEventOf()]);
  assert.equal((await page(store)).total, 1);
  await store.close();
});

test("beyond the limit of events or bytes the oldest whole segments are removed", async () => {
  const files = new ForgetfulFiles();
  const store = createStore(files, 100_000);
  const events = historyOf(2_000);
  await appendAll(store, events);
  const full = await store.usage(ORGANIZATION);
  const { bytes } = full;
  assert.equal(await store.trim(ORGANIZATION, { events: 2_000, bytes }), undefined);
  const all = await segmentsOf(files);
  const first = await store.trim(ORGANIZATION, { events: 1_999, bytes });
  assert.ok(first);
  assert.equal(await segmentsOf(files), all - 1);
  const kept = events.slice(first.events);
  assert.deepEqual((await page(store, {}, 1_000)).events, matchesOf(kept, {}).slice(0, 1_000));
  await store.trim(ORGANIZATION, { events: 2_000, bytes: bytes - first.bytes - 1 });
  assert.equal(await segmentsOf(files), all - 2);
  await store.trim(ORGANIZATION, { events: 0, bytes: 0 }); // except the active one
  assert.equal(await segmentsOf(files), 1);
  assert.ok((await store.usage(ORGANIZATION)).events > 0);
  await store.close();
});

test("removing segments does not wait for the indexes of later ones, which always come under steady writes", async () => {
  const files = new ForgetfulFiles();
  const store = createStore(files, 100_000);
  const events = historyOf(2_000);
  await appendAll(store, events.slice(0, 1_000));
  while ((await indexesOf(files)) < (await segmentsOf(files)) - 1) await turn();
  const release = holdIndexes(files);
  const early = await segmentsOf(files);
  await appendAll(store, events.slice(1_000));
  const all = await segmentsOf(files);
  assert.ok(all > early + 1);
  const { bytes } = await store.usage(ORGANIZATION);
  await store.trim(ORGANIZATION, { events: 1_999, bytes });
  assert.equal(await segmentsOf(files), all - 1);
  // The one whose index is being written is removed once that has ended; those that wait are not indexed at all.
  const rest = store.trim(ORGANIZATION, { events: 0, bytes: 0 });
  release();
  await rest;
  assert.equal(await segmentsOf(files), 1);
  assert.equal(await indexesOf(files), 0);
  await store.close();
});

test("events wait while the indexes of earlier segments, which are not written yet, are large", async () => {
  const files = new ForgetfulFiles();
  const store = createStore(files, 64 << 20);
  const release = holdIndexes(files);
  const long = (i: number) => auditEventOf({ command: `${i}`.padEnd(1 << 20, "x") });
  const ofASegment = MOST_CHARACTERS / (1 << 20);
  for (let i = 0; i < 2 * ofASegment; i++) await append(store, [long(i)]);
  assert.equal(await segmentsOf(files), 2);
  let isAnswered = false;
  const next = append(store, [long(-1)]).finally(() => (isAnswered = true));
  for (let i = 0; i < 50; i++) await turn();
  assert.equal(isAnswered, false);
  release();
  await next;
  assert.equal(await segmentsOf(files), 3);
  await store.close();
});

test("an export that began before retention is complete", async () => {
  const files = new ForgetfulFiles();
  const store = createStore(files, 100_000);
  const events = historyOf(1_500);
  await appendAll(store, events);
  const { total, rows } = await store.export(ORGANIZATION, {});
  let lines = 0;
  let isFirst = true;
  for await (const piece of rows) {
    if (isFirst) await store.retain(ORGANIZATION, NOON + DAY_MS);
    isFirst = false;
    lines += piece.toString("utf8").split("\n").length - 1;
  }
  assert.equal(lines, total);
  assert.ok((await page(store)).total < total);
  await store.close();
});

test("an idle organization is closed, and opened again on its next use", async () => {
  const files = new ForgetfulFiles();
  let now = 0;
  const store = createStore(files, 100_000, () => now);
  await append(store, [auditEventOf()]);
  store.closeIdle();
  assert.ok(files.descriptors > 0);
  now += HOUR_MS;
  store.closeIdle();
  assert.equal((await page(store)).total, 1);
  now += HOUR_MS;
  store.closeIdle();
  while (files.descriptors > 0) await turn();
  await append(store, [auditEventOf()]);
  assert.equal((await page(store)).total, 2);
  await store.close();
});

test("a histogram of whole segments equals a count of every event", async () => {
  const store = createStore(new ForgetfulFiles(), 100_000);
  const events = historyOf(9_000);
  await appendAll(store, events);
  const filters: readonly AuditFilter[] = [
    {},
    { decision: "DENIED" },
    { consumer: "ai", decision: "ALLOWED" },
    { provider: "npm" },
    { from: NOON + 70_000, to: NOON + HOUR_MS + 1 },
  ];
  const [from, to] = [NOON - 2 * HOUR_MS, NOON + 3 * HOUR_MS];
  for (const interval of [HOUR_MS, 5 * HOUR_MS, HOUR_MS / 2]) {
    for (const filter of filters) {
      const expected = histogramOf(events, filter, from, to, interval);
      for (const time of ["first", "second"]) {
        const found = await store.histogram(ORGANIZATION, filter, from, to, interval);
        assert.deepEqual(found, expected, `${interval} ${JSON.stringify(filter)} ${time}`);
      }
    }
  }
  await store.close();
});

test("a histogram of the active segment counts new events, in earlier hours and later ones", async () => {
  const store = createStore(new ForgetfulFiles(), 100_000_000);
  const history = historyOf(5_000);
  const moved = (hours: number): readonly AuditEvent[] =>
    history.slice(0, 300).map((event, i) => ({
      ...{ ...event, id: `${event.id}-${hours}` },
      timestamp: new Date(Date.parse(event.timestamp) + hours * HOUR_MS + i).toISOString(),
    }));
  const [from, to] = [NOON - 12 * HOUR_MS, NOON + 12 * HOUR_MS];
  const stored: AuditEvent[] = [];
  for (const part of [history, moved(-9), moved(8), moved(3)]) {
    await appendAll(store, part);
    stored.push(...part);
    for (const filter of [{}, { decision: "DENIED" }]) {
      const ask = () => store.histogram(ORGANIZATION, filter, from, to, 3 * HOUR_MS);
      const expected = histogramOf(stored, filter, from, to, 3 * HOUR_MS);
      assert.deepEqual(await Promise.all([ask(), ask()]), [expected, expected]);
    }
  }
  await store.close();
});

test("beyond the limit the least recently used organization is closed, and no event is lost", async () => {
  const files = new ForgetfulFiles();
  let now = 0;
  const store = createStore(files, 100_000, () => now, 3);
  const names = Array.from({ length: 12 }, (_, i) => `team${i}`);
  for (const name of [...names, ...names]) {
    await append(store, [auditEventOf({ organization_id: name })], name);
    now += 2_000;
    for (let i = 0; i < 100 && files.descriptors > 3; i++) await turn();
    assert.ok(files.descriptors <= 3, `${files.descriptors} descriptors`);
  }
  for (const name of names) {
    assert.equal((await store.page(name, {}, 10, 0)).total, 2, name);
    now += 2_000;
  }
  await store.close();
  assert.equal(files.descriptors, 0);
});

test("an organization with an open stream is not closed to make room", async () => {
  const files = new ForgetfulFiles();
  let now = 0;
  const store = createStore(files, 100_000, () => now, 1);
  await append(store, [auditEventOf({ organization_id: "acme" })], "acme");
  const follower = await Follower.of(store, {}, undefined, "acme");
  now += 2_000;
  await append(store, [auditEventOf({ organization_id: "other" })], "other");
  now += 2_000;
  await append(store, [auditEventOf({ organization_id: "acme" })], "acme");
  assert.equal((await follower.stop(1)).length, 1);
  await store.close();
});

test("a query whose signal is aborted ends", async () => {
  const store = createStore(new ForgetfulFiles(), 100_000);
  await appendAll(store, historyOf(1_000));
  const signal = AbortSignal.abort(new Error("Nobody waits"));
  await assert.rejects(
    store.page(ORGANIZATION, { q: "a" }, 10, 0, { gone: signal }),
    /Nobody waits/,
  );
  await store.close();
});

test("an export holds only a few long events in memory at once, and loses none", async () => {
  const store = createStore(new ForgetfulFiles(), 64 << 20);
  const long = Array.from({ length: 12 }, (_, i) =>
    auditEventOf({ command: `${i} `.repeat(200_000) }),
  );
  for (const event of long) await append(store, [event]);
  const { rows, total } = await store.export(ORGANIZATION, {});
  let lines = 0;
  for await (const piece of rows) {
    assert.ok(piece.length < 2 << 20, String(piece.length));
    lines += piece.toString("utf8").split("\n").length - 1; // a long row comes in several pieces
  }
  assert.deepEqual([lines, total], [12, 12]);
  await store.close();
});

test("an export uses the same memory for one piece after another", async () => {
  const store = createStore(new ForgetfulFiles(), 64 << 20);
  await appendAll(store, historyOf(2_000));
  const { rows } = await store.export(ORGANIZATION, {});
  const used = new Set<ArrayBufferLike>();
  const lines = new Set<string>();
  let pieces = 0;
  for await (const piece of rows) {
    pieces++;
    used.add(piece.buffer);
    for (const line of piece.toString("utf8").split("\n")) lines.add(line);
  }
  assert.ok(pieces >= 7, `${pieces}`);
  assert.deepEqual([used.size, lines.size], [1, 2_001]);
  await store.close();
});

/** Two ids that cannot be told apart by their hash. */
function idsOfOneHash(): readonly [string, string] {
  const seen = new Map<number, string>();
  for (let i = 0; ; i++) {
    const id = `id-${i}`;
    const other = seen.get(hashOf(id));
    if (other !== undefined) return [other, id];
    seen.set(hashOf(id), id);
  }
}

test("ids with the same hash are different events, live and after a restart", async () => {
  const files = new ForgetfulFiles();
  const [first, second] = idsOfOneHash();
  let store = createStore(files, 1_000);
  const events = [first, second].map((id) => auditEventOf({ id, command: id }));
  for (const event of events) await append(store, [event]);
  await appendAll(store, historyOf(20)); // so that the two stand in a sealed segment
  for (const round of ["live", "restarted"]) {
    const again = events.map((event) => ({ ...event, command: "again" }));
    assert.deepEqual(await append(store, [...again, ...again]), [...events, ...events], round);
    assert.equal(String(await store.withId(ORGANIZATION, second)), JSON.stringify(events[1]));
    assert.equal((await store.usage(ORGANIZATION)).events, 22);
    await store.close();
    store = createStore(files, 1_000);
  }
  await store.close();
});

/** Lets no index reach its place until the returned function is called. */
function holdIndexes(files: ForgetfulFiles): () => void {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => void (release = resolve));
  const rename = files.rename.bind(files);
  files.rename = async (from, to) => {
    if (to.endsWith(".idx")) await released;
    await rename(from, to);
  };
  return () => release();
}
