import assert from "node:assert/strict";
import { after, test } from "node:test";
import { pathSegment } from "../../src/core/path-segment.ts";
import type { Answer } from "../support/client.ts";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../support/start.ts";

// Additions to the contract's list, on one service with a few events, which is only read.
const app = await start({ after });
const AUDIT = "/api/public/audit";

const EVENTS = [
  { id: "e0", timestamp: "2026-11-20T10:00:00Z", command: "git a", user: "ada", decision: "allow" },
  { id: "e1", timestamp: "2026-11-20T11:00:00Z", command: "git b", user: "bob", decision: "deny" },
  { id: "e2", timestamp: "2026-11-20T12:00:00Z", command: "helm c", status: "failed", user: "ada" },
  { id: "e3", timestamp: "2026-11-20T12:00:00Z", command: "ls", runtimeName: "r1", traceId: "t1" },
  { id: "e4", timestamp: "2026-11-20T12:00:00.001Z", command: "aws d", policyVersion: "v1" },
  { id: "e5", timestamp: "2026-11-20T13:00:00Z", capability: "aws/list", decision: "allow" },
];
await app.post(AUDIT, { events: EVENTS });

const idsOf = ({ body }: Answer): string[] => body.events.map(({ id }: { id: string }) => id);

const FILTERS: readonly (readonly [string, readonly string[]])[] = [
  ["from=2026-11-20T12:00:00Z", ["e5", "e4", "e3", "e2"]],
  ["from=2026-11-20T12:00:00.001Z", ["e5", "e4"]],
  ["to=2026-11-20T12:00:00Z", ["e1", "e0"]],
  ["to=2026-11-20T12:00:00.001Z", ["e3", "e2", "e1", "e0"]],
  ["from=2026-11-20T13:00:00%2B02:00&to=2026-11-20T13:00:00Z", ["e4", "e3", "e2", "e1"]],
  ["from=2026-11-20T12:00:00Z&to=2026-11-20T12:00:00Z", []],
  ["from=2026-11-20T13:00:00Z&to=2026-11-20T10:00:00Z", []],
  ["from=&to=", ["e5", "e4", "e3", "e2", "e1", "e0"]],
  ["executor=ada", ["e2", "e0"]],
  ["executor=Ada", []],
  ["capability=aws/list", ["e5"]],
  ["capability=aws", []],
  ["status=failed", ["e2"]],
  ["status=denied", ["e1"]],
  ["runtime=r1", ["e3"]],
  ["trace_id=t1", ["e3"]],
  ["policy=v1", ["e4"]],
  ["executor=A*&wildcards=executor", ["e2", "e0"]],
  ["executor=a*", []],
  ["executor=*&wildcards=executor", ["e2", "e1", "e0"]],
  ["not_executor=*&wildcards=not_executor", ["e5", "e4", "e3"]],
  ["executor=a*&not_status=fail*&wildcards=not_status,executor", ["e0"]],
  ["capability=*/l*t&wildcards=capability&decision=allowed", ["e5"]],
  ["executor=ada&decision=allowed&q=GIT&to=2026-11-20T12:00:00Z", ["e0"]],
  ["executor=ada&executor=bob", ["e2", "e0"]],
];

for (const [query, wanted] of FILTERS) {
  test(`list and export ?${query} have ${wanted.length}, and histogram and facets count them`, async () => {
    const list = await app.get(`${AUDIT}?${query}`);
    assert.deepEqual(idsOf(list), wanted);
    assert.equal(list.body.total, wanted.length);
    const lines = (await app.get(`${AUDIT}/export?${query}`)).text.split("\n").slice(0, -1);
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { id: string }).id),
      wanted,
    );
    const { body } = await app.get(`${AUDIT}/histogram?${query}`);
    assert.equal(totalOf(body.buckets), wanted.length);
    const facets = await app.get(`${AUDIT}/facets?${query}`);
    assert.equal(facets.body.counted, wanted.length);
  });
}

interface Bucket {
  readonly start: string;
  readonly allowed: number;
  readonly denied: number;
  readonly other: number;
}

function totalOf(buckets: readonly Bucket[]): number {
  return buckets.reduce((sum, { allowed, denied, other }) => sum + allowed + denied + other, 0);
}

for (const path of ["", "/export", "/histogram", "/stream"]) {
  for (const query of ["from=yesterday", "to=2026-11-20", "from=2026-11-20T12:00:00+02:00"]) {
    test(`${path}?${query} is refused by name`, async () => {
      const { status, body } = await app.get(`${AUDIT}${path}?${query}`);
      assert.equal(status, 400);
      assert.ok(body.error.startsWith(`${query.split("=")[0]}: `), body.error);
    });
  }
}

test("an event is found by its id", async () => {
  const { status, body } = await app.get(`${AUDIT}/e1`);
  assert.equal(status, 200);
  assert.deepEqual(body, (await app.get(`${AUDIT}?executor=bob`)).body.events[0]);
  const missing = await app.get(`${AUDIT}/e%201`);
  assert.equal(missing.status, 404);
  assert.match(missing.body.error, /"e 1"/);
});

test("an id may be any path segment, and only GET is answered there", async (t) => {
  const own = await start(t);
  for (const id of ["export-tickets", "a/b?c#d%", "..", "{id}"]) {
    await own.post(AUDIT, { id, command: "ls" });
    assert.equal((await own.get(`${AUDIT}/${encodeURIComponent(id)}`)).body.id, id);
    assert.equal((await own.get(`${AUDIT}/${pathSegment(id)}`)).body.id, id);
  }
  const refused = await own.post(`${AUDIT}/e1`, {});
  assert.equal(refused.status, 405);
  assert.equal(refused.headers.get("allow"), "GET, HEAD, OPTIONS");
});

test("a histogram has every bucket of its range, oldest first", async () => {
  const range = "from=2026-11-20T10:30:00Z&to=2026-11-20T14:00:00Z";
  const { body } = await app.get(`${AUDIT}/histogram?${range}`);
  assert.deepEqual(body, {
    interval: "1h",
    buckets: [
      { start: "2026-11-20T10:00:00.000Z", allowed: 0, denied: 0, other: 0 },
      { start: "2026-11-20T11:00:00.000Z", allowed: 0, denied: 1, other: 0 },
      { start: "2026-11-20T12:00:00.000Z", allowed: 0, denied: 0, other: 3 },
      { start: "2026-11-20T13:00:00.000Z", allowed: 1, denied: 0, other: 0 },
    ],
  });
  const days = await app.get(`${AUDIT}/histogram?interval=1d&from=2026-11-19T00:00:00Z`);
  assert.deepEqual(days.body.buckets, [
    { start: "2026-11-19T00:00:00.000Z", allowed: 0, denied: 0, other: 0 },
    { start: "2026-11-20T00:00:00.000Z", allowed: 2, denied: 1, other: 3 },
  ]);
});

test("without a range a histogram has the last 24 hours by hour", async () => {
  const { body } = await app.get(`${AUDIT}/histogram`);
  assert.equal(body.interval, "1h");
  assert.equal(body.buckets[0].start, "2026-11-19T20:00:00.000Z");
  assert.equal(body.buckets.at(-1).start, "2026-11-20T20:00:00.000Z");
  assert.equal(totalOf(body.buckets), EVENTS.length);
});

test("an unknown interval, and a range of too many buckets, are refused", async () => {
  for (const query of ["interval=1w", "interval=1H", "interval=1m&from=2026-11-19T20:00:00Z"]) {
    const { status, body } = await app.get(`${AUDIT}/histogram?${query}`);
    assert.equal(status, 400);
    assert.match(body.error, /^interval: /);
  }
});

test("an export, also as CSV, is a download with the number of its rows", async () => {
  const head = await app.request("HEAD", `${AUDIT}/export?executor=ada`);
  assert.equal(head.headers.get("x-total-count"), "2");
  const { headers, text } = await app.get(`${AUDIT}/export?executor=ada&format=csv`);
  assert.equal(headers.get("x-total-count"), "2");
  const disposition = 'attachment; filename="audit-20261120T203000Z.csv"';
  assert.equal(headers.get("content-disposition"), disposition);
  assert.deepEqual(
    text.split("\r\n").map((line) => line.split(",")[0]),
    ["id", "e2", "e0", ""],
  );
});

test("an export is never cut short", async (t) => {
  const own = await start(t, { auditSegmentBytes: 64 * 1024 });
  const batch = (k: number) =>
    Array.from({ length: 2500 }, (_, n) => ({ command: `run ${k} ${n}` }));
  for (const k of [0, 1]) await own.post(AUDIT, { events: batch(k) });
  const { headers, text } = await own.get(`${AUDIT}/export`);
  const commands = text.split("\n").slice(0, -1);
  assert.equal(headers.get("x-total-count"), "5000");
  assert.equal(commands.length, 5000);
  const found = commands.map((line) => (JSON.parse(line) as { command: string }).command);
  const wanted = [...batch(0), ...batch(1)].map(({ command }) => command).toReversed();
  assert.deepEqual(found, wanted);
});

/** Follows cursors from the first page to the last, and calls back between pages. */
async function walk(
  own: App,
  query: string,
  between: (page: number) => Promise<unknown> = async () => {},
): Promise<string[]> {
  const found: string[] = [];
  let cursor = "";
  for (let page = 0; ; page++) {
    const answer = await own.get(`${AUDIT}?${query}${cursor && `&cursor=${cursor}`}`);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.offset, 0);
    found.push(...idsOf(answer));
    if (answer.body.next_cursor === undefined) return found;
    cursor = answer.body.next_cursor;
    await between(page);
  }
}

test("following cursors gives the whole list, for any page size", async () => {
  const whole = idsOf(await app.get(AUDIT));
  for (const limit of [1, 2, 3, 5, 6, 7]) {
    assert.deepEqual(await walk(app, `limit=${limit}`), whole, String(limit));
  }
  assert.deepEqual(await walk(app, "limit=1&decision=ALLOWED"), ["e5", "e0"]);
  assert.equal((await app.get(`${AUDIT}?limit=6`)).body.next_cursor, undefined);
});

test("a page by offset has a cursor too", async () => {
  const first = await app.get(`${AUDIT}?limit=2&offset=1`);
  assert.deepEqual(idsOf(first), ["e4", "e3"]);
  const second = await app.get(`${AUDIT}?limit=9&cursor=${first.body.next_cursor}`);
  assert.deepEqual(idsOf(second), ["e2", "e1", "e0"]);
  assert.deepEqual([second.body.total, second.body.returned], [EVENTS.length, 3]);
});

test("cursors skip and repeat nothing while events arrive, even with equal timestamps", async (t) => {
  const own = await start(t, { auditSegmentBytes: 64 * 1024 });
  const timestamp = "2026-11-20T12:00:00Z";
  const filler = "x".repeat(10_000); // several segments
  const add = (name: string, count: number, at = timestamp) =>
    own.post(AUDIT, {
      events: Array.from({ length: count }, (_, n) => ({
        id: `${name}-${n}`,
        timestamp: at,
        message: filler,
      })),
    });
  await add("old", 9, "2026-11-20T11:00:00Z");
  await add("same", 9);
  const before = idsOf(await own.get(AUDIT));
  const found = await walk(own, "limit=2", async (page) => {
    await add(`tie${page}`, 2);
    await add(`new${page}`, 2, "2026-11-20T19:00:00Z");
    if (page === 3) await own.restart();
  });
  assert.deepEqual(
    found.filter((id) => before.includes(id)),
    before,
  );
  assert.equal(new Set(found).size, found.length);
});

test("a cursor is refused beside an offset, with other filters, and if it was altered", async () => {
  const { next_cursor: cursor } = (await app.get(`${AUDIT}?limit=1&executor=ada`)).body;
  const query = `${AUDIT}?limit=1&executor=ada&cursor=`;
  for (const [path, place] of [
    [`${query}${cursor}&offset=1`, "offset"],
    [`${AUDIT}?limit=1&cursor=${cursor}`, "cursor"],
    [`${AUDIT}?executor=bob&cursor=${cursor}`, "cursor"],
    [`${query}${cursor}A`, "cursor"],
    [`${query}${cursor.slice(0, -2)}`, "cursor"],
    [`${query}x`, "cursor"],
  ] as const) {
    const { status, body } = await app.get(path);
    assert.equal(status, 400, path);
    assert.ok(body.error.startsWith(`${place}: `), body.error);
  }
  for (const rest of ["&offset=0", "&offset=", "&offset=x", "&limit=5"]) {
    assert.deepEqual(idsOf(await app.get(query + cursor + rest)), ["e0"], rest);
  }
  assert.equal((await app.get(`${query}`)).body.returned, 1);
});

test("no addition shows one organization another's data", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await own.asUser(ADMIN);
  const { admin: other } = await own.createOrganization("Acme", admin);
  const { key } = await own.createKey("build", other);
  await own.post("/api/v1/audit", { events: [{ id: "a" }, { id: "b" }] }, key);
  for (const path of ["/a", "/export", "/histogram", "/stream"]) {
    assert.equal((await own.get(`/api/v1/audit${path}`)).status, 401, path);
  }
  assert.equal((await own.get("/api/v1/audit/a", key)).status, 200);
  assert.equal((await own.get("/api/v1/audit/a", admin)).status, 404);
  assert.equal((await own.get("/api/v1/audit/export", key)).text.split("\n").length, 3);
  assert.equal((await own.get("/api/v1/audit/export", admin)).text, "");
  assert.equal(totalOf((await own.get("/api/v1/audit/histogram", admin)).body.buckets), 0);
  const { next_cursor: cursor } = (await own.get("/api/v1/audit?limit=1", key)).body;
  assert.equal((await own.get(`/api/v1/audit?limit=1&cursor=${cursor}`, admin)).status, 400);
});

test("a ticket downloads its maker's events without credentials", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await own.asUser(ADMIN);
  const { admin: other } = await own.createOrganization("Acme", admin);
  const { key } = await own.createKey("build", other);
  await own.post("/api/v1/audit", { id: "a", command: "git push" }, key);
  assert.equal((await own.post("/api/v1/audit/export-tickets", {})).status, 401);
  const { status, body } = await own.post("/api/v1/audit/export-tickets", { q: "git" }, key);
  assert.equal(status, 201);
  assert.equal((await own.get(body.url.replace("/v1/", "/public/"))).status, 404);
  const download = await own.get(body.url);
  assert.deepEqual([download.status, JSON.parse(download.text).id], [200, "a"]);
  const again = await own.get(body.url);
  assert.equal(again.status, 404);
  const late = await own.post("/api/v1/audit/export-tickets", {}, key);
  own.advance(60_000);
  assert.equal((await own.get(late.body.url)).status, 404);
});

test("every word that is read as a path beside the events is refused as an id", async () => {
  const { body } = await app.get("/openapi.json");
  const words = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    "get" in methods ? (/^\/api\/public\/audit\/([a-z-]+)$/.exec(path)?.[1] ?? []) : [],
  );
  assert.ok(words.includes("checkpoint") && words.includes("export"), String(words));
  for (const id of words) {
    const refused = await app.post(AUDIT, { id, command: "ls" });
    assert.deepEqual([refused.status, refused.body], [400, { error: `id: "${id}" is reserved` }]);
  }
});

test("a value that is too long to be listed takes no place among the most frequent ones", async (t) => {
  const own = await start(t);
  const providers = [
    ...[..."aaa"].map(() => "x".repeat(257)),
    ...[..."aaa"].map(() => "😀".repeat(129)),
    ...[..."bb"].map(() => "\0".repeat(256)),
    ...[..."bb"].map(() => "😀".repeat(128)),
    "git",
  ];
  await own.post(AUDIT, { events: providers.map((provider) => ({ provider })) });
  const { body } = await own.get(`${AUDIT}/facets?limit=3`);
  type Listed = { field: string; values: { value: string; events: number }[] };
  const found = (body.facets as Listed[]).find(({ field }) => field === "provider");
  assert.deepEqual(
    new Set(found?.values.map(({ value }) => value)),
    new Set(["\0".repeat(256), "😀".repeat(128), "git"]),
  );
});
