import assert from "node:assert/strict";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { ADMIN, ADMIN_SETTINGS, start, START_TIME } from "../support/start.ts";

// The stored form of an ingested event. Every test uses its own ids or commands.
const app = await start({ after }, ADMIN_SETTINGS);

const FULL = {
  id: "full-1",
  timestamp: "2026-11-20T21:00:00.123+02:00",
  command: "kubectl get pods -n web",
  executor: "ada",
  consumer: "ci",
  ai: true,
  provider: "kubernetes",
  capability: "kubernetes/list_pods",
  resource: "web",
  policy_decision: "ALLOWED",
  policy: "v1",
  reason: "read-only",
  status: "completed",
  message: "3 pods",
  duration_ms: 12,
  runtime_name: "r1",
  runtime_version: "2.0",
  runtime_context: "shell",
  trace_id: "t-1",
  transport: "http",
};

test("every given field is kept, and listed", async () => {
  const answer = await app.post("/api/public/audit", FULL);
  const stored = {
    ...FULL,
    timestamp: "2026-11-20T19:00:00.123Z",
    organization_id: "default",
    ingested_at: START_TIME,
  };
  assert.equal(answer.status, 202);
  assert.deepEqual(answer.body, stored);
  const { body } = await app.get("/api/public/audit?q=kubectl%20get%20pods%20-n%20web");
  assert.deepEqual(body, { events: [stored], limit: 100, offset: 0, returned: 1, total: 1 });
});

test("all other fields of a one-word command are derived", async () => {
  const { status, body } = await app.post("/api/v1/audit", { command: "whoami" });
  const { id, ...rest } = body;
  assert.equal(status, 202);
  assert.match(id, /^[\x21-\x7e]{1,128}$/);
  assert.deepEqual(rest, {
    organization_id: "default",
    timestamp: START_TIME,
    ingested_at: START_TIME,
    command: "whoami",
    consumer: "human",
    ai: false,
    provider: "whoami",
    status: "unknown",
  });
});

const DERIVED: readonly (readonly [string, object, object])[] = [
  ["the provider is the first word", { command: "  terraform   plan" }, { provider: "terraform" }],
  ["words end at tabs too", { command: "git\tpush" }, { provider: "git" }],
  ["a given provider stays", { command: "git push", provider: "forge" }, { provider: "forge" }],
  ["an empty provider is none", { command: "git push", provider: "" }, { provider: "git" }],
  ["a null provider is none", { command: "git push", provider: null }, { provider: "git" }],
  ["no command, no provider", { executor: "ada" }, { provider: undefined, command: undefined }],
  ["ai makes the consumer", { command: "ls", ai: true }, { ai: true, consumer: "ai" }],
  ["no ai, a human", { command: "ls", ai: false }, { ai: false, consumer: "human" }],
  ["the consumer makes ai", { command: "ls", consumer: "ai" }, { ai: true, consumer: "ai" }],
  ["ci is not ai", { command: "ls", consumer: "ci" }, { ai: false, consumer: "ci" }],
  ["both given, both kept", { consumer: "ai", ai: false }, { ai: false, consumer: "ai" }],
  ["ai in ci stays", { consumer: "ci", ai: true }, { ai: true, consumer: "ci" }],
  ["consumers in any case", { consumer: "Human" }, { consumer: "human" }],
  ["consumers in any case, AI", { consumer: "AI" }, { consumer: "ai", ai: true }],
  ["an allowed decision", decided("ALLOWED"), { policy_decision: "ALLOWED", status: "allowed" }],
  ["allow", decided("allow"), { policy_decision: "ALLOWED", status: "allowed" }],
  ["Allow", decided("Allow"), { policy_decision: "ALLOWED", status: "allowed" }],
  ["denied", decided("denied"), { policy_decision: "DENIED", status: "denied" }],
  ["DENY", decided("DENY"), { policy_decision: "DENIED", status: "denied" }],
  ["no decision", { command: "ls" }, { policy_decision: undefined, status: "unknown" }],
  ["a status beside a decision", { ...decided("deny"), status: "failed" }, { status: "failed" }],
  ["the alias user", { user: "ada" }, { executor: "ada" }],
  ["the alias tool", { tool: "helm" }, { provider: "helm" }],
  ["a tool beside a command", { command: "git push", tool: "x" }, { provider: "x" }],
  ["the alias repository", { repository: "acme/web" }, { resource: "acme/web" }],
  ["the alias decision", { decision: "deny" }, { policy_decision: "DENIED", status: "denied" }],
  ["the alias runtimeVersion", { runtimeVersion: "1" }, { runtime_version: "1" }],
  ["the alias runtimeName", { runtimeName: "r" }, { runtime_name: "r" }],
  ["the alias policyVersion", { policyVersion: "v9" }, { policy: "v9" }],
  ["the alias traceId", { traceId: "t" }, { trace_id: "t" }],
  ["the alias durationMs", { durationMs: 0 }, { duration_ms: 0 }],
  ["the canonical name wins", { user: "b", executor: "a" }, { executor: "a", user: undefined }],
  ["an alias beside null counts", { user: "b", executor: null }, { executor: "b" }],
  ["unknown fields are dropped", { command: "ls", colour: "red" }, { colour: undefined }],
  [
    "the server's own fields are the server's",
    { command: "ls", organization_id: "other", ingested_at: "2001-01-01T00:00:00Z" },
    { organization_id: "default", ingested_at: START_TIME },
  ],
  ["lone surrogates are replaced", { command: "a \ud800" }, { command: "a \ufffd" }],
  [
    "__proto__ is inert",
    JSON.parse('{"command":"ls","__proto__":{"executor":"eve"}}'),
    {
      executor: undefined,
    },
  ],
];

function decided(policy_decision: string): object {
  return { command: "ls", policy_decision };
}

for (const [name, given, wanted] of DERIVED) {
  test(`ingest: ${name}`, async () => {
    const { status, body, text } = await app.post("/api/public/audit", given);
    assert.equal(status, 202, text);
    for (const [field, value] of Object.entries(wanted)) assert.equal(body[field], value, text);
    for (const alias of ["user", "tool", "repository", "decision", "durationMs", "traceId"]) {
      assert.ok(!Object.hasOwn(body, alias), text);
    }
  });
}

const TIMES: readonly (readonly [string, string])[] = [
  ["2026-11-20T20:30:00Z", "2026-11-20T20:30:00.000Z"],
  ["2026-11-20t20:30:00z", "2026-11-20T20:30:00.000Z"],
  ["2026-11-20 20:30:00Z", "2026-11-20T20:30:00.000Z"],
  ["2026-11-20T20:30:00.5Z", "2026-11-20T20:30:00.500Z"],
  ["2026-11-20T20:30:00.123456789Z", "2026-11-20T20:30:00.123Z"],
  ["2026-11-20T20:30:00-05:30", "2026-11-21T02:00:00.000Z"],
  ["2026-11-20T20:30:00+23:59", "2026-11-19T20:31:00.000Z"],
  ["2026-11-20T20:30:00-00:00", "2026-11-20T20:30:00.000Z"],
  ["2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999Z"],
  ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
  ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z"],
  ["0099-01-01T00:00:00Z", "0099-01-01T00:00:00.000Z"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
];

for (const [given, wanted] of TIMES) {
  test(`the timestamp ${given} is stored as ${wanted}`, async () => {
    const { body } = await app.post("/api/public/audit", { timestamp: given, command: "date" });
    assert.equal(body.timestamp, wanted);
  });
}

for (const timestamp of [
  "2026-02-30T00:00:00Z",
  "2025-02-29T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-00-10T00:00:00Z",
  "2026-11-20T24:00:00Z",
  "2026-11-20T20:60:00Z",
  "2026-11-20T20:30:61Z",
  "2026-11-20T20:30:00",
  "2026-11-20T20:30Z",
  "2026-11-20",
  "2026-11-20T20:30:00+0200",
  "2026-11-20T20:30:00+24:00",
  "2026-11-20T20:30:00.Z",
  "20261120T203000Z",
  "yesterday",
  "+002026-11-20T20:30:00Z",
  " 2026-11-20T20:30:00Z",
  1_700_000_000_000,
]) {
  test(`the timestamp ${JSON.stringify(timestamp)} is refused`, async () => {
    const { status, body } = await app.post("/api/public/audit", { timestamp, command: "date" });
    assert.equal(status, 400);
    assert.match(body.error, /^timestamp: /);
  });
}

const MIB = 1024 * 1024;

for (const [field, limit] of [
  ["command", MIB],
  ["message", MIB],
  ["reason", MIB],
  ["executor", 64 * 1024],
  ["resource", 64 * 1024],
  ["trace_id", 64 * 1024],
] as const) {
  test(`${field} accepts ${limit} bytes and refuses one more`, async () => {
    const fits = await app.post("/api/public/audit", { [field]: "x".repeat(limit), q: "big" });
    assert.equal(fits.status, 202);
    const refused = await app.post("/api/public/audit", { [field]: "x".repeat(limit + 1) });
    assert.equal(refused.status, 400);
    assert.match(refused.body.error, new RegExp(`^${field}: `));
  });
}

const REFUSED: readonly (readonly [string, unknown, RegExp])[] = [
  ["an event without a known field", { colour: "red" }, /./],
  ["an empty event", {}, /./],
  ["an event of nulls", { command: null, ai: null }, /./],
  ["an event of empty strings", { command: "", executor: "" }, /./],
  ["a list", [{ command: "ls" }], /object/],
  ["events that are no list", { events: { command: "ls" } }, /^events: /],
  ["an event that is no object", { events: ["ls"] }, /^events\[0\]: /],
  ["null in a batch", { events: [{ command: "ls" }, null] }, /^events\[1\]: /],
  ["an unknown decision", { policy_decision: "maybe" }, /^policy_decision: /],
  ["an unknown decision by its alias", { decision: "maybe" }, /^decision: |^policy_decision: /],
  ["an unknown consumer", { consumer: "robot" }, /^consumer: /],
  ["a negative duration", { duration_ms: -1 }, /^duration_ms: /],
  ["a fractional duration", { durationMs: 1.5 }, /^duration_?[mM]s: /],
  ["a duration as text", { duration_ms: "12" }, /^duration_ms: /],
  ["an id with a space", { id: "a b", command: "ls" }, /^id: /],
  ["an id beyond ASCII", { id: "é", command: "ls" }, /^id: /],
  ["an id of 129 characters", { id: "x".repeat(129), command: "ls" }, /^id: /],
  ["the reserved id export", { id: "export", command: "ls" }, /^id: /],
  ["the reserved id stream", { id: "stream", command: "ls" }, /^id: /],
  ["the reserved id histogram", { id: "histogram", command: "ls" }, /^id: /],
  ["the place in a batch", { events: [{ ai: true }, { command: 1 }] }, /^events\[1\]\.command: /],
  ["the place of an alias", { events: [{ durationMs: -1 }] }, /^events\[0\]\.duration/],
];

for (const [name, given, message] of REFUSED) {
  test(`refused: ${name}`, async () => {
    const { total } = (await app.get("/api/public/audit?limit=1")).body;
    const { status, body } = await app.post("/api/public/audit", given);
    assert.equal(status, 400);
    assert.match(body.error, message);
    assert.equal((await app.get("/api/public/audit?limit=1")).body.total, total);
  });
}

test("an id of 128 characters is accepted", async () => {
  const id = "!~".repeat(64);
  assert.equal((await app.post("/api/public/audit", { id, command: "ls" })).body.id, id);
});

test("an empty batch is accepted", async () => {
  const { status, body } = await app.post("/api/public/audit", { events: [] });
  assert.equal(status, 202);
  assert.deepEqual(body, { accepted: 0, events: [] });
});

test("a batch is answered in its order", async () => {
  const commands = ["c", "a", "b"];
  const events = commands.map((command) => ({ command }));
  const { status, body } = await app.post("/api/v1/audit", { events });
  assert.equal(status, 202);
  assert.equal(body.accepted, 3);
  assert.deepEqual(
    body.events.map(({ command }: { command: string }) => command),
    commands,
  );
});

test("the same id is stored once: sequentially, in a batch and concurrently", async () => {
  const [first, ...others] = await Promise.all([
    app.post("/api/public/audit", { id: "once", command: "echo once" }),
    app.post("/api/v1/audit", { id: "once", command: "echo twice" }),
    app.post("/api/public/audit", {
      events: [
        { id: "once", ai: true },
        { id: "once", ai: true },
      ],
    }),
  ]);
  const again = await app.post("/api/public/audit", { id: "once", command: "echo later" });
  assert.ok(first);
  assert.deepEqual(again.body, first.body);
  assert.deepEqual(others[0]?.body, first.body);
  assert.deepEqual(others[1]?.body, { accepted: 2, events: [first.body, first.body] });
  const { body } = await app.get("/api/public/audit?q=echo&limit=1000");
  assert.equal(body.total, 1);
});

test("the same id in another organization is another event", async () => {
  const other = await app.createOrganization("Audit Two", await app.asUser(ADMIN));
  await app.post("/api/v1/audit", { id: "shared-id", command: "echo-default" });
  const { body } = await app.post(
    "/api/v1/audit",
    { id: "shared-id", command: "echo-two" },
    other.admin,
  );
  assert.equal(body.command, "echo-two");
  assert.equal(body.organization_id, other.id);
});

test("generated ids sort by time", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    ids.push((await app.post("/api/public/audit", { command: "sleep" })).body.id);
    app.advance(i);
  }
  assert.deepEqual(ids, ids.toSorted());
});

test("a known generated id does not allow taking the ids of later events", async (t) => {
  const other = await start(t);
  const { id } = (await other.post("/api/public/audit", { command: "seen" })).body as {
    id: string;
  };
  // The ids that a source with one random part for all ids would generate next.
  const planted = Array.from({ length: 32 }, (_, n) => {
    const digit = "0123456789abcdefghjkmnpqrstvwxyz".charAt(n);
    return { id: id.slice(0, 13) + digit + id.slice(14), command: "planted" };
  });
  await other.post("/api/public/audit", { events: planted });
  const reports = [{ id: "mine", command: "named" }, { command: "victim" }];
  const { body } = await other.post("/api/public/audit", { events: reports });
  const { events } = body as { events: { command: string }[] };
  assert.deepEqual(
    events.map(({ command }) => command),
    ["named", "victim"],
  );
  const found = await other.get("/api/public/audit?q=victim");
  assert.equal((found.body as { total: number }).total, 1);
});

test("a batch at the limit is accepted, one event more is 413", async (t) => {
  const small = await start(t, { maxBatchEvents: 3 });
  const batch = (size: number): object => ({ events: Array(size).fill({ command: "ls" }) });
  assert.equal((await small.post("/api/public/audit", batch(3))).body.accepted, 3);
  assert.equal((await small.post("/api/public/audit", batch(4))).status, 413);
  assert.equal((await small.get("/api/public/audit")).body.total, 3);
});

test("a small gzip of very many values and an escape is refused before it is parsed", async () => {
  const many = `{"command":"\\u0041","x":[${'{"a":1},'.repeat(900_000)}1]}`;
  const headers = { "Content-Encoding": "gzip" };
  const answer = await app.request("POST", "/api/public/audit", gzipSync(many), headers);
  assert.equal(answer.status, 400);
  assert.match(answer.body.error, /more than 50000 objects and lists/);
});

test("a batch of ten thousand events with every field and an escape is accepted", async () => {
  const events = Array.from({ length: 10_000 }, (_, i) => ({
    ...FULL,
    id: `batch-${i}`,
    message: "\u0001",
  }));
  const answer = await app.post("/api/public/audit", { events });
  assert.deepEqual(answer.body, { ...answer.body, accepted: 10_000 });
});
