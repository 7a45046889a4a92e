import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { NotFound, Unauthenticated } from "../../src/core/errors.ts";
import type { Credentials } from "../../src/core/caller.ts";
import { later, reply, text, type Settle } from "../../src/http/reply.ts";
import { route } from "../../src/http/route.ts";
import { ORIGIN, serve, until } from "./serve.ts";

const thing = {
  type: "object",
  required: ["id"],
  properties: { id: { type: "string", description: "Which" } },
} as const;
const free = { type: "object", additionalProperties: true } as const;

const common = { surfaces: ["public", "v1"], summary: "s", tags: ["t"] } as const;

const rows = [
  route({
    ...common,
    method: "GET",
    path: "/things",
    access: "open",
    query: { limit: { type: "integer", minimum: 1, default: 7 }, q: { type: "string" } },
    headers: { "X-Runtime-Client": { type: "string" } },
    replies: { 200: free },
    handle: ({ organization, actor, surface, query, headers, address, requestId }) => ({
      organization,
      actor,
      surface,
      query,
      headers,
      address,
      requestId,
    }),
  }),
  route({
    ...common,
    method: "POST",
    path: "/things",
    access: "user",
    role: "operator",
    body: thing,
    replies: { 201: thing },
    handle: ({ body }) => reply(201, body),
  }),
  route({
    ...common,
    method: "GET",
    path: "/things/{id}",
    access: "user",
    keys: "audit.read",
    replies: { 200: thing },
    handle: ({ params }) => ({ id: params.id }),
  }),
  route({
    ...common,
    method: "POST",
    path: "/things/check",
    access: "open",
    body: thing,
    replies: { 200: thing },
    report: true,
    handle: ({ body }) => body,
  }),
];

function row(handle: () => never | Promise<never>, path = "/odd") {
  return route({
    ...common,
    method: "GET",
    path,
    access: "open",
    replies: { 200: free },
    handle: handle as () => never,
  });
}

async function errorOf(response: Response): Promise<string> {
  assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
  const body = (await response.json()) as { error: string };
  assert.deepEqual(Object.keys(body), ["error"]);
  return body.error;
}

test("every response, including refusals, carries the common headers", async (t) => {
  const { url } = await serve(t, rows);
  for (const [method, path] of [
    ["GET", "/api/v1/things"],
    ["GET", "/nowhere"],
    ["DELETE", "/api/v1/things"],
    ["OPTIONS", "/api/v1/things"],
    ["POST", "/api/v1/things"],
    ["GET", "/api/v1/things/%ff"],
  ] as const) {
    const { headers } = await fetch(url + path, { method });
    assert.equal(headers.get("x-content-type-options"), "nosniff", path);
    assert.match(headers.get("x-request-id") ?? "", /^id-\d+$/);
    assert.equal(headers.get("vary"), "Origin");
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("access-control-allow-origin"), null);
  }
});

test("a path that does not match a row exactly is a 404", async (t) => {
  const { url } = await serve(t, rows);
  for (const path of [
    "/",
    "/things",
    "/api/v1/things/",
    "/api/v1/things//",
    "/api/v1/Things",
    "/api/v1/things/a/b",
    "/api/v1//things",
    "//api/v1/things",
    "/api/v1/%74hings",
    "/api/v2/things",
    "/api/v1/{id}",
    "/__proto__",
    "/constructor",
  ]) {
    const response = await fetch(url + path);
    assert.equal(response.status, 404, path);
    assert.equal(await errorOf(response), "There is nothing at this path");
  }
});

for (const [method, path, allow] of [
  ["DELETE", "/api/v1/things", "GET, HEAD, POST, OPTIONS"],
  ["PUT", "/api/public/things/7", "GET, HEAD, OPTIONS"],
  ["PATCH", "/api/v1/things/check", "POST, GET, HEAD, OPTIONS"],
  ["PROPFIND", "/api/v1/things", "GET, HEAD, POST, OPTIONS"],
] as const) {
  test(`${method} ${path} is a 405 that allows ${allow}`, async (t) => {
    const { url } = await serve(t, rows);
    const response = await fetch(url + path, { method });
    assert.equal(response.status, 405);
    assert.equal(response.headers.get("allow"), allow);
    assert.match(await errorOf(response), new RegExp(`"${method}", only ${allow}$`));
  });
}

test("HEAD is GET without the body, and the connection stays in step", async (t) => {
  const { url, open } = await serve(t, rows);
  const get = await fetch(`${url}/api/v1/things`);
  const length = String((await get.arrayBuffer()).byteLength);
  const connection = open();
  for (let i = 0; i < 3; i++) {
    connection.send("HEAD /api/v1/things HTTP/1.1", "Host: test", "", "");
    const head = await connection.next("HEAD");
    assert.equal(head.status, 200);
    assert.equal(head.headers.get("content-length"), length);
    assert.equal(head.headers.get("content-type"), "application/json; charset=utf-8");
  }
  connection.send("HEAD /nowhere HTTP/1.1", "Host: test", "", "");
  assert.equal((await connection.next("HEAD")).status, 404);
  connection.send("GET /api/v1/things/a HTTP/1.1", "Host: test", "", "");
  assert.equal((await connection.next()).body, '{"id":"a"}');
});

test("OPTIONS without CORS headers is a 204 with the path's methods", async (t) => {
  const { url } = await serve(t, rows);
  const response = await fetch(`${url}/api/v1/things`, { method: "OPTIONS" });
  assert.equal(response.status, 204);
  assert.equal(response.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
  assert.equal(response.headers.get("access-control-allow-methods"), null);
  assert.equal((await fetch(`${url}/nowhere`, { method: "OPTIONS" })).status, 404);
});

test("OPTIONS * describes the server, and other methods on * are refused", async (t) => {
  const { open } = await serve(t, rows);
  const connection = open();
  connection.send("OPTIONS * HTTP/1.1", "Host: test", "", "");
  const { status, headers } = await connection.next();
  assert.equal(status, 204);
  assert.equal(headers.get("allow"), "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  connection.send("GET * HTTP/1.1", "Host: test", "", "");
  assert.equal((await connection.next()).status, 404);
});

function preflight(origin: string): RequestInit {
  const wanted = { "access-control-request-method": "POST" };
  return { method: "OPTIONS", headers: { origin, ...wanted } };
}

for (const origin of [ORIGIN, "https://preview-7.signalbox.pages.dev"]) {
  test(`a preflight from ${origin} gets the allowed methods and headers`, async (t) => {
    const { url } = await serve(t, rows);
    const { status, headers } = await fetch(`${url}/api/v1/things`, preflight(origin));
    assert.equal(status, 204);
    assert.equal(headers.get("access-control-allow-origin"), origin);
    assert.equal(headers.get("access-control-allow-methods"), "GET, HEAD, POST, OPTIONS");
    assert.equal(
      headers.get("access-control-allow-headers"),
      "Authorization, Content-Type, Content-Encoding, X-API-Key, X-Runtime-Client, X-Runtime-Name, If-None-Match, Last-Event-ID, X-Request-Id",
    );
    assert.match(headers.get("access-control-max-age") ?? "", /^\d+$/);
    assert.equal(headers.get("access-control-allow-credentials"), null);
    assert.equal(headers.get("vary"), "Origin");
  });
}

test("a disallowed origin gets the response without CORS headers", async (t) => {
  const { url } = await serve(t, rows);
  for (const origin of ["https://evil.example", "null", `${ORIGIN}.evil.example`]) {
    for (const init of [preflight(origin), { headers: { origin } }]) {
      const response = await fetch(`${url}/api/v1/things`, init);
      assert.ok(response.ok);
      const names = [...response.headers.keys()];
      assert.deepEqual(
        names.filter((name) => name.startsWith("access-control-")),
        [],
      );
      assert.equal(response.headers.get("vary"), "Origin");
    }
  }
});

test("an allowed origin may read every kind of refusal", async (t) => {
  const odd = row(() => {
    throw new Error("defect");
  });
  const { url } = await serve(t, [...rows, odd], {
    resolveCaller({ role }) {
      if (role === "operator") throw new Unauthenticated("Sign in");
      return { organization: "default", actor: undefined };
    },
  });
  for (const [method, path, status] of [
    ["GET", "/nowhere", 404],
    ["DELETE", "/api/v1/things", 405],
    ["POST", "/api/v1/things", 401],
    ["POST", "/api/v1/things/check", 400],
    ["GET", "/api/v1/odd", 500],
  ] as const) {
    const response = await fetch(url + path, { method, headers: { origin: ORIGIN } });
    assert.equal(response.status, status, path);
    assert.equal(response.headers.get("access-control-allow-origin"), ORIGIN);
    assert.equal(
      response.headers.get("access-control-expose-headers"),
      "ETag, X-Request-Id, Retry-After, Content-Disposition, WWW-Authenticate",
    );
  }
});

for (const [target, id] of [
  ["http://proxy.example/api/v1/things/a", "a"],
  ["HTTPS://proxy.example:8443/api/v1/things/a?x=http://y/z", "a"],
  ["http://user@[::1]:80/api/v1/things/http%3A%2F%2Fb", "http://b"],
] as const) {
  test(`the absolute target ${target} is read as its path`, async (t) => {
    const { open } = await serve(t, rows);
    const connection = open();
    connection.send(`GET ${target} HTTP/1.1`, "Host: test", "", "");
    const { status, body } = await connection.next();
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(body), { id });
  });
}

test("an absolute target without a host is a 400", async (t) => {
  const connection = (await serve(t, rows)).open();
  connection.send("GET http:///api/v1/things/a HTTP/1.1", "Host: test", "", "");
  assert.equal((await connection.next()).status, 400);
});

test("an absolute target keeps its query, and without a path it is the root", async (t) => {
  const { open } = await serve(t, rows);
  const connection = open();
  connection.send("GET http://a/api/v1/things?limit=3&q=%26 HTTP/1.1", "Host: test", "", "");
  const { body } = await connection.next();
  assert.deepEqual((JSON.parse(body) as { query: unknown }).query, { limit: 3, q: "&" });
  for (const target of ["http://a", "http://a?limit=3"]) {
    connection.send(`GET ${target} HTTP/1.1`, "Host: test", "", "");
    assert.equal((await connection.next()).status, 404);
  }
});

test("a segment is percent-decoded once, including slashes and dots", async (t) => {
  const { url } = await serve(t, rows);
  for (const id of ["a/b", "..", "%41", "ä€😀", " ", "\u0000", "{id}", "a?b#c", "__proto__"]) {
    const segment = encodeURIComponent(id).replaceAll(".", "%2E");
    const response = await fetch(`${url}/api/v1/things/x${segment}`);
    assert.deepEqual(await response.json(), { id: `x${id}` });
  }
});

test("an invalid percent-encoding is a 400, anywhere in the path", async (t) => {
  const { open } = await serve(t, rows);
  const connection = open();
  for (const path of ["/api/v1/things/%", "/api/v1/things/%zz", "/%E4", "/%C0%AF", "/%ED%A0%80"]) {
    for (const method of ["GET", "OPTIONS"]) {
      connection.send(`${method} ${path} HTTP/1.1`, "Host: test", "", "");
      const { status, body } = await connection.next();
      assert.equal(status, 400, path);
      assert.match(body, /percent-encoding/);
    }
  }
});

const HOSTS: readonly (readonly [version: string, ...hosts: string[]])[] = [
  ["1.1"],
  ...["1.0", "1.1"].flatMap((version): [string, ...string[]][] => [
    [version, "Host: a", "Host: a"],
    [version, "Host: a", "hOST: b"],
  ]),
];

test("HTTP/1.1 requires exactly one Host, HTTP/1.0 at most one", async (t) => {
  const { open } = await serve(t, rows);
  for (const [version, ...hosts] of HOSTS) {
    const connection = open();
    connection.send(`GET /api/v1/things/a HTTP/${version}`, ...hosts, "", "");
    const { status, body, headers } = await connection.next();
    assert.equal(status, 400);
    assert.deepEqual(JSON.parse(body), { error: "Exactly one Host header is required" });
    assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  }
  const empty = open();
  empty.send("GET /api/v1/things/a HTTP/1.1", "Host:", "", "");
  assert.equal((await empty.next()).status, 200);
  const old = open();
  old.send("GET /api/v1/things/a HTTP/1.0", "", "");
  assert.equal((await old.next()).status, 200);
  await old.ended();
});

test("a sane request id is echoed and reaches the handler", async (t) => {
  const { url, summaries } = await serve(t, rows);
  for (const id of ["a", "01JD-x_y.z:/+=", "x".repeat(128)]) {
    const response = await fetch(`${url}/api/v1/things`, { headers: { "x-request-id": id } });
    assert.equal(response.headers.get("x-request-id"), id);
    assert.equal(((await response.json()) as { requestId: string }).requestId, id);
    assert.equal(summaries.at(-1)?.requestId, id);
  }
});

test("any other request id is replaced", async (t) => {
  const { open } = await serve(t, rows);
  const connection = open();
  const quoted = '"><script>';
  for (const ids of [[""], ["x".repeat(129)], ["a b"], [quoted], ["é"], ["a,b"], ["a", "b"]]) {
    const lines = ids.map((id) => `X-Request-Id: ${id}`);
    connection.send("GET /api/v1/things/a HTTP/1.1", "Host: test", ...lines, "", "");
    assert.match((await connection.next()).headers.get("x-request-id") ?? "", /^id-\d+$/);
  }
});

test("the handler gets its row's query and headers, and no others", async (t) => {
  const { url } = await serve(t, rows);
  const response = await fetch(`${url}/api/public/things?q=a%20b&limit=2&other=1&q=c`, {
    headers: { "x-runtime-client": "cli", "x-other": "1" },
  });
  const body = (await response.json()) as Record<string, unknown>;
  assert.deepEqual(body["query"], { q: "a b", limit: 2 });
  assert.deepEqual(body["headers"], { "X-Runtime-Client": "cli" });
  assert.equal(body["surface"], "public");
  assert.equal(body["organization"], "default");
});

test("an invalid parameter is a 400", async (t) => {
  const { url } = await serve(t, rows);
  const response = await fetch(`${url}/api/v1/things?limit=x`);
  assert.equal(response.status, 400);
  assert.equal(await errorOf(response), "limit: expected a whole number of at least 1");
});

for (const [proxies, forwarded, expected] of [
  [0, "1.1.1.1", "127.0.0.1"],
  [1, "1.1.1.1, 2.2.2.2", "2.2.2.2"],
  [2, "1.1.1.1,2.2.2.2", "1.1.1.1"],
  [3, "1.1.1.1, 2.2.2.2", "127.0.0.1"],
  [1, "", "127.0.0.1"],
  [1, "2.2.2.2:50123", "2.2.2.2"],
  [1, "2001:db8::7", "2001:db8::7"],
  [1, "[2001:db8::7]", "2001:db8::7"],
  [1, "[2001:db8::7]:50123", "2001:db8::7"],
  [1, "2001:DB8:0::0:7", "2001:db8::7"],
  [1, "::ffff:2.2.2.2", "2.2.2.2"],
  [1, "[::FFFF:202:202]:50123", "2.2.2.2"],
  [1, "0:0:0:0:0:ffff:2.2.2.2", "2.2.2.2"],
  [1, "unknown", "127.0.0.1"],
  [1, "2.2.2.2:x", "127.0.0.1"],
  [1, "2.2.2.999", "127.0.0.1"],
  [1, "[2001:db8::7", "127.0.0.1"],
  [2, "1.1.1.1 3.3.3.3, 2.2.2.2", "127.0.0.1"],
] as const) {
  test(`with ${proxies} trusted proxies "${forwarded}" is ${expected}`, async (t) => {
    const { url } = await serve(t, rows, { trustedProxies: proxies });
    const headers = { "x-forwarded-for": forwarded };
    const response = await fetch(`${url}/api/v1/things`, { headers });
    assert.equal(((await response.json()) as { address: string }).address, expected);
  });
}

test("credentials go to the resolver with access and surface, and the caller to the handler", async (t) => {
  const asked: [string, string, Credentials][] = [];
  const actor = { kind: "user", id: "u", email: "e@x", role: "admin" } as const;
  const { url } = await serve(t, rows, {
    resolveCaller({ access }, surface, credentials) {
      asked.push([access, surface, credentials]);
      return Promise.resolve({ organization: "acme", actor });
    },
  });
  const headers = { authorization: "Bearer t", "x-api-key": "k" };
  const response = await fetch(`${url}/api/v1/things`, { headers });
  const body = (await response.json()) as Record<string, unknown>;
  assert.equal(body["organization"], "acme");
  assert.deepEqual(body["actor"], actor);
  assert.deepEqual(asked, [["open", "v1", { authorization: "Bearer t", apiKey: "k" }]]);
});

for (const [kind, fail] of [
  ["thrown", () => assert.fail(new Unauthenticated("Sign in"))],
  ["rejected", () => Promise.reject(new Unauthenticated("Sign in"))],
] as const) {
  test(`credentials refused (${kind}) are a 401, after 404 and 405, before 415 and 400`, async (t) => {
    const { url } = await serve(t, rows, { resolveCaller: fail });
    const status = async (method: string, path: string, init: RequestInit = {}) =>
      (await fetch(url + path, { ...init, method })).status;
    assert.equal(await status("GET", "/nowhere"), 404);
    assert.equal(await status("DELETE", "/api/v1/things"), 405);
    assert.equal(await status("POST", "/api/v1/things", { body: "x" }), 401);
    assert.equal(await status("GET", "/api/v1/things?limit=x"), 401);
    const response = await fetch(`${url}/api/v1/things`);
    assert.equal(response.headers.get("www-authenticate"), 'Bearer realm="signalbox"');
    assert.equal(await errorOf(response), "Sign in");
  });
}

const answers: Readonly<Record<string, () => unknown>> = {
  "a plain value": () => ({ a: 1 }),
  "a promise": () => Promise.resolve({ a: 1 }),
  "a promise that waits": async () => {
    await turn();
    return { a: 1 };
  },
  "an answer by call-back": () => later((settle) => setImmediate(settle, undefined, { a: 1 })),
};
for (const [kind, handle] of Object.entries(answers)) {
  test(`${kind} is sent, and reported once`, async (t) => {
    const { url, summaries } = await serve(t, [row(handle as () => never)]);
    const response = await fetch(`${url}/api/v1/odd`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { a: 1 });
    assert.equal(summaries.length, 1);
    assert.equal(summaries[0]?.error, undefined);
  });
}

function failures(error: unknown): Readonly<Record<string, () => unknown>> {
  const thrower = () => {
    throw error;
  };
  return {
    thrown: thrower,
    rejected: () => Promise.reject(error as Error),
    "thrown later": async () => {
      await turn();
      throw error;
    },
    settled: () => later((settle) => settle(error)),
    "settled later": () => later((settle) => setImmediate(settle, error)),
    "thrown by what settles": () => later(thrower),
  };
}

for (const [kind, handle] of Object.entries(failures(new NotFound("No such thing")))) {
  test(`a refusal that is ${kind} is sent with its status and message`, async (t) => {
    const { url, summaries } = await serve(t, [row(handle as () => never)]);
    const response = await fetch(`${url}/api/v1/odd`);
    assert.equal(response.status, 404);
    assert.equal(await errorOf(response), "No such thing");
    assert.equal(summaries.length, 1);
  });
}

const defect = new Error("secret at /var/lib/secret", { cause: new Error("hunter2") });
for (const [kind, handle] of Object.entries(failures(defect))) {
  test(`a defect that is ${kind} is a bare 500, and its error is reported`, async (t) => {
    const { url, summaries } = await serve(t, [row(handle as () => never)]);
    const response = await fetch(`${url}/api/v1/odd`);
    assert.equal(response.status, 500);
    assert.equal(await errorOf(response), "The service failed to answer this request");
    assert.doesNotMatch(JSON.stringify([...response.headers]), /secret|hunter|listener/);
    assert.deepEqual(
      summaries.map(({ status, error }) => [status, error]),
      [[500, defect]],
    );
  });
}

const looped: Record<string, unknown> = {};
looped["self"] = looped;
for (const [what, answer] of [
  ["a value that is no JSON", looped],
  ["a number that is no JSON", { n: 1n }],
  ["a header that HTTP has no way to send", text(200, "text/plain", "a", ["X-A", "a\r\nX-B: b"])],
  ["a header with a character beyond Latin-1", text(200, "text/plain", "a", ["X-A", "€"])],
] as const) {
  test(`${what} is a bare 500`, async (t) => {
    const { url, summaries } = await serve(t, [row(() => answer as never)]);
    const response = await fetch(`${url}/api/v1/odd`);
    assert.equal(response.status, 500);
    assert.equal(response.headers.get("x-a"), null);
    assert.equal(await errorOf(response), "The service failed to answer this request");
    assert.deepEqual(
      summaries.map(({ status }) => status),
      [500],
    );
  });
}

test("only the first answer counts", async (t) => {
  const settles: Settle[] = [];
  const deferred = () => later((settle) => settles.push(settle)) as never;
  const { open, summaries } = await serve(t, [row(deferred), ...rows]);
  const connection = open();
  connection.send("GET /api/v1/odd HTTP/1.1", "Host: test", "", "");
  await until(() => settles.length === 1);
  settles[0]?.(undefined, { first: true });
  settles[0]?.(undefined, { second: true });
  settles[0]?.(new Error("too late"));
  assert.equal((await connection.next()).body, '{"first":true}');
  settles[0]?.(undefined, { third: true });
  connection.send("GET /api/v1/things/a HTTP/1.1", "Host: test", "", "");
  assert.equal((await connection.next()).body, '{"id":"a"}');
  assert.equal(summaries.length, 2);
});

test("a throw after the answer does not replace it", async (t) => {
  const handle = () =>
    later((settle) => {
      settle(undefined, { a: 1 });
      throw new Error("too late");
    }) as never;
  const { url, summaries } = await serve(t, [row(handle)]);
  assert.deepEqual(await (await fetch(`${url}/api/v1/odd`)).json(), { a: 1 });
  assert.equal(summaries.length, 1);
});

test("an answer for a disconnected client does no harm", async (t) => {
  const settles: Settle[] = [];
  const deferred = () => later((settle) => settles.push(settle)) as never;
  const { open, url, requests, summaries } = await serve(t, [row(deferred), ...rows]);
  const connection = open();
  connection.send("GET /api/v1/odd HTTP/1.1", "Host: test", "", "");
  await until(() => settles.length === 1);
  connection.socket.destroy();
  await until(() => requests[0]?.destroyed === true);
  settles[0]?.(undefined, { late: true });
  assert.equal((await fetch(`${url}/api/v1/things`)).status, 200);
  assert.equal(summaries.length, 2);
});

test("pipelined requests are answered in their order", async (t) => {
  const slow = row(async () => {
    await turn();
    return { slow: true } as never;
  });
  const { open } = await serve(t, [slow, ...rows]);
  const connection = open();
  const get = (path: string) => [`GET ${path} HTTP/1.1`, "Host: test", "", ""].join("\r\n");
  connection.send(get("/api/v1/odd") + get("/api/v1/things/2") + get("/nowhere"));
  assert.equal((await connection.next()).body, '{"slow":true}');
  assert.equal((await connection.next()).body, '{"id":"2"}');
  assert.equal((await connection.next()).status, 404);
});

test("a summary names the row with its prefix, and whether it is a change", async (t) => {
  const { url, summaries } = await serve(t, rows);
  const post = (path: string) =>
    fetch(url + path, {
      method: "POST",
      body: '{"id":"a"}',
      headers: { "content-type": "application/json" },
    });
  await fetch(`${url}/api/public/things/secret?q=secret`);
  await post("/api/v1/things");
  await post("/api/v1/things/check");
  await fetch(`${url}/nowhere/secret`);
  const told = summaries.map(({ method, route: path, status, isChange, organization }) => [
    method,
    path,
    status,
    isChange,
    organization,
  ]);
  assert.deepEqual(told, [
    ["GET", "/api/public/things/{id}", 200, false, "default"],
    ["POST", "/api/v1/things", 201, true, "default"],
    ["POST", "/api/v1/things/check", 200, false, "default"],
    ["GET", undefined, 404, false, undefined],
  ]);
});
