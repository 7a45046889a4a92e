import assert from "node:assert/strict";
import { request, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { CSV_HEADER, csvLine } from "../../src/audit/csv.ts";
import type { AuditExport, AuditFilter } from "../../src/audit/store.ts";
import { closing } from "../../src/core/pieces.ts";
import { Unauthenticated } from "../../src/core/errors.ts";
import { Turns } from "../../src/core/scheduling/turns.ts";
import { until } from "../http/serve.ts";
import { MemoryAudit, piecesOf } from "../support/memory-audit.ts";
import { serveAudit } from "./serve-audit.ts";

const EXPORT = "/api/public/audit/export";

/** Opens a download and leaves it unread. */
function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url, { agent: false }, resolve).once("error", reject).end();
  });
}

test("an export has every event that matches, newest first, one a line", async (t) => {
  const app = await serveAudit(t);
  const rows = [await app.add({ command: "git a" }), await app.add({ command: "git b" })];
  await app.add({ command: "ls" });
  const answer = await fetch(`${app.url}${EXPORT}?q=GIT`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/x-ndjson; charset=utf-8");
  const disposition = 'attachment; filename="audit-20260102T120000Z.ndjson"';
  assert.equal(answer.headers.get("content-disposition"), disposition);
  assert.equal(answer.headers.get("x-total-count"), "2");
  const lines = rows.toReversed().map((event) => `${JSON.stringify(event)}\n`);
  assert.equal(await answer.text(), lines.join(""));
});

test("a CSV export has a line of names and a line for each event", async (t) => {
  const app = await serveAudit(t);
  await app.add({ id: "e1", command: "=1", executor: 'Zoë "Z"' });
  const answer = await fetch(`${app.url}${EXPORT}?format=csv`);
  assert.equal(answer.headers.get("content-type"), "text/csv; charset=utf-8");
  assert.match(String(answer.headers.get("content-disposition")), /^attachment; .*\.csv"$/);
  const [names, line, end] = (await answer.text()).split("\r\n");
  assert.match(names ?? "", /^id,organization_id,timestamp,ingested_at,command,executor,/);
  assert.match(line ?? "", /^e1,default,[^,]+,[^,]+,'=1,"Zoë ""Z""",human,false,/);
  assert.equal(end, "");
});

test("without matches an export is empty, and as CSV has only the names", async (t) => {
  const app = await serveAudit(t);
  assert.equal(await (await fetch(app.url + EXPORT)).text(), "");
  assert.match(await (await fetch(`${app.url}${EXPORT}?format=csv`)).text(), /^id,[^\r]*\r\n$/);
});

test("an unknown format and an invalid timestamp are refused", async (t) => {
  const app = await serveAudit(t);
  for (const query of ["format=xml", "format=CSV", "from=x", "to=2026-02-30T00:00:00Z"]) {
    const answer = await fetch(`${app.url}${EXPORT}?${query}`);
    assert.equal(answer.status, 400);
    const name = query.split("=")[0] ?? "";
    assert.ok((await answer.text()).startsWith(`{"error":"${name}: `));
  }
});

test("HEAD returns the number of rows and reads none", async (t) => {
  const app = await serveAudit(t);
  await app.add();
  const answer = await fetch(app.url + EXPORT, { method: "HEAD" });
  assert.equal(answer.headers.get("x-total-count"), "1");
  assert.equal(app.store.rowsRead, 0);
});

test("rows are read at the reader's pace, and not after the reader has disconnected", async (t) => {
  const app = await serveAudit(t);
  for (let n = 0; n < 400; n++) await app.add({ command: "x".repeat(64 * 1024) });
  const download = await open(app.url + EXPORT);
  let before = -1;
  const isStalled = (): boolean => before === (before = app.store.rowsRead);
  await until(() => app.store.rowsRead > 0 && isStalled());
  assert.ok(app.store.rowsRead < 400);
  assert.equal(app.store.exporting, 1);
  download.destroy();
  await until(() => app.store.exporting === 0);
  assert.ok(app.store.rowsRead < 400);
  assert.equal(app.summaries.at(-1)?.error, undefined);
});

test("a piece is not reused until the system has taken all of it", async (t) => {
  const store = new (class extends MemoryAudit {
    override export(): AuditExport {
      return { total: 40, rows: piecesOf(overwritten(40)) };
    }
  })();
  const app = await serveAudit(t, {}, store);
  const lines = (await (await fetch(app.url + EXPORT)).text()).split("\n").slice(0, -1);
  assert.deepEqual(
    lines.map((line) => [line[0], new Set(line).size, line.length]),
    Array.from({ length: 40 }, (_, i) => [LETTERS[i % 26], 1, PIECE - 1]),
  );
});

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const PIECE = 512 * 1024;

/** Pieces that share one buffer, as a store may return them. */
async function* overwritten(count: number): AsyncGenerator<Buffer> {
  const target = Buffer.alloc(PIECE, "\n");
  for (let i = 0; i < count; i++) {
    target.fill(LETTERS[i % 26] as string);
    target[PIECE - 1] = 0x0a;
    yield target;
    target.fill("?");
  }
}

/** Requests a ticket and returns its address, or the refusal. */
async function ticketFor(
  url: string,
  body: unknown,
  prefix = "/api/public",
): Promise<{ readonly status: number; readonly body: Record<string, string> }> {
  const answer = await fetch(`${url}${prefix}/audit/export-tickets`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

test("a ticket's address downloads its export, once", async (t) => {
  const app = await serveAudit(t);
  await app.add({ command: "git a" });
  await app.add({ command: "ls" });
  const { status, body } = await ticketFor(app.url, { format: "csv", q: "git", to: null });
  assert.equal(status, 201);
  assert.match(body["url"] ?? "", /^\/api\/public\/audit\/export-tickets\/[\w-]{43}\/file$/);
  assert.equal(body["expires_at"], "2026-01-02T12:01:00.000Z");
  const head = await fetch(app.url + body["url"], { method: "HEAD" });
  assert.equal(head.headers.get("x-total-count"), "1");
  const answer = await fetch(app.url + body["url"]);
  assert.equal(answer.headers.get("content-type"), "text/csv; charset=utf-8");
  assert.equal((await answer.text()).split("\r\n").length, 3);
  const again = await fetch(app.url + body["url"]);
  assert.equal(again.status, 404);
  assert.equal((await fetch(app.url + body["url"], { method: "HEAD" })).status, 404);
});

test("a ticket expires after a minute, and is valid only under its own prefix", async (t) => {
  const app = await serveAudit(t);
  const { body } = await ticketFor(app.url, {}, "/api/v1");
  const elsewhere = body["url"]?.replace("/api/v1", "/api/public");
  assert.equal((await fetch(app.url + elsewhere)).status, 404);
  assert.equal((await fetch(app.url + body["url"])).status, 200);
  const late = await ticketFor(app.url, {}, "/api/v1");
  app.advance(60_000);
  assert.equal((await fetch(app.url + late.body["url"])).status, 404);
});

test("a ticket's parameters are checked when it is requested", async (t) => {
  const app = await serveAudit(t);
  for (const [body, place] of [
    [{ format: "xml" }, "format"],
    [{ from: "yesterday" }, "from"],
    [{ to: 5 }, "to"],
    [[], "The body"],
  ] as const) {
    const refused = await ticketFor(app.url, body);
    assert.equal(refused.status, 400);
    assert.ok(refused.body["error"]?.startsWith(`${place}: `), refused.body["error"]);
  }
  assert.equal((await ticketFor(app.url, { q: "x".repeat(16 * 1024) })).status, 413);
  assert.equal((await ticketFor(app.url, { decision: "maybe", consumer: "robot" })).status, 201);
});

test("an organization that leaves 100 tickets unused gets no more for a while", async (t) => {
  const app = await serveAudit(t);
  for (let n = 0; n < 100; n++) assert.equal((await ticketFor(app.url, {})).status, 201);
  assert.equal((await ticketFor(app.url, {})).status, 429);
  app.advance(60_000);
  assert.equal((await ticketFor(app.url, {})).status, 201);
});

/** Accepts callers until `revoke` is called. */
async function serveRevocable(t: TestContext) {
  let isRevoked = false;
  const app = await serveAudit(t, {}, undefined, {
    resolveCaller({ access }) {
      if (isRevoked && access !== "open") throw new Unauthenticated("It was revoked");
      return { organization: "default", actor: undefined };
    },
  });
  return { app, revoke: () => void (isRevoked = true) };
}

for (const { when, revoked, isCut } of [
  { when: "are no longer accepted is cut", revoked: true, isCut: true },
  { when: "are still accepted goes on", revoked: false, isCut: false },
]) {
  test(`after 15 seconds a running export whose credentials ${when}`, async (t) => {
    const { app, revoke } = await serveRevocable(t);
    for (let n = 0; n < 400; n++) await app.add({ command: "x".repeat(64 * 1024) });
    const download = await open(`${app.url}/api/v1/audit/export`);
    let before = -1;
    await until(() => app.store.rowsRead > 0 && before === (before = app.store.rowsRead));
    if (revoked) revoke();
    app.advance(15_000);
    const ended = new Promise((resolve) => download.once("end", resolve).once("error", resolve));
    download.resume();
    await ended;
    assert.equal(download.complete, !isCut);
    assert.equal(app.store.rowsRead < 400, isCut);
    await until(() => app.store.exporting === 0);
  });
}

test("a ticket whose credentials are no longer accepted is unknown", async (t) => {
  const { app, revoke } = await serveRevocable(t);
  const unknown = await fetch(`${app.url}/api/v1/audit/export-tickets/none/file`);
  const { body } = await ticketFor(app.url, {}, "/api/v1");
  const path = app.url + body["url"];
  assert.equal((await fetch(path, { method: "HEAD" })).status, 200);
  revoke();
  assert.equal((await fetch(path, { method: "HEAD" })).status, 404);
  const refused = await fetch(path);
  assert.deepEqual([refused.status, await refused.text()], [404, await unknown.text()]);
});

test("a CSV file begins with a byte order mark only on request", async (t) => {
  const app = await serveAudit(t);
  await app.add({ command: "größer" });
  const beginning = async (path: string): Promise<string> => {
    const answer = await fetch(app.url + path);
    return Buffer.from(await answer.arrayBuffer()).toString("latin1", 0, 6);
  };
  assert.equal(await beginning(`${EXPORT}?format=csv&bom=true`), "\xef\xbb\xbfid,");
  assert.equal(await beginning(`${EXPORT}?format=csv&bom=false`), "id,org");
  const { body } = await ticketFor(app.url, { format: "csv", bom: true });
  assert.equal(await beginning(body["url"] as string), "\xef\xbb\xbfid,");
  const refusal = { error: "bom: was true with format=ndjson, expected it only with format=csv" };
  const refused = await fetch(`${app.url}${EXPORT}?bom=true`);
  assert.deepEqual([refused.status, await refused.json()], [400, refusal]);
  assert.deepEqual(await ticketFor(app.url, { bom: true }), { status: 400, body: refusal });
  assert.equal((await fetch(`${app.url}${EXPORT}?format=csv&bom=yes`)).status, 400);
});

test("a long row waits for its turn to become CSV, and a disconnected reader gives its turn back", async (t) => {
  const turns = new Turns({ atOnce: 1, atOnceOfOne: 1, waiting: Infinity });
  const app = await serveAudit(t, {}, new MemoryAudit(), {}, turns);
  const event = await app.add({ command: "x".repeat(200_000) });
  const other = ["public", "default", "other"];
  const take = (): Promise<() => void> =>
    new Promise((resolve, reject) => void turns.take(other, resolve, reject));
  const end = await take();
  const gone = new AbortController();
  const left = await fetch(`${app.url}${EXPORT}?format=csv`, { signal: gone.signal });
  gone.abort();
  await assert.rejects(left.text());
  const stayed = await fetch(`${app.url}${EXPORT}?format=csv`);
  assert.equal(await (await fetch(app.url + EXPORT)).text(), `${JSON.stringify(event)}\n`);
  await until(() => app.summaries.length === 2); // the client that disconnected, and the export of plain rows
  end();
  assert.equal(await stayed.text(), CSV_HEADER + csvLine(event));
  (await take())(); // every turn was given back
});

test("the short pieces of a CSV export do not wait for the reader of a long row", async (t) => {
  const part = Buffer.alloc(64 << 10, "x");
  async function* longRow(): AsyncGenerator<Buffer> {
    yield Buffer.from('{"id":"1","command":"');
    for (let i = 0; i < 256; i++) yield part; // more than the buffers of a connection take
    yield Buffer.from('"}');
    yield Buffer.from("\n");
  }
  async function* shortRows(): AsyncGenerator<Buffer> {
    for (let i = 0; i < 3; i++) yield Buffer.from('{"id":"1"}\n');
  }
  const begun: string[] = [];
  const store = new (class extends MemoryAudit {
    override export(_: string, { q = "" }: AuditFilter): AuditExport {
      begun.push(q);
      return { total: 1, rows: closing(q === "long" ? longRow() : shortRows(), () => {}) };
    }
  })();
  const turns = new Turns({ atOnce: 1, atOnceOfOne: 1, waiting: Infinity });
  const app = await serveAudit(t, {}, store, {}, turns);
  const unread = await fetch(`${app.url}${EXPORT}?format=csv&q=long`);
  const second = fetch(`${app.url}${EXPORT}?format=csv&q=long`).then((answer) => answer.text());
  await until(() => begun.length === 2);
  const short = await (await fetch(`${app.url}${EXPORT}?format=csv`)).text();
  assert.equal(short.split("\r\n").length, 1 + 3 + 1);
  const [first, next] = await Promise.all([unread.text(), second]);
  assert.equal(
    first.length,
    CSV_HEADER.length + (256 << 16) + 1 + CSV_HEADER.split(",").length + 1,
  );
  assert.equal(next, first);
});

test("the CSV exports of one user read one piece at a time", async (t) => {
  const read: (() => void)[] = [];
  const store = new (class extends MemoryAudit {
    override export(): AuditExport {
      let isFirst = true;
      const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
        if (!isFirst) return { done: true, value: undefined };
        isFirst = false;
        await new Promise<void>((resolve) => read.push(resolve));
        return { value: Buffer.from('{"id":"1"}\n') };
      };
      const pieces = { [Symbol.asyncIterator]: () => ({ next }) };
      return { total: 1, rows: closing(pieces, () => {}) };
    }
  })();
  const app = await serveAudit(t, {}, store);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => fetch(`${app.url}${EXPORT}?format=csv`)),
  );
  for (let ended = 0; ended < 5; ended++) {
    await until(() => read.length === Math.min(5, ended + 1));
    for (let turn = 0; turn < 10; turn++) await turnOfTheLoop();
    assert.equal(read.length, Math.min(5, ended + 1));
    read[ended]?.();
  }
  for (const answer of answers) {
    assert.equal(
      await answer.text(),
      `${CSV_HEADER}1${",".repeat(CSV_HEADER.split(",").length - 1)}\r\n`,
    );
  }
});
