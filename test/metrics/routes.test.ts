import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection, type WireAnswer } from "../http/connection.ts";
import { ADMIN, start, type App, type Scope, type Settings } from "../support/start.ts";
import { readExposition, valueOf } from "./exposition-reader.ts";

const TOKEN = "a-token-for-the-scraper";

const withMetrics = (t: Scope, settings: Settings = {}) =>
  start(t, { metrics: "open", ...settings });

async function scrape(app: App) {
  const { status, headers, text } = await app.get("/metrics");
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  return readExposition(text);
}

test("metrics are off unless the deployment exposes them", async (t) => {
  const app = await start(t);
  const { status, body } = await app.get("/metrics");
  assert.deepEqual([status, body], [404, { error: "There is nothing at this path" }]);
});

test("open metrics pass a strict reader", async (t) => {
  const app = await withMetrics(t);
  const families = await scrape(app);
  assert.equal(valueOf(families, "signalbox_ready"), 1);
  assert.equal(valueOf(families, "signalbox_organizations"), 1);
  assert.equal(valueOf(families, "signalbox_http_body_bytes_held"), 0);
  assert.ok(valueOf(families, "process_resident_memory_bytes") > 1e6);
  assert.ok(valueOf(families, "signalbox_data_free_bytes") > 0);
  const [info] = families.get("signalbox_build_info")?.samples ?? [];
  assert.equal(info?.labels["node"], process.versions.node);
  assert.ok(valueOf(families, "signalbox_event_loop_delay_seconds", { statistic: "max" }) >= 0);
  app.advance(90_000);
  assert.equal(valueOf(await scrape(app), "signalbox_uptime_seconds"), 90);
});

test("the process reports its start time and, on Linux, its open descriptors", async (t) => {
  const families = await scrape(await withMetrics(t));
  const started = valueOf(families, "process_start_time_seconds");
  assert.equal(started, performance.timeOrigin / 1_000);
  const open = families.get("process_open_fds")?.samples[0]?.value;
  assert.ok(process.platform === "linux" ? open !== undefined && open > 3 : open === undefined);
});

test("requests are counted by the path of their route, never by what was sent", async (t) => {
  const app = await withMetrics(t);
  for (const version of ["one", "two", "%22%5Cn"]) await app.get(`/api/v1/policies/${version}`);
  await app.get("/nowhere/at-all?secret=hunter2");
  await app.request("HEAD", "/health");
  const families = await scrape(app);
  const requests = (labels: Readonly<Record<string, string>>) =>
    valueOf(families, "signalbox_http_requests_total", labels);
  const route = "/api/v1/policies/{version}";
  assert.equal(requests({ route, method: "GET", status: "404" }), 3);
  assert.equal(requests({ route: "none", method: "GET", status: "404" }), 1);
  assert.equal(requests({ route: "/health", method: "HEAD", status: "200" }), 1);
  const durations = "signalbox_http_request_duration_seconds";
  assert.equal(valueOf(families, `${durations}_count`, { route, method: "GET" }), 3);
  assert.ok(valueOf(families, `${durations}_sum`, { route, method: "GET" }) > 0);
});

test("methods without a route make one series", async (t) => {
  const app = await withMetrics(t);
  for (const method of ["PROPFIND", "MKCOL"]) await app.request(method, "/health");
  const labels = { route: "none", method: "other", status: "405" };
  assert.equal(valueOf(await scrape(app), "signalbox_http_requests_total", labels), 2);
});

test("ingested and repeated events, the log's bytes and its syncs are counted", async (t) => {
  const app = await withMetrics(t);
  const events = ["a", "b", "c"].map((id) => ({ id, command: "ls" }));
  await app.post("/api/public/audit", { events });
  await app.post("/api/public/audit", { events: [...events, { id: "d", command: "pwd" }] });
  await app.post("/api/public/audit", { events: [events[0], events[0]] });
  await app.post("/api/public/fleet/heartbeat", { name: "runner-1" });
  const families = await scrape(app);
  const ingested = (result: string) =>
    valueOf(families, "signalbox_audit_events_total", { result });
  assert.deepEqual(["stored", "repeated", "failed"].map(ingested), [4, 5, 0]);
  assert.equal(valueOf(families, "signalbox_audit_pending_events"), 0);
  assert.equal(valueOf(families, "signalbox_audit_pending_bytes"), 0);
  for (const log of ["audit", "fleet"]) {
    assert.ok(valueOf(families, "signalbox_log_written_bytes_total", { log }) > 0);
    assert.ok(valueOf(families, "signalbox_log_sync_duration_seconds_count", { log }) > 0);
    assert.equal(valueOf(families, "signalbox_log_sync_failures_total", { log }), 0);
  }
  assert.equal(valueOf(families, "signalbox_fleet_runtimes"), 1);
  assert.equal(valueOf(families, "signalbox_fleet_runtimes_online"), 1);
  app.advance(15 * 60_000);
  assert.equal(valueOf(await scrape(app), "signalbox_fleet_runtimes_online"), 0);
});

for (const [name, authorization, challenge] of [
  ["no token", undefined, 'Bearer realm="signalbox"'],
  ["another scheme", `Basic ${TOKEN}`, 'Bearer realm="signalbox"'],
  ["a wrong token", `Bearer ${TOKEN}x`, 'Bearer realm="signalbox", error="invalid_token"'],
  ["the start of the token", "Bearer a-token", 'Bearer realm="signalbox", error="invalid_token"'],
  ["an empty token", "Bearer ", 'Bearer realm="signalbox", error="invalid_token"'],
] as const) {
  test(`if metrics require a token, ${name} is refused`, async (t) => {
    const app = await start(t, { metrics: TOKEN });
    const { status, headers, text } = await app.get("/metrics", authorization && { authorization });
    assert.equal(status, 401);
    assert.equal(headers.get("www-authenticate"), challenge);
    assert.ok(!text.includes(TOKEN));
  });
}

test("the token gives access to the metrics, and no output contains it", async (t) => {
  const lines: string[] = [];
  const writeLog = (line: string) => void lines.push(line);
  const app = await start(t, { metrics: TOKEN, logLevel: "debug", writeLog });
  const { status, text } = await app.get("/metrics", { authorization: `bearer ${TOKEN}` });
  assert.equal(status, 200);
  readExposition(text);
  await app.get("/metrics", { authorization: `Bearer ${TOKEN}x` });
  const documents = await Promise.all(
    ["/openapi.json", "/metadata", "/version", "/"].map((path) => app.get(path)),
  );
  const shown = [text, ...lines, ...documents.map((answer) => answer.text)].join("\n");
  assert.ok(!shown.includes(TOKEN));
});

test("the start warns of a token that is easy to guess", async (t) => {
  const lines: string[] = [];
  await start(t, { metrics: "guess", logLevel: "warn", writeLog: (line) => void lines.push(line) });
  assert.match(lines.join(""), /metrics is a token of fewer than 16 characters/);
});

const POST = (path: string) => [
  `POST ${path} HTTP/1.1`,
  "Host: localhost",
  "Content-Type: application/json",
];
const LOGIN = JSON.stringify(ADMIN);

for (const [what, route, lines] of [
  ["before its body", "/api/v1/fleet/heartbeat", ["Content-Length: 1000", "", ""]],
  ["in its body", "/api/public/audit", ["Content-Length: 1000", "", '{"a"']],
  ["in a chunked body", "/api/v1/policies", ["Transfer-Encoding: chunked", "", "4", '{"a"']],
  [
    "in a gzip body",
    "/api/v1/policies",
    ["Content-Encoding: gzip", "Content-Length: 1000", "", "\u001f"],
  ],
  [
    "while its password is hashed",
    "/api/v1/auth/login",
    [`Content-Length: ${LOGIN.length}`, "", LOGIN],
  ],
] as const) {
  test(`a request that is cut ${what} is counted once as 499 and logged`, async (t) => {
    const log: string[] = [];
    const writeLog = (line: string) => log.push(line);
    const app = await withMetrics(t, { logLevel: "debug", writeLog });
    const connection = new Connection(Number(new URL(app.url).port));
    connection.send(...POST(route), ...lines);
    await app.get("/health"); // the server has read all that was sent before
    connection.socket.destroy();
    const labels = { route, method: "POST" };
    const requests = async (): Promise<readonly number[]> => {
      const samples = (await scrape(app)).get("signalbox_http_requests_total")?.samples ?? [];
      return samples.filter((one) => one.labels["route"] === route).map(({ value }) => value);
    };
    while ((await requests()).length === 0);
    assert.deepEqual(await requests(), [1]);
    const total = valueOf(await scrape(app), "signalbox_http_requests_total", {
      ...labels,
      status: "499",
    });
    assert.equal(total, 1);
    assert.ok(log.some((line) => line.includes(route) && line.includes('"status":499')));
  });
}

test("a request whose body breaks its framing is counted and logged by the answer that was sent", async (t) => {
  const log: string[] = [];
  const app = await withMetrics(t, { logLevel: "debug", writeLog: (line) => log.push(line) });
  const connection = new Connection(Number(new URL(app.url).port));
  connection.send(...POST("/api/public/audit"), "Transfer-Encoding: chunked", "", "zz", "");
  const answer = await connection.next();
  assert.equal(answer.status, 400);
  await connection.ended();
  const labels = { route: "/api/public/audit", method: "POST", status: "400" };
  assert.equal(valueOf(await scrape(app), "signalbox_http_requests_total", labels), 1);
  assertLogged(log, answer, 400);
});

for (const [what, method, status, lines] of [
  ["a target that is too long", "other", 431, [`GET /${"a".repeat(17_000)} HTTP/1.1`]],
  ["no HTTP", "other", 400, ["garbage"]],
  ["two lengths", "other", 400, [...POST("/"), "Content-Length: 3", "Content-Length: 4", "", "{}"]],
  ["a CONNECT", "other", 405, ["CONNECT a.example:443 HTTP/1.1", "Host: a.example:443"]],
  ["an expectation", "POST", 417, [...POST("/"), "Expect: payment", "Content-Length: 0"]],
] as const) {
  test(`the answer to ${what} is counted, and logged with its id`, async (t) => {
    const log: string[] = [];
    const writeLog = (line: string) => log.push(line);
    const app = await withMetrics(t, { logLevel: "debug", writeLog });
    const connection = new Connection(Number(new URL(app.url).port));
    connection.send(...lines, "", "");
    const answer = await connection.next();
    await connection.ended();
    assert.equal(answer.status, status);
    const labels = { route: "none", method, status: String(status) };
    assert.equal(valueOf(await scrape(app), "signalbox_http_requests_total", labels), 1);
    assertLogged(log, answer, status);
  });
}

/** The log must have one line with the id of an answer. */
function assertLogged(log: readonly string[], { headers }: WireAnswer, status: number): void {
  const named = log.filter((line) => line.includes(`"request":"${headers.get("x-request-id")}"`));
  assert.equal(named.length, 1);
  assert.match(named[0] ?? "", new RegExp(`"debug".*"status":${status}`));
}
