import assert from "node:assert/strict";
import { after, test } from "node:test";
import { start } from "../support/start.ts";

// One list of events that all tests query; only the last test adds to it.
const app = await start({ after });

const EVENTS = [
  { id: "e0", timestamp: "2026-11-20T10:00:00Z", command: "kubectl get pods", executor: "Ada" },
  { id: "e1", timestamp: "2026-11-20T12:00:00Z", command: "git push", resource: "acme/Web" },
  { id: "e2", timestamp: "2026-11-20T11:00:00Z", command: "git pull", decision: "ALLOWED" },
  { id: "e3", timestamp: "2026-11-20T12:00:00Z", command: "helm ls", decision: "DENIED", ai: true },
  { id: "e4", timestamp: "2026-11-20T13:00:00Z", command: "aws s3 ls", consumer: "ci" },
  { id: "e5", timestamp: "2026-11-20T09:00:00Z", capability: "aws/list_Buckets", provider: "Aws" },
  { id: "e6", timestamp: "2026-11-20T08:00:00Z", command: "100% _of.*it", message: "hidden" },
  { id: "e7", timestamp: "2026-11-20T07:00:00Z", command: "İstanbul straße", reason: "hidden" },
  { id: "e8", timestamp: "2026-11-20T06:00:00Z", command: "ab", executor: "cd", policy: "hidden" },
];
const ALL = ["e4", "e3", "e1", "e2", "e0", "e5", "e6", "e7", "e8"];

await app.post("/api/public/audit", { events: EVENTS });

async function ids(query: string): Promise<string[]> {
  const { status, body } = await app.get(`/api/public/audit?${query}`);
  assert.equal(status, 200);
  assert.equal(body.returned, body.events.length);
  return body.events.map(({ id }: { id: string }) => id);
}

test("events are newest first; of equal timestamps the last ingested comes first", async () => {
  assert.deepEqual(await ids(""), ALL);
});

const FILTERS: readonly (readonly [string, readonly string[]])[] = [
  ["q=GIT", ["e1", "e2"]],
  ["q=ada", ["e0"]],
  ["q=ACME/WEB", ["e1"]],
  ["q=list_buckets", ["e5"]],
  ["q=aws", ["e4", "e5"]],
  ["q=hidden", []],
  ["q=100%25%20_of.*", ["e6"]],
  ["q=.*", ["e6"]],
  ["q=_", ["e5", "e6"]],
  ["q=bc", []],
  ["q=abcd", []],
  ["q=ab%20cd", []],
  ["q=%C4%B0STANBUL", ["e7"]],
  ["q=STRASSE", []],
  ["q=Stra%C3%9Fe", ["e7"]],
  ["q=get+pods", ["e0"]],
  ["q=get%20pods", ["e0"]],
  ["q=", ALL],
  ["decision=ALLOWED", ["e2"]],
  ["decision=allowed", ["e2"]],
  ["decision=DENIED", ["e3"]],
  ["decision=denied", ["e3"]],
  ["decision=maybe", []],
  ["decision=", ALL],
  ["provider=git", ["e1", "e2"]],
  ["provider=aws", ["e4"]],
  ["provider=Aws", ["e5"]],
  ["provider=gi", []],
  ["provider=", ALL],
  ["consumer=ai", ["e3"]],
  ["consumer=ci", ["e4"]],
  ["consumer=human", ["e1", "e2", "e0", "e5", "e6", "e7", "e8"]],
  ["consumer=robot", []],
  ["consumer=", ALL],
  ["q=git&decision=ALLOWED&provider=git&consumer=human", ["e2"]],
  ["q=git&decision=DENIED", []],
  ["q=git&q=helm", ["e1", "e2"]],
  ["unknown=1", ALL],
  ["limit=2", ["e4", "e3"]],
  ["limit=2&offset=1", ["e3", "e1"]],
  ["limit=2&offset=8", ["e8"]],
  ["offset=9", []],
  ["offset=1000000", []],
];

for (const [query, wanted] of FILTERS) {
  test(`?${query} finds ${wanted.length}`, async () => {
    assert.deepEqual(await ids(query), wanted);
  });
}

const PAGING: readonly (readonly [string, number, number])[] = [
  ["", 100, 0],
  ["limit=1", 1, 0],
  ["limit=0", 1, 0],
  ["limit=-5", 1, 0],
  ["limit=1000", 1000, 0],
  ["limit=1001", 1000, 0],
  ["limit=99999999999999999999", 1000, 0],
  ["limit=-99999999999999999999", 1, 0],
  ["limit=ten", 100, 0],
  ["limit=1.5", 100, 0],
  ["limit=1e2", 100, 0],
  ["limit=0x10", 100, 0],
  ["limit=", 100, 0],
  ["limit=NaN", 100, 0],
  ["limit=Infinity", 100, 0],
  ["limit=5&limit=6", 5, 0],
  ["offset=0", 100, 0],
  ["offset=3", 100, 3],
  ["offset=-1", 100, 0],
  ["offset=x", 100, 0],
  ["offset=1.5", 100, 0],
  ["offset=", 100, 0],
  ["limit=7&offset=2", 7, 2],
  ["%6Cimit=7", 7, 0],
];

for (const [query, limit, offset] of PAGING) {
  test(`?${query} means limit ${limit}, offset ${offset}`, async () => {
    const { status, body } = await app.get(`/api/v1/audit?${query}`);
    assert.equal(status, 200);
    assert.deepEqual([body.limit, body.offset, body.total], [limit, offset, EVENTS.length]);
    assert.equal(body.returned, Math.min(limit, EVENTS.length - offset));
  });
}

test("an invalidly encoded query is not an error", async () => {
  assert.equal((await app.get("/api/public/audit?q=%zz&limit=%")).status, 200);
  assert.equal((await app.get("/api/public/audit?&&=&q")).status, 200);
  assert.equal((await app.get("/api/public/audit?q=%ff")).status, 200);
});

test("total counts the matches on all pages", async () => {
  const events = Array.from({ length: 1500 }, (_, n) => ({ command: `bulk ${n}` }));
  await app.post("/api/v1/audit", { events });
  const { body } = await app.get("/api/public/audit?q=BULK&limit=5000&offset=400");
  assert.deepEqual([body.limit, body.offset, body.returned, body.total], [1000, 400, 1000, 1500]);
  assert.equal(body.events[0].command, "bulk 1099");
  const last = await app.get("/api/public/audit?provider=bulk&limit=1000&offset=1400");
  assert.equal(last.body.returned, 100);
  assert.equal(last.body.events.at(-1).command, "bulk 0");
});
