import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { AuditEvent } from "../../src/audit/schema.ts";
import { UnknownPosition } from "../../src/audit/store.ts";
import type { AuditFilter, AuditRows, AuditStore, AuditTail } from "../../src/audit/store.ts";
import type { Position, Stored } from "../../src/audit/store.ts";
import { DAY_MS } from "../../src/core/clock.ts";

/** A store that is closed when the test ends, and can be closed and opened again before that. */
export interface AuditEngine {
  readonly store: AuditStore;
  restart(): Promise<AuditStore>;
  /** Like `restart`, but everything that the engine can rebuild from the events is removed meanwhile. */
  loseIndexes?(): Promise<AuditStore>;
  close?(): Promise<void>;
}

export const ORGANIZATION = "acme";
export const NOON = Date.UTC(2026, 0, 2, 12);

let lastId = 0;

/** An event as ingest makes it: canonical, complete, its id first. */
export function auditEventOf(fields: Partial<AuditEvent> = {}): AuditEvent {
  return {
    id: `event-${++lastId}`,
    organization_id: ORGANIZATION,
    timestamp: new Date(NOON).toISOString(),
    ingested_at: new Date(NOON).toISOString(),
    consumer: "human",
    ai: false,
    status: "unknown",
    ...fields,
  };
}

/** Stores events, and returns the answer. */
export function append(
  store: AuditStore,
  events: readonly AuditEvent[],
  organization = ORGANIZATION,
  named?: ReadonlySet<string>,
): Promise<AuditEvent[]> {
  return new Promise((resolve, reject) => {
    const stored: Stored = (error, json) => {
      if (error === null) resolve(JSON.parse(`[${json}]`) as AuditEvent[]);
      else reject(error as Error);
    };
    store.append(organization, events, stored, named);
  });
}

/** A page, parsed, with its total. */
export async function page(
  store: AuditStore,
  filter: AuditFilter = {},
  limit = 100,
  offset = 0,
  organization = ORGANIZATION,
): Promise<{ events: AuditEvent[]; total: number }> {
  const { json, returned, total } = await store.page(organization, filter, limit, offset);
  const events = await eventsIn(json);
  assert.equal(events.length, returned);
  return { events, total };
}

/** The events of a page, whether it arrived whole or in pieces. */
export async function eventsIn(json: AuditRows["json"]): Promise<AuditEvent[]> {
  const pieces: Buffer[] = [];
  for await (const piece of Buffer.isBuffer(json) ? [json] : json) pieces.push(piece);
  return JSON.parse(`[${Buffer.concat(pieces).toString("utf8")}]`) as AuditEvent[];
}

/** Collects the events of a tail, until it is stopped. */
export class Follower {
  readonly events: AuditEvent[] = [];
  readonly start: Position;
  readonly #leaving = new AbortController();
  readonly #reading: Promise<void>;

  constructor(tail: AuditTail) {
    this.start = tail.start;
    this.#reading = this.#read(tail);
  }

  /** Begins after a position, or with the events stored from now on. */
  static async of(
    store: AuditStore,
    filter: AuditFilter = {},
    after?: Position,
    organization = ORGANIZATION,
  ): Promise<Follower> {
    return new Follower(await store.tail(organization, filter, after));
  }

  /** Waits for `count` events, allows time for further ones, and stops. */
  async stop(count: number): Promise<readonly AuditEvent[]> {
    while (this.events.length < count) await turn();
    for (let i = 0; i < 5; i++) await turn();
    this.#leaving.abort();
    await this.#reading;
    return this.events;
  }

  async #read(tail: AuditTail): Promise<void> {
    for await (const arrived of tail.arrivals(this.#leaving.signal)) {
      for (const { json } of arrived) {
        this.events.push(JSON.parse(json.toString("utf8")) as AuditEvent);
      }
    }
  }
}

async function commandsOf(store: AuditStore, filter?: AuditFilter): Promise<unknown[]> {
  return (await page(store, filter)).events.map((event) => event.command);
}

function at(ms: number, command: string): AuditEvent {
  return auditEventOf({ timestamp: new Date(ms).toISOString(), command });
}

/** The tests that every engine's audit store passes. */
export function testAuditStore(open: (t: TestContext) => Promise<AuditEngine>): void {
  testOrder(open);
  testFilters(open);
  testIds(open);
  testIdsOfReporters(open);
  testActivity(open);
  testPositions(open);
  testRemoval(open);
}

function testPositions(open: (t: TestContext) => Promise<AuditEngine>): void {
  const commands = (events: readonly AuditEvent[]) => events.map(({ command }) => command);
  const fifty = (from: number) =>
    Array.from({ length: 50 }, (_, n) => auditEventOf({ command: `c${from + n}` }));

  test("a tail delivers the events after its position, then new ones, in the order of ingest", async (t) => {
    const { store } = await open(t);
    const { start } = await store.tail(ORGANIZATION, {}, undefined);
    const events = fifty(0);
    await append(store, events);
    const all = await Follower.of(store, {}, start);
    const late = await Follower.of(store, { q: "C7" });
    await append(store, events.slice(3)); // known ids are not stored again
    await append(store, fifty(50));
    await append(store, [auditEventOf({ organization_id: "other", command: "c7" })], "other");
    const given = commands(await all.stop(100));
    assert.deepEqual(
      given,
      Array.from({ length: 100 }, (_, n) => `c${n}`),
    );
    const seventies = Array.from({ length: 10 }, (_, n) => `c7${n}`);
    assert.deepEqual(commands(await late.stop(10)), seventies);
  });

  test("a tail continues after an event's position, even after a restart", async (t) => {
    const engine = await open(t);
    const { start } = await engine.store.tail(ORGANIZATION, {}, undefined);
    await append(engine.store, fifty(0));
    const reading = new AbortController();
    let position: Position = start;
    const tail = await engine.store.tail(ORGANIZATION, {}, start);
    for await (const arrived of tail.arrivals(reading.signal)) {
      const found = arrived.find(({ json }) => json.includes('"c19"'));
      position = found?.position ?? position;
      if (found) break;
    }
    const store = await engine.restart();
    const rest = await (await Follower.of(store, {}, position)).stop(30);
    assert.deepEqual(commands(rest)[0], "c20");
    assert.equal(rest.length, 30);
  });

  test("bytes that a tail delivered are never overwritten", async (t) => {
    const { store } = await open(t);
    const { start } = await store.tail(ORGANIZATION, {}, undefined);
    await append(store, fifty(0));
    const kept: Buffer[] = [];
    const tail = await store.tail(ORGANIZATION, {}, start);
    for await (const arrived of tail.arrivals(new AbortController().signal)) {
      if (kept.push(...arrived.map(({ json }) => json)) === 50) break;
    }
    const pieces: Buffer[] = [];
    await append(store, fifty(50));
    for await (const piece of (await store.export(ORGANIZATION, {})).rows) {
      pieces.push(Buffer.from(piece));
    }
    const found = kept.map((json) => JSON.parse(json.toString("utf8")) as AuditEvent);
    assert.equal(commands(found).join(), Array.from({ length: 50 }, (_, n) => `c${n}`).join());
    const lines = Buffer.concat(pieces).toString("utf8").split("\n").slice(0, -1);
    assert.equal(new Set(lines).size, 100);
  });

  test("positions that the store did not make are refused", async (t) => {
    const { store } = await open(t);
    await append(store, fifty(0));
    const { next } = await store.page(ORGANIZATION, {}, 10, 0);
    const { start } = await store.tail(ORGANIZATION, {}, undefined);
    assert.ok(next);
    for (const bytes of [Buffer.of(1), Buffer.alloc(64, "x"), start]) {
      const reading = async () => store.page(ORGANIZATION, {}, 10, bytes);
      await assert.rejects(reading(), UnknownPosition);
    }
    for (const bytes of [Buffer.of(1), Buffer.alloc(64, "x"), next]) {
      await assert.rejects(async () => store.tail(ORGANIZATION, {}, bytes), UnknownPosition);
    }
  });

  test("a page after a position continues where the previous page ended", async (t) => {
    const { store } = await open(t);
    await append(store, fifty(0));
    const seen: AuditEvent[] = [];
    let start: number | Position | undefined = 0;
    while (start !== undefined) {
      const rows: AuditRows = await store.page(ORGANIZATION, {}, 7, start);
      seen.push(...(await eventsIn(rows.json)));
      await append(store, [auditEventOf({ command: "late" })]);
      start = rows.next;
    }
    assert.deepEqual(
      commands(seen),
      Array.from({ length: 50 }, (_, n) => `c${49 - n}`),
    );
  });

  test("a page with a limit of characters cuts long texts", async (t) => {
    const { store } = await open(t);
    await append(store, [auditEventOf({ command: "x".repeat(5_000) })]);
    const { json } = await store.page(ORGANIZATION, {}, 1, 0, undefined, 100);
    assert.equal((await eventsIn(json))[0]?.command, `${"x".repeat(100)}…`);
  });
}

function testRemoval(open: (t: TestContext) => Promise<AuditEngine>): void {
  test("usage, retention and trimming count events and bytes, and never remove young events", async (t) => {
    const { store } = await open(t);
    assert.deepEqual(await store.usage(ORGANIZATION), { events: 0, bytes: 0, oldest: undefined });
    const events = [auditEventOf(), auditEventOf({ timestamp: "2026-01-01T00:00:00.000Z" })];
    await append(store, events);
    const { bytes, ...usage } = await store.usage(ORGANIZATION);
    assert.deepEqual(usage, { events: 2, oldest: Date.UTC(2026, 0, 1) });
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join("");
    assert.equal(bytes, Buffer.byteLength(lines));
    assert.deepEqual(await store.retain(undefined, NOON), []);
    assert.deepEqual(await store.retain(ORGANIZATION, NOON), []);
    assert.equal(await store.trim(ORGANIZATION, { events: 2, bytes }), undefined);
    assert.equal((await store.usage(ORGANIZATION)).events, 2);
  });
}

function testOrder(open: (t: TestContext) => Promise<AuditEngine>): void {
  test("an event is answered as it was sent, and found as it was answered", async (t) => {
    const { store } = await open(t);
    const event = auditEventOf({
      command: 'echo "},{"id":"\n\u0000',
      executor: "Zoë 😀",
      duration_ms: 0,
    });
    assert.deepEqual(await append(store, [event]), [event]);
    assert.deepEqual((await page(store)).events, [event]);
  });

  test("a batch is answered in the order sent", async (t) => {
    const { store } = await open(t);
    const batch = ["a", 'b},{"id":"b', "ç", "d"].map((command) => auditEventOf({ command }));
    assert.deepEqual(await append(store, batch), batch);
    assert.deepEqual((await page(store)).events, batch.toReversed());
  });

  test("an event whose id is not its first field is stored like any other", async (t) => {
    const { store } = await open(t);
    const batch = ["a", "b"].map((command) => ({ command, ...auditEventOf() }));
    assert.deepEqual(await append(store, batch), batch);
    assert.deepEqual((await page(store)).events, batch.toReversed());
  });

  test("an empty batch is stored at once", async (t) => {
    const { store } = await open(t);
    assert.deepEqual(await append(store, []), []);
    assert.deepEqual(await page(store), { events: [], total: 0 });
  });

  test("rows are sorted by timestamp, newest first; ties by ingest; late and future ones in place", async (t) => {
    const { store, restart } = await open(t);
    await append(store, [at(NOON, "a"), at(NOON + 2, "b")]);
    assert.deepEqual(await commandsOf(store), ["b", "a"]);
    await append(store, [at(NOON + 9e9, "future"), at(NOON, "c"), at(NOON - 9e9, "late")]);
    await append(store, [at(NOON + 1, "d"), at(NOON, "e")]);
    const order = ["future", "b", "d", "e", "c", "a", "late"];
    assert.deepEqual(await commandsOf(store), order);
    assert.deepEqual(await commandsOf(await restart()), order);
  });

  test("a page is a part of the matches, and the total counts all of them", async (t) => {
    const { store } = await open(t);
    await append(
      store,
      Array.from({ length: 5 }, (_, i) => at(NOON + i, String(i))),
    );
    const slice = async (limit: number, offset: number): Promise<unknown> => {
      const { events, total } = await page(store, {}, limit, offset);
      return [events.map((event) => event.command).join(""), total];
    };
    assert.deepEqual(await slice(2, 0), ["43", 5]);
    assert.deepEqual(await slice(2, 2), ["21", 5]);
    assert.deepEqual(await slice(2, 4), ["0", 5]);
    assert.deepEqual(await slice(2, 5), ["", 5]);
    assert.deepEqual(await slice(1000, 0), ["43210", 5]);
  });

  test("one organization neither sees another's events nor shares its ids", async (t) => {
    const { store } = await open(t);
    const mine = auditEventOf({ id: "same", command: "mine" });
    const theirs = auditEventOf({ id: "same", command: "theirs", organization_id: "other" });
    await append(store, [mine]);
    assert.deepEqual(await append(store, [theirs], "other"), [theirs]);
    assert.deepEqual((await page(store)).events, [mine]);
    assert.deepEqual((await page(store, {}, 100, 0, "other")).events, [theirs]);
  });

  test("concurrent appends are all stored, and each event is visible once it is answered", async (t) => {
    const { store } = await open(t);
    const appends = Array.from({ length: 300 }, async () => {
      const event = auditEventOf();
      await append(store, [event]);
      assert.equal((await store.withId(ORGANIZATION, event.id)).length, 1);
    });
    await Promise.all(appends);
    assert.equal((await page(store, {}, 1000)).total, 300);
  });
}

function testFilters(open: (t: TestContext) => Promise<AuditEngine>): void {
  test("decision, consumer and provider match exactly, and all together", async (t) => {
    const { store } = await open(t);
    const rows = [
      { command: "a", policy_decision: "ALLOWED", consumer: "ai", provider: "git" },
      { command: "b", policy_decision: "DENIED", consumer: "ai", provider: "git" },
      { command: "c", policy_decision: "DENIED", consumer: "ci", provider: "Git" },
      { command: "d", consumer: "human" },
    ] as const;
    await append(store, rows.map(auditEventOf));
    assert.deepEqual(await commandsOf(store, { decision: "DENIED" }), ["c", "b"]);
    assert.deepEqual(await commandsOf(store, { consumer: "ai" }), ["b", "a"]);
    assert.deepEqual(await commandsOf(store, { provider: "git" }), ["b", "a"]);
    assert.deepEqual(await commandsOf(store, { provider: "git", decision: "DENIED" }), ["b"]);
    for (const filter of [{ decision: "maybe" }, { consumer: "robot" }, { provider: "gi" }]) {
      assert.deepEqual(await page(store, filter), { events: [], total: 0 });
    }
  });

  test("q is found in each of five fields, and in no other", async (t) => {
    const { store } = await open(t);
    const names = ["command", "executor", "resource", "provider", "capability"] as const;
    await append(
      store,
      names.map((name) => auditEventOf({ [name]: "a Needle b", reason: name })),
    );
    const others = ["message", "reason", "policy", "runtime_name", "trace_id", "status"] as const;
    await append(
      store,
      others.map((name) => auditEventOf({ [name]: "needle" })),
    );
    const { events } = await page(store, { q: "nEEDLe" });
    assert.deepEqual(events.map((event) => event.reason).toReversed(), names);
  });

  test("a long search finds texts that contain all of it", async (t) => {
    const { store } = await open(t);
    const long = `${"100%_".repeat(30)}🌍`;
    await append(
      store,
      ["a", "b"].map((end) => auditEventOf({ command: long + end })),
    );
    assert.deepEqual(await commandsOf(store, { q: `${long}B` }), [`${long}b`]);
    assert.equal((await page(store, { q: long })).total, 2);
  });

  test("reason is a part of the reason in any letter case, and of no other field", async (t) => {
    const { store } = await open(t);
    const rows = [
      { command: "a", reason: "Force pushes are blocked", executor: "ada" },
      { command: "b", reason: "100% blocked_by a.rule", executor: "bob" },
      { command: "blocked", message: "blocked", executor: "blocked" },
    ];
    await append(store, rows.map(auditEventOf));
    assert.deepEqual(await commandsOf(store, { reason: "BLOCKED" }), ["b", "a"]);
    for (const reason of ["% blocked_by", "A.RULE"]) {
      assert.deepEqual(await commandsOf(store, { reason }), ["b"]);
    }
    assert.deepEqual(await commandsOf(store, { reason: "blocked", executor: "ada" }), ["a"]);
    assert.deepEqual(await commandsOf(store, { reason: "blocked", q: "ob" }), ["b"]);
    assert.deepEqual(await commandsOf(store, { reason: "b_ocked" }), []);
    assert.equal((await page(store, { reason: "" })).total, 3);
  });

  test("an exclusion leaves out events with exactly that value, and keeps those without one", async (t) => {
    const { store } = await open(t);
    const rows = [
      { command: "a", policy_decision: "ALLOWED", consumer: "ai", provider: "git" },
      { command: "b", policy_decision: "DENIED", consumer: "ci", provider: "git" },
      { command: "c", policy_decision: "DENIED", consumer: "ai", provider: "Git" },
      { command: "d", consumer: "human", reason: "because" },
    ] as const;
    await append(store, rows.map(auditEventOf));
    assert.deepEqual(await commandsOf(store, { not_provider: "git" }), ["d", "c"]);
    assert.deepEqual(await commandsOf(store, { not_provider: "other" }), ["d", "c", "b", "a"]);
    assert.deepEqual(await commandsOf(store, { not_decision: "DENIED" }), ["d", "a"]);
    assert.deepEqual(await commandsOf(store, { not_decision: "maybe" }), ["d", "c", "b", "a"]);
    assert.deepEqual(await commandsOf(store, { not_consumer: "ai" }), ["d", "b"]);
    assert.deepEqual(await commandsOf(store, { provider: "git", not_decision: "DENIED" }), ["a"]);
    assert.deepEqual(await commandsOf(store, { reason: "cause", not_provider: "git" }), ["d"]);
    assert.deepEqual(await commandsOf(store, { provider: "git", not_provider: "git" }), []);
  });

  test("q is literal, and never matches across fields", async (t) => {
    const { store } = await open(t);
    await append(store, [auditEventOf({ command: "a.b*[c]", executor: "tail", resource: "head" })]);
    for (const q of [".b*[", "TAIL"]) assert.equal((await page(store, { q })).total, 1, q);
    for (const q of ["a.*c", "ailhea", "ail\u0000hea", "tail\nhead", '","']) {
      assert.equal((await page(store, { q })).total, 0, q);
    }
  });

  test("q compares whole texts in lower case, even if that changes their length", async (t) => {
    const { store } = await open(t);
    await append(store, [auditEventOf({ command: "İSTANBUL ΟΔΟΣ Straße" })]);
    for (const q of ["i̇stanbul", "İstanbul", "οδος", "STRAßE", "̇s"]) {
      assert.equal((await page(store, { q })).total, 1, q);
    }
    for (const q of ["istanbul", "strasse"]) assert.equal((await page(store, { q })).total, 0, q);
  });
}

function testIdsOfReporters(open: (t: TestContext) => Promise<AuditEngine>): void {
  const reporters = [undefined, "key-1", "key-2"];
  const planted = reporters.map((reporter) =>
    auditEventOf({
      id: "shared",
      command: `by ${reporter}`,
      ...(reporter && { reported_by: reporter }),
    }),
  );
  const [anonymous, byFirst, bySecond] = planted as [AuditEvent, AuditEvent, AuditEvent];
  const again = planted.map((event) => ({ ...event, command: "sent again" }));

  test("the same id from another reporter is another event, even after a restart", async (t) => {
    const { store, restart } = await open(t);
    for (const event of planted) assert.deepEqual(await append(store, [event]), [event]);
    const restarted = await restart();
    for (const [n, event] of again.entries()) {
      assert.deepEqual(await append(restarted, [event]), [planted[n]]);
    }
    assert.deepEqual((await page(restarted)).events, [bySecond, byFirst, anonymous]);
    const shared = await restarted.withId(ORGANIZATION, "shared");
    assert.deepEqual(
      shared.map((event) => JSON.parse(String(event)) as AuditEvent),
      planted,
    );
  });

  test("an id of another reporter is another event, while the first is being stored", async (t) => {
    const { store } = await open(t);
    const sent = [...planted, ...again];
    const answers = (await Promise.all(sent.map((event) => append(store, [event])))).flat();
    const stored = answers.slice(0, planted.length);
    // Either of two events with one id may be stored, and is the answer to both.
    assert.deepEqual(answers, [...stored, ...stored]);
    for (const [n, event] of stored.entries()) {
      assert.deepEqual(event, event.command === "sent again" ? again[n] : planted[n]);
    }
    assert.equal((await page(store)).total, planted.length);
  });

  test("a mixed batch stores its event beside another reporter's with the same id", async (t) => {
    const { store } = await open(t);
    await append(store, [anonymous]);
    const own = auditEventOf({ reported_by: "key-1" });
    const batch = [own, byFirst, { ...byFirst, command: "twice" }];
    assert.deepEqual(await append(store, batch), [own, byFirst, byFirst]);
    assert.deepEqual((await page(store)).events, [byFirst, own, anonymous]);
  });
}

function testIds(open: (t: TestContext) => Promise<AuditEngine>): void {
  const first = auditEventOf({ id: "again", command: "ünique" });
  const second = auditEventOf({ id: "again", command: "other" });

  test("an id that is stored is answered with the stored event", async (t) => {
    const { store, restart } = await open(t);
    await append(store, [first]);
    assert.deepEqual(await append(store, [second]), [first]);
    const restarted = await restart();
    assert.deepEqual(await append(restarted, [second]), [first]);
    assert.deepEqual(await page(restarted), { events: [first], total: 1 });
  });

  test("an event that is twice in one batch is stored once and answered twice", async (t) => {
    const { store } = await open(t);
    const between = auditEventOf();
    assert.deepEqual(await append(store, [first, between, second]), [first, between, first]);
    assert.equal((await page(store)).total, 2);
  });

  test("an id that is being written is stored once and answered with the same event", async (t) => {
    const { store } = await open(t);
    const fresh = auditEventOf();
    const answers = await Promise.all([
      append(store, [first]),
      append(store, [second]),
      append(store, [fresh, second]),
      append(store, [second, fresh]),
    ]);
    const kept = answers[0]?.[0]; // of concurrent requests, any may be stored first
    assert.deepEqual(kept, kept?.command === first.command ? first : second);
    assert.deepEqual(answers, [[kept], [kept], [fresh, kept], [kept, fresh]]);
    assert.equal((await page(store)).total, 2);
  });

  test("a batch with some known ids stores the other events", async (t) => {
    const { store } = await open(t);
    const known = [auditEventOf(), auditEventOf()];
    await append(store, known);
    const fresh = [auditEventOf(), auditEventOf()];
    const [a, b] = known as [AuditEvent, AuditEvent];
    const [c, d] = fresh as [AuditEvent, AuditEvent];
    assert.deepEqual(await append(store, [c, b, d, a]), [c, b, d, a]);
    assert.deepEqual((await page(store)).events, [d, c, b, a]);
  });

  test("a generated id is not looked up, in a single event or in a mixed batch", async (t) => {
    const { store } = await open(t);
    const planted = auditEventOf({ command: "planted" });
    await append(store, [planted, first]);
    const generated = auditEventOf({ id: planted.id, command: "reported" });
    assert.deepEqual(await append(store, [generated], ORGANIZATION, new Set()), [generated]);
    const batch = await append(store, [second, generated], ORGANIZATION, new Set(["again"]));
    assert.deepEqual(batch, [first, generated]);
    assert.equal((await page(store, { q: "reported" })).total, 2);
  });
}

function testActivity(open: (t: TestContext) => Promise<AuditEngine>): void {
  test("activity counts the 24 hours up to now, and includes every provider ever used", async (t) => {
    const { store, restart } = await open(t);
    const rows: [number, Partial<AuditEvent>][] = [
      [0, { provider: "git", policy_decision: "ALLOWED", ai: true }],
      [-1, { provider: "git", policy_decision: "DENIED", status: "failed" }],
      [1 - DAY_MS, { provider: "npm", status: "ERROR", observed_decision: "DENIED" }],
      [-DAY_MS, { provider: "npm", policy_decision: "DENIED", observed_decision: "DENIED" }],
      [-9 * DAY_MS, { provider: "old" }],
      [1, { provider: "git", policy_decision: "ALLOWED" }],
      [-5, { status: "failed", observed_decision: "ALLOWED" }],
    ];
    await append(
      store,
      rows.map(([ms, fields]) =>
        auditEventOf({ timestamp: new Date(NOON + ms).toISOString(), ...fields }),
      ),
    );
    const expected = {
      commands: 4,
      allowed: 1,
      denied: 1,
      wouldBeDenied: 1,
      ai: 1,
      byProvider: [
        ["git", 2],
        ["npm", 1],
      ],
    };
    const use = new Map([
      ["git", { events: 2, failed: 1, lastUsed: NOON + 1 }],
      ["npm", { events: 1, failed: 1, lastUsed: NOON + 1 - DAY_MS }],
      ["old", { events: 0, failed: 0, lastUsed: NOON - 9 * DAY_MS }],
    ]);
    const names = ["git", "npm", "old", "never", "__proto__"];
    for (const engine of [store, await restart()]) {
      assert.deepEqual(await engine.activity(ORGANIZATION, NOON), expected);
      assert.deepEqual(await engine.providerUse(ORGANIZATION, names, NOON), use);
      const named = await engine.providerNames(ORGANIZATION, 10);
      assert.deepEqual([...named].sort(), ["git", "npm", "old"]);
      assert.equal((await engine.providerNames(ORGANIZATION, 2)).size, 2);
    }
  });

  test("an organization without events has no activity", async (t) => {
    const { store } = await open(t);
    const none = { commands: 0, allowed: 0, denied: 0, wouldBeDenied: 0, ai: 0 };
    const nothing = { ...none, byProvider: [] };
    assert.deepEqual(await store.activity("empty", NOON), nothing);
    assert.deepEqual(await store.providerUse("empty", ["git"], NOON), new Map());
    assert.deepEqual(await store.providerNames("empty", 10), new Set());
  });
}
