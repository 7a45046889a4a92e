import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Connection } from "../http/connection.ts";
import { Client } from "../support/client.ts";
import { start } from "../support/start.ts";

const app = await start(
  { after },
  { corsOrigins: ["https://ui.example.com", "http://localhost:3000"] },
);

const JSON_WINS = [
  undefined,
  "",
  "*/*",
  "application/json",
  "text/html, application/json",
  "application/json, text/html",
  "text/html;q=0.9, application/json",
  "text/html;q=0.5, */*",
  "text/html;q=0",
  "text/html;q=0, */*;q=0.1",
  "text/*, application/*",
  "text/*;q=0.9, */*",
  "application/*, text/html;q=0.9",
  "image/png",
  "text/plain",
  "*/*;q=0",
  "application/xhtml+xml",
  "text/html; q=0.000",
  "text/html;q=abc, application/json",
  ",,,",
  "nonsense",
  "text/htmlx",
  "a".repeat(4000),
];

const HTML_WINS = [
  "text/html",
  "TEXT/HTML",
  "text/html, */*",
  "text/html, */*;q=0.8",
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
  "text/html;q=0.5, */*;q=0.4",
  "text/html;q=0.5, application/json;q=0.4",
  "text/html;charset=utf-8",
  "text/*",
  "text/*, */*",
  "text/html, application/*",
  "text/html;q=0.1",
  "application/json;q=0, text/html;q=0.001",
  " text/html ; q=1 , */* ; q=0.1",
];

for (const [accepts, type] of [
  [JSON_WINS, "application/json; charset=utf-8"],
  [HTML_WINS, "text/html; charset=utf-8"],
] as const) {
  for (const accept of accepts) {
    test(`/ with Accept ${JSON.stringify(accept)?.slice(0, 60)} is ${type}`, async () => {
      const headers = accept === undefined ? {} : { accept };
      const answer = await app.get("/", headers);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("content-type"), type);
      assert.match(answer.headers.get("vary") ?? "", /\bAccept\b/);
      const head = await app.request("HEAD", "/", undefined, headers);
      assert.equal(head.headers.get("content-type"), type);
    });
  }
}

test("/ as JSON is the metadata", async () => {
  assert.equal((await app.get("/")).text, (await app.get("/metadata")).text);
});

test("pages forbid the browser features that they do not need", async () => {
  const { headers, text } = await app.get("/", { accept: "text/html" });
  const policy = headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'/);
  assert.ok(!policy.includes("unsafe-inline"));
  assert.equal(headers.get("x-frame-options"), "DENY");
  assert.equal(headers.get("referrer-policy"), "no-referrer");
  assert.match(policy, /require-trusted-types-for 'script'/);
  for (const what of ["opener", "resource"]) {
    assert.equal(headers.get(`cross-origin-${what}-policy`), "same-origin");
  }
  assert.ok(!/<script(?![^>]*\bsrc=)/.test(text) && !/\sstyle=/.test(text));
});

test("other sites cannot load the portal's files, but the API's answers", async () => {
  const { text } = await app.get("/", { accept: "text/html" });
  const [file = ""] = /\/portal\/assets\/[^"]+\.css/.exec(text) ?? [];
  const policyOf = async (path: string) =>
    (await app.get(path)).headers.get("cross-origin-resource-policy");
  assert.equal(await policyOf(file), "same-origin");
  for (const path of ["/api/v1/fleet", "/openapi.json"]) assert.equal(await policyOf(path), null);
});

const ALLOWED = [
  "https://ui.example.com",
  "http://localhost:3000",
  "https://preview.pages.dev",
  "https://a.b.c.pages.dev",
  "https://x-1.pages.dev",
];

const NOT_ALLOWED = [
  "http://ui.example.com",
  "https://ui.example.com:8443",
  "https://ui.example.com.evil.com",
  "https://UI.example.com.",
  "http://localhost:3001",
  "https://pages.dev",
  "https://.pages.dev",
  "http://preview.pages.dev",
  "https://preview.pages.dev:8443",
  "https://preview.pages.dev.evil.com",
  "https://evilpages.dev",
  "https://evil.com/.pages.dev",
  "https://evil.com#.pages.dev",
  "https://evil.com?.pages.dev",
  "https://evil.com\\.pages.dev",
  "https://user@x.pages.dev",
  "https://x.pages.dev/",
  "https://x.pages.dev https://evil.com",
  "https://evil.com https://x.pages.dev",
  "https://x..pages.dev",
  "https://x.pages.devil",
  "null",
  "",
  "*",
  "file://",
  "javascript:alert(1)//.pages.dev",
  "x".repeat(5000),
];

const CORS = ["access-control-allow-origin", "access-control-expose-headers"] as const;

for (const origin of ALLOWED) {
  test(`a page of ${origin} may read answers`, async () => {
    for (const path of ["/api/public/fleet", "/api/v1/policies/none", "/nowhere", "/metadata"]) {
      const { headers } = await app.get(path, { origin });
      assert.equal(headers.get(CORS[0]), origin, path);
      const exposed = (headers.get(CORS[1]) ?? "").toLowerCase().split(/, */);
      for (const name of ["etag", "x-request-id", "retry-after", "content-disposition"]) {
        assert.ok(exposed.includes(name), name);
      }
      assert.notEqual(headers.get("access-control-allow-credentials"), "true");
    }
    const preflight = await app.request("OPTIONS", "/api/v1/audit", undefined, {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,x-api-key",
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get(CORS[0]), origin);
    assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /\bPOST\b/);
    const named = (preflight.headers.get("access-control-allow-headers") ?? "").toLowerCase();
    assert.deepEqual(named.split(/, */).sort(), [
      "authorization",
      "content-encoding",
      "content-type",
      "if-none-match",
      "last-event-id",
      "x-api-key",
      "x-request-id",
      "x-runtime-client",
      "x-runtime-name",
    ]);
    assert.ok(Number(preflight.headers.get("access-control-max-age")) > 0);
  });
}

for (const origin of NOT_ALLOWED) {
  test(`a page of ${JSON.stringify(origin).slice(0, 50)} may not read answers`, async () => {
    const answer = await app.get("/api/public/fleet", { origin });
    assert.equal(answer.status, 200);
    for (const name of CORS) assert.equal(answer.headers.get(name), null);
    const preflight = await app.request("OPTIONS", "/api/v1/audit", undefined, {
      origin,
      "access-control-request-method": "POST",
    });
    for (const [name] of preflight.headers) assert.ok(!name.startsWith("access-control-"), name);
  });
}

test("a page may read the 404 and the 400 of an unknown path, since its preflight is answered", async () => {
  const origin = "https://x.pages.dev";
  for (const [path, status] of [
    ["/nowhere", 404],
    ["/api/v1/%zz", 400],
  ] as const) {
    const wanted = { "access-control-request-method": "PUT" };
    const { status: passed, headers } = await app.request("OPTIONS", path, undefined, {
      ...{ origin, ...wanted },
    });
    assert.deepEqual([passed, headers.get(CORS[0]), headers.get("allow")], [204, origin, null]);
    assert.match(headers.get("access-control-allow-methods") ?? "", /\bPUT\b/);
    for (const others of [{ origin }, wanted, { origin: "https://evil.example", ...wanted }]) {
      assert.equal((await app.request("OPTIONS", path, undefined, others)).status, status);
    }
    const refused = await app.request("PUT", path, undefined, { origin });
    assert.deepEqual([refused.status, refused.headers.get(CORS[0])], [status, origin]);
  }
});

test("two Authorization headers are refused if credentials count, and ignored otherwise", async (t) => {
  const connection = new Connection(Number(new URL(app.url).port));
  t.after(() => connection.socket.destroy());
  const send = async (path: string, ...lines: readonly string[]) => {
    connection.send(`GET ${path} HTTP/1.1`, "Host: localhost", ...lines, "", "");
    return connection.next();
  };
  const two = ["Authorization: Basic YTpi", "authoriZation: Bearer x"];
  const { status, body } = await send("/api/v1/fleet", ...two);
  assert.equal(status, 400);
  assert.deepEqual(JSON.parse(body), {
    error: "Authorization: expected one such header, not several",
  });
  assert.equal((await send("/api/v1/fleet", two[0] ?? "")).status, 200);
  assert.equal((await send("/api/public/fleet", ...two)).status, 200);
  assert.equal((await send("/api/v1/fleet", "X-API-Key: a", "X-API-Key: b")).status, 401);
});

test("a wildcard allows every origin", async (t) => {
  const open = await start(t, { corsOrigins: ["*"] });
  const { headers } = await open.get("/health", { origin: "https://any.example" });
  assert.ok(["*", "https://any.example"].includes(headers.get(CORS[0]) ?? ""));
});

test("401 and 404 responses have CORS headers too", async (t) => {
  const own = await start(t, { requireAuth: true });
  const origin = "https://x.pages.dev";
  const { status, headers } = await own.get("/api/v1/fleet", { origin });
  assert.deepEqual([status, headers.get(CORS[0])], [401, origin]);
  assert.match(headers.get(CORS[1]) ?? "", /WWW-Authenticate/i);
});

test("a sane request id comes back, another is replaced", async () => {
  const id = "abc-123_x.y";
  assert.equal((await app.get("/health", { "x-request-id": id })).headers.get("x-request-id"), id);
  for (const bad of ["", "a b", "x".repeat(1000), "<script>", "é", 'a"b']) {
    const { headers } = await app.get("/health", { "x-request-id": bad });
    assert.notEqual(headers.get("x-request-id"), bad);
  }
});

test("API answers are not stored by caches", async () => {
  for (const path of ["/api/public/fleet", "/api/v1/dashboard", "/health", "/nowhere"]) {
    assert.equal((await app.get(path)).headers.get("cache-control"), "no-store", path);
  }
});

for (const path of ["/health", "/api/public/fleet", "/api/v1/audit", "/openapi.yaml", "/nowhere"]) {
  test(`HEAD ${path} is GET without the body`, async () => {
    const [get, head] = [await app.get(path), await app.request("HEAD", path)];
    assert.equal(head.status, get.status);
    assert.equal(head.text, "");
    for (const name of ["content-type", "content-length", "vary", "cache-control", "etag"]) {
      assert.equal(head.headers.get(name), get.headers.get(name), name);
    }
  });
}

const METHODS: readonly (readonly [string, string, number, string?])[] = [
  ["POST", "/health", 405, "GET, HEAD, OPTIONS"],
  ["DELETE", "/api/v1/policies", 405, "GET, HEAD, OPTIONS, POST"],
  ["PUT", "/api/public/audit", 405, "GET, HEAD, OPTIONS, POST"],
  ["PATCH", "/api/v1/settings", 405, "GET, HEAD, OPTIONS, PUT"],
  ["GET", "/api/v1/auth/login", 405, "OPTIONS, POST"],
  ["OPTIONS", "/api/v1/settings", 204, "GET, HEAD, OPTIONS, PUT"],
  ["OPTIONS", "/nowhere", 404],
  ["GET", "/api", 404],
  ["GET", "/api/v1", 404],
  ["GET", "/api/v2/policies", 404],
  ["GET", "/API/v1/policies", 404],
  ["GET", "/health/", 404],
  ["GET", "//health", 404],
  ["GET", "/./health", 404],
  ["GET", "/api/v1/../v1/fleet", 404],
  ["GET", "/%zz", 400],
  ["PROPFIND", "/health", 405, "GET, HEAD, OPTIONS"],
];

for (const [method, path, status, allow] of METHODS) {
  test(`${method} ${path} is ${status}`, async () => {
    const answer = await app.request(method, path);
    assert.equal(answer.status, status, answer.text);
    const allowed = answer.headers.get("allow")?.split(/, */).sort().join(", ");
    assert.equal(allowed, allow);
  });
}

test("a connection may stay idle for longer than the 60 seconds of common proxies", async () => {
  const client = new Client();
  const { headers } = await client.request(app.url, "GET", "/health");
  assert.equal(headers.get("keep-alive"), "timeout=65");
  client.close();
});

test("a target in absolute form is read as its path", async () => {
  const client = new Client(); // the contract does not declare this path
  const target = "http://localhost:1/health?x=1";
  const { status, body } = await client.request(app.url, "GET", target);
  assert.deepEqual([status, body.status], [200, "ok"]);
  client.close();
});

for (const [type, status] of [
  ["application/json", 200],
  ["Application/JSON", 200],
  ["application/json; charset=utf-8", 200],
  ["application/json;charset=UTF-8;x=y", 200],
  [" application/json ", 200],
  ["text/plain", 415],
  ["application/x-www-form-urlencoded", 415],
  ["multipart/form-data; boundary=x", 415],
  ["application/jsonx", 415],
  ["application/ld+json", 415],
  ["text/json", 415],
  ["json", 415],
  ["", 415],
] as const) {
  test(`a body of the type "${type}" is ${status}`, async () => {
    const body = JSON.stringify({ name: "typed" });
    const answer = await app.post("/api/public/fleet/heartbeat", body, { "content-type": type });
    assert.equal(answer.status, status, answer.text);
  });
}
