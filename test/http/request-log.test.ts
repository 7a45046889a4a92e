import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog, type LogLevel } from "../../src/core/log.ts";
import { BadInput, Unauthenticated } from "../../src/core/errors.ts";
import type { RequestSummary } from "../../src/http/request-summary.ts";
import { createRequestLog, LINES_A_MINUTE, type RequestLog } from "../../src/http/request-log.ts";
import { start } from "../support/start.ts";

const SUMMARY: RequestSummary = {
  method: "GET",
  route: "/api/v1/policies/{version}",
  status: 200,
  requestId: "r-1",
  organization: "default",
  isChange: false,
  durationMs: 1.23456,
  contentLength: undefined,
  bytesSent: 42,
  error: undefined,
};

type Line = Readonly<Record<string, unknown>>;

function requestLog(level: LogLevel): { log: RequestLog; lines: readonly Line[] } {
  const lines: Line[] = [];
  const log = createLog(
    level,
    () => 0,
    (line) => void lines.push(JSON.parse(line) as Line),
  );
  return { log: createRequestLog(log), lines };
}

/** The lines that count others: their level, what they count, and how many. */
function leftOutIn(lines: readonly Line[]): readonly unknown[] {
  const counting = lines.filter(({ message }) => message === "lines left out in the last minute");
  return counting.map((line) => [line["level"], line["of"], line["lines_left_out"]]);
}

test("at debug each request is a line with its route, duration and sizes", () => {
  const { log, lines } = requestLog("debug");
  log.onAnswered({ ...SUMMARY, contentLength: "7" });
  assert.deepEqual(lines, [
    {
      time: "1970-01-01T00:00:00.000Z",
      level: "debug",
      message: "request",
      method: "GET",
      route: "/api/v1/policies/{version}",
      status: 200,
      duration_ms: 1.235,
      bytes_in: 7,
      bytes_out: 42,
      request: "r-1",
      organization: "default",
    },
  ]);
});

test("at info only changes, refused credentials and failures are lines", () => {
  const { log, lines } = requestLog("info");
  log.onAnswered(SUMMARY);
  log.onAnswered({ ...SUMMARY, status: 400, error: new BadInput("No") });
  log.onAnswered({ ...SUMMARY, status: 401, error: new Unauthenticated("No") });
  log.onAnswered({ ...SUMMARY, method: "POST", status: 409, isChange: true });
  assert.equal(lines.length, 0);
  log.onAnswered({ ...SUMMARY, method: "POST", status: 201, isChange: true });
  log.onAnswered({ ...SUMMARY, method: "POST", status: 499, isChange: true }); // carried out, but not read
  log.onAnswered({
    ...SUMMARY,
    status: 401,
    error: new Unauthenticated("No", { tokenRefused: true }),
  });
  log.onAnswered({ ...SUMMARY, status: 500, error: new Error("Broken") });
  assert.deepEqual(
    lines.map(({ level, message }) => [level, message]),
    [
      ["info", "changed"],
      ["info", "changed"],
      ["info", "credentials refused"],
      ["error", "request failed"],
    ],
  );
  assert.match(String(lines[3]?.["error"]), /^Error: Broken\n/);
});

test("a summary counts the requests since the last one, and an idle minute has none", () => {
  const { log, lines } = requestLog("info");
  for (const status of [200, 404, 503]) log.onAnswered({ ...SUMMARY, status });
  log.summarize();
  log.summarize();
  assert.equal(lines.length, 1);
  const { message, requests, refused, failed } = lines[0] as Line;
  assert.deepEqual([message, requests, refused, failed], ["requests in the last minute", 3, 1, 1]);
});

test("the line of an answered request has its sizes, and neither path, query nor credentials", async (t) => {
  const lines: Line[] = [];
  const writeLog = (line: string) => void lines.push(JSON.parse(line) as Line);
  const app = await start(t, { logLevel: "debug", writeLog });
  const body = JSON.stringify({ events: [{ command: "cat hunter2" }] });
  const posted = await app.post("/api/public/audit?token=hunter2", body);
  const headers = { authorization: "Bearer hunter2", "x-request-id": "mine" };
  await app.get("/api/v1/policies/hunter2", headers);
  const head = await app.request("HEAD", "/api/public/audit?q=hunter2");
  const exported = await app.get("/api/public/audit/export?format=ndjson");
  const told = (message: string, method: string, route: string) =>
    lines.find((one) => one.message === message && one.method === method && one.route === route);

  const ingest = told("request", "POST", "/api/public/audit");
  assert.deepEqual(
    [ingest?.["bytes_in"], ingest?.["bytes_out"]],
    [body.length, posted.text.length],
  );
  assert.ok(Number(ingest?.["duration_ms"]) > 0);
  const refused = told("credentials refused", "GET", "/api/v1/policies/{version}");
  assert.deepEqual([refused?.["status"], refused?.["request"]], [401, "mine"]);
  const asked = told("request", "HEAD", "/api/public/audit");
  assert.deepEqual([head.status, asked?.["bytes_out"]], [200, 0]);
  const stream = told("request", "GET", "/api/public/audit/export");
  assert.ok(Number(stream?.["bytes_out"]) >= Buffer.byteLength(exported.text));
  assert.ok(!JSON.stringify(lines).includes("hunter2"));
});

test("a minute has a bounded number of lines of each kind, and the others are counted", () => {
  const { log, lines } = requestLog("info");
  const refused = new Unauthenticated("No", { tokenRefused: true });
  const answer = (error: unknown) => log.onAnswered({ ...SUMMARY, status: 401, error });
  for (let i = 0; i < LINES_A_MINUTE + 5; i++) answer(refused);
  log.onAnswered({ ...SUMMARY, method: "POST", status: 201, isChange: true });
  assert.equal(lines.length, LINES_A_MINUTE + 1);
  assert.equal(lines.at(-1)?.["message"], "changed");
  log.summarize();
  assert.deepEqual(leftOutIn(lines), [["info", "credentials refused", 5]]);
  answer(refused);
  assert.equal(lines.at(-1)?.["message"], "credentials refused");
  log.summarize();
  assert.equal(lines.at(-1)?.["message"], "requests in the last minute");
  assert.equal(leftOutIn(lines).length, 1);
});

for (const level of ["info", "warn", "error"] as const) {
  test(`at ${level} a line of that level counts the failed requests that were left out`, () => {
    const { log, lines } = requestLog(level);
    const error = new Error("Broken");
    const more = LINES_A_MINUTE + 5;
    for (let i = 0; i < more; i++) log.onAnswered({ ...SUMMARY, status: 500, error });
    for (let i = 0; i < more; i++) log.onAnswered({ ...SUMMARY, status: 201, isChange: true });
    log.summarize();
    const changes = level === "info" ? [["info", "changed", 5]] : [];
    assert.deepEqual(leftOutIn(lines), [["error", "request failed", 5], ...changes]);
  });
}

test("at debug no line is left out", () => {
  const { log, lines } = requestLog("debug");
  for (let i = 0; i < LINES_A_MINUTE + 5; i++) log.onAnswered(SUMMARY);
  assert.equal(lines.length, LINES_A_MINUTE + 5);
});
