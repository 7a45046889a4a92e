import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { fillIn, operationsOf, type Operation, type SchemaObject } from "../support/operations.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

// Every request here is refused, and nothing may be stored.
const app = await start({ after }, { ...ADMIN_SETTINGS, maxBodyBytes: 256 * 1024 });
const token = await app.asUser(ADMIN);
await app.post("/api/v1/policies", { yaml: "a: 1", version: "v1" });

const writes = (await operationsOf(app)).filter(({ body }) => body !== undefined);
assert.ok(writes.length > 0, "no operation takes a body");
const LISTS = ["policies", "audit", "fleet", "users", "organizations", "api-keys", "settings"];

async function everything(): Promise<string[]> {
  const answers = [];
  for (const list of LISTS) answers.push((await app.get(`/api/v1/${list}`, token)).text);
  return answers;
}

const before = await everything();

function send(
  { method, path }: Operation,
  body: unknown,
  headers: Record<string, string> = {},
): ReturnType<typeof app.request> {
  return app.request(method, fillIn(path), body, {
    ...(token as Record<string, string>),
    ...headers,
  });
}

const nested = (depth: number): string => '{"x":'.repeat(depth) + "1" + "}".repeat(depth);

const BODIES: readonly (readonly [string, string | Uint8Array, number, Record<string, string>?])[] =
  [
    ["nothing", "", 400],
    ["blanks", "  \n ", 400],
    ["text", "hello", 400],
    ["a number", "42", 400],
    ["null", "null", 400],
    ["a truth", "true", 400],
    ["a string", '"{}"', 400],
    ["a list", "[]", 400],
    ["an open object", '{"name":', 400],
    ["two values", "{} {}", 400],
    ["a trailing comma", '{"name":"x",}', 400],
    ["single quotes", "{'name':'x'}", 400],
    ["a comment", '{/* */"name":"x"}', 400],
    ["NaN", '{"name":NaN}', 400],
    ["a control character in a string", '{"name":"a\nb"}', 400],
    ["invalid UTF-8", Buffer.from('{"name":"\xff"}', "latin1"), 400],
    ["an overlong encoding", Buffer.from('{"name":"\xc0\xaf"}', "latin1"), 400],
    ["UTF-16", Buffer.from('{"name":"x"}', "utf16le"), 400],
    ["65 levels", nested(65), 400],
    ["100,000 open lists", "[".repeat(100_000), 400],
    ["too much", `{"x":"${"x".repeat(256 * 1024)}"}`, 413],
    ["gzip that is none", "{}", 400, { "content-encoding": "gzip" }],
    [
      "gzip cut short",
      gzipSync('{"name":"x"}').subarray(0, 15),
      400,
      { "content-encoding": "gzip" },
    ],
    ["a gzip bomb", gzipSync(Buffer.alloc(5_000_000, " ")), 413, { "content-encoding": "gzip" }],
    ["brotli", "{}", 415, { "content-encoding": "br" }],
    ["a form", "name=x", 415, { "content-type": "application/x-www-form-urlencoded" }],
    ["no type", "{}", 415, { "content-type": "" }],
    ["plain text, as a page sends it unasked", "{}", 415, { "content-type": "text/plain" }],
  ];

for (const [name, body, status, headers] of BODIES) {
  test(`a body of ${name} is ${status} everywhere`, async () => {
    for (const operation of writes) {
      const answer = await send(operation, body, headers);
      assert.equal(answer.status, status, `${operation.method} ${operation.path} ${answer.text}`);
      assert.ok(answer.body.error.length < 500);
      assert.match(answer.body.error, /^[A-Za-z][^\n]*[^.\s]$/);
    }
  });
}

test("no body at all is refused everywhere", async () => {
  for (const operation of writes) {
    const { status } = await send(operation, undefined);
    assert.ok(status === 400 || status === 415, `${operation.path}: ${status}`);
  }
});

test("64 levels are read", async () => {
  const validations = writes.filter(({ path }) => path.endsWith("/validate"));
  const body = `{"yaml":"a: 1","x":${nested(63)}}`;
  const answers = await Promise.all(validations.map((operation) => send(operation, body)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200], // on either prefix
  );
});

test("a JSON error has its place, and does not quote the body", async () => {
  const answer = await app.post("/api/v1/auth/login", '{\n  "password": "hunter2" oops\n}');
  assert.equal(answer.status, 400);
  assert.match(answer.body.error, /line 2/);
  assert.match(answer.body.error, /column \d+/);
  assert.ok(!answer.text.includes("hunter2") && !answer.text.includes("oops"));
});

/** A valid value for every field that a body requires. */
const RIGHT: Readonly<Record<string, unknown>> = {
  yaml: "a: 1",
  command: "ls",
  event: "e1",
  effect: "deny",
  name: "n",
  email: "new@example.com",
  password: "long enough 1",
  current: ADMIN.password,
  admin_email: "other@example.com",
  admin_password: "long enough 1",
  status: "offline",
  settings: [],
  version: "v9",
  stages: [{ percent: 5 }],
};

/** Invalid values for a field; a text is invalid as "unknown" only if the values are listed. */
function wrongFor(schema: SchemaObject): unknown[] {
  const types = [schema.type ?? "object"].flat();
  const values: readonly (readonly [string, unknown])[] = [
    ["string", "unknown"],
    ["integer", 7],
    ["number", 7.5],
    ["boolean", true],
    ["array", ["x"]],
    ["object", { a: 1 }],
  ];
  const wrong = values
    .filter(([type]) => !types.includes(type) || (type === "string" && schema.enum !== undefined))
    .map(([, value]) => value);
  if (!types.includes("array")) return wrong;
  const { items } = schema;
  const isAnyObject = items?.type === "object" && (items.required ?? []).length === 0;
  return [...wrong, [1], [null], [[]], ...(isAnyObject ? [] : [[{ key: 1 }]])];
}

/** The schemas of which a value must match one: the schema itself, or its alternatives. */
function alternatives(schema: SchemaObject): readonly SchemaObject[] {
  return schema.anyOf ? schema.anyOf.flatMap(alternatives) : [schema];
}

for (const operation of writes) {
  for (const schema of alternatives(operation.body ?? {})) {
    const fields = Object.entries(schema.properties ?? {});
    for (const [field, one] of fields) {
      test(`${operation.method} ${operation.path}: a wrong ${field} is 400 and named`, async () => {
        const required = (schema.required ?? []).map((name) => [name, RIGHT[name]] as const);
        for (const value of wrongFor(one)) {
          const body = { ...Object.fromEntries(required), [field]: value };
          const answer = await send(operation, body);
          assert.equal(answer.status, 400, `${JSON.stringify(value)}: ${answer.text}`);
          assert.ok(answer.body.error.includes(field), answer.body.error);
        }
      });
    }
    for (const field of schema.required ?? []) {
      test(`${operation.method} ${operation.path}: without ${field} it is 400`, async () => {
        for (const value of [undefined, null, ...(field === "settings" ? [] : [""])]) {
          const required = (schema.required ?? []).map((name) => [name, RIGHT[name]] as const);
          const answer = await send(operation, { ...Object.fromEntries(required), [field]: value });
          assert.equal(answer.status, 400, answer.text);
        }
      });
    }
  }
}

const RAW: readonly (readonly [string, string, RegExp])[] = [
  ["no Host", "GET /health HTTP/1.1\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["two Hosts", "GET /health HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["no HTTP", "HELLO\r\n\r\n", /^HTTP\/1\.1 400 /],
  ["a wrong version", "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", /^HTTP\/1\.1 (400|505) /],
  [
    "large headers",
    `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(70_000)}\r\n\r\n`,
    / 431 /,
  ],
  [
    "two lengths",
    "POST /api/public/audit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    / 400 /,
  ],
  [
    "a length and chunks",
    "POST /api/public/audit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    / 400 /,
  ],
  ["a strange expectation", "GET / HTTP/1.1\r\nHost: localhost\r\nExpect: cake\r\n\r\n", / 417 /],
  ["a null byte", "GET /\u0000 HTTP/1.1\r\nHost: localhost\r\n\r\n", / 400 /],
];

for (const [name, text, wanted] of RAW) {
  test(`raw HTTP with ${name} gets an error as JSON`, async () => {
    const answer = await raw(text);
    assert.match(answer, wanted);
    assert.match(answer, /\r\nContent-Type: application\/json; charset=utf-8\r\n/i);
    assert.match(answer, /\r\n\r\n\{"error":"[^"]+"\}$/);
  });
}

/** Sends bytes unchanged, and returns everything until the service closes, or for half a second. */
async function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    answer += chunk;
    if (answer.includes('"}')) socket.end();
  });
  socket.on("error", () => {});
  socket.write(text);
  await new Promise((resolve) => socket.once("close", resolve));
  return answer;
}

test("after all that, nothing has been stored", async () => {
  const now = await everything();
  for (const [i, list] of LISTS.entries()) assert.equal(now[i], before[i], list);
  await app.restart();
  assert.deepEqual(await everything(), before);
});
