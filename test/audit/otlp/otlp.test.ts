/** Telemetry of agents against a real service. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { logRecordsOf, sizeOf } from "../../../src/audit/otlp/records.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../../support/start.ts";
import {
  CLAUDE_RECORDS,
  claudeLogs,
  CODEX_LOGS,
  GEMINI_LOGS,
  logsOf,
  record,
} from "./recorded-telemetry.ts";

const LOGS = "/otlp/v1/logs";
const app = await start({ after }, { ...ADMIN_SETTINGS, maxBatchEvents: 50 });

/** Starts a service of its own, sends one request and returns what is stored, oldest first. */
async function storedOf(t: { after(end: () => Promise<void>): void }, logs: object) {
  const own = await start(t);
  const answer = await own.post(`/api/public${LOGS}`, logs);
  assert.equal(answer.status, 200, answer.text);
  const { body } = await own.get("/api/public/audit");
  const { events } = body as { readonly events: readonly Record<string, unknown>[] };
  return { answer: answer.body as unknown, events: events.toReversed() };
}

function assertHas(event: Record<string, unknown> | undefined, wanted: object): void {
  assert.deepEqual({ ...event, ...wanted }, event);
}

test("secrets in telemetry are taken out before it is stored", async (t) => {
  const logs = JSON.stringify(claudeLogs(CLAUDE_RECORDS.shell));
  assert.match(logs, /git push origin/);
  const withSecret = logs.replaceAll("git push origin", "git push https://ada:hunter2@h");
  const { events } = await storedOf(t, JSON.parse(withSecret) as object);
  assert.equal(events[0]?.["command"], "git push https://ada:[redacted:url-password]@h");
  assert.doesNotMatch(JSON.stringify(events), /hunter2/);
});

test("the tool events of Claude Code become events, and its other records are counted", async (t) => {
  const { prompt, decision, shell, mcp } = CLAUDE_RECORDS;
  const { answer, events } = await storedOf(t, claudeLogs(prompt, decision, shell, mcp));
  assert.deepEqual(answer, {
    partialSuccess: {
      rejectedLogRecords: "1",
      errorMessage: "Records that are not stored: 1 not about a tool of a known agent",
    },
  });
  assert.equal(events.length, 3);
  const shared = {
    timestamp: "2026-11-20T20:30:00.123Z",
    executor: "ada@example.com",
    consumer: "ai",
    ai: true,
    runtime_name: "laptop-ada",
    runtime_context: "claude-code 2.1.175",
    trace_id: "0b5f7c1e-8a55-4ef0-9f7b-1a2b3c4d5e6f",
    transport: "claude-code",
  };
  const bySource = (wanted: object) =>
    events.find((one) => Object.entries(wanted).every(([k, v]) => one[k] === v));
  assertHas(bySource({ command: "git push origin" }), {
    ...shared,
    provider: "git",
    status: "succeeded",
    duration_ms: 150,
  });
  assertHas(bySource({ capability: "mcp/tracker/search" }), {
    ...shared,
    provider: "mcp/tracker",
    status: "failed",
    message: "the server is away",
  });
  assertHas(bySource({ capability: "claude-code/Write" }), {
    ...shared,
    policy_decision: "DENIED",
    status: "denied",
    reason: "reject, decided by user_temporary",
  });
});

test("the tool events of Codex become events", async (t) => {
  const { answer, events } = await storedOf(t, CODEX_LOGS);
  assert.match(JSON.stringify(answer), /"rejectedLogRecords":"1"/);
  const shared = {
    executor: "bo@example.com",
    runtime_context: "codex 0.128.0",
    trace_id: "67e55044-10b1-426f-9247-bb680e5fe0c8",
    transport: "codex",
  };
  assert.equal(events.length, 2);
  const ran = events.find(({ command }) => command !== undefined);
  assertHas(ran, { ...shared, command: "npm test && git push", status: "failed", duration_ms: 41 });
  const decided = events.find(({ policy_decision }) => policy_decision !== undefined);
  assertHas(decided, { ...shared, capability: "codex/shell", policy_decision: "ALLOWED" });
});

test("a tool call of Gemini CLI becomes one event with decision and end", async (t) => {
  const { answer, events } = await storedOf(t, GEMINI_LOGS);
  assert.deepEqual(answer, {});
  assert.equal(events.length, 1);
  assertHas(events[0], {
    command: "ls -la",
    policy_decision: "ALLOWED",
    status: "succeeded",
    duration_ms: 7,
    runtime_context: "gemini-cli",
    trace_id: "g-1",
    transport: "gemini-cli",
  });
});

test("a repeated request stores no event twice, in any encoding, order or with other records", async (t) => {
  const own = await start(t);
  const { shell, mcp, decision, prompt } = CLAUDE_RECORDS;
  const send = (body: unknown, headers?: Record<string, string>) =>
    own.post(`/api/public${LOGS}`, body, headers);
  await send(claudeLogs(shell, mcp));
  await send(claudeLogs(shell, mcp));
  await send(gzipSync(JSON.stringify(claudeLogs(mcp, shell))), { "content-encoding": "gzip" });
  const numbers = JSON.stringify(claudeLogs(shell)).replaceAll(
    /"intValue":"(\d+)"/g,
    '"intValue":$1',
  );
  await send(numbers);
  const reordered = {
    ...shell,
    attributes: shell.attributes.toReversed(),
    observedTimeUnixNano: "1",
  };
  await send(claudeLogs(reordered, prompt, shell));
  assert.equal((await own.get("/api/public/audit")).body.total, 2);
  await send(claudeLogs(decision));
  assert.equal((await own.get("/api/v1/audit")).body.total, 3); // both prefixes hold the same events
});

test("without the text of the command, the tool is named", async (t) => {
  const without = record("claude_code.tool_result", { tool_name: "Bash", success: "true" });
  const { events } = await storedOf(t, claudeLogs(without));
  assertHas(events[0], { provider: "claude-code", capability: "claude-code/Bash" });
  assert.equal(events[0]?.["command"], undefined);
});

test("the arguments apart from a command are reported once", async (t) => {
  const tool_input = JSON.stringify({ command: "git", args: ["push"] });
  const call = record("claude_code.tool_result", { tool_name: "mcp__box__run", tool_input });
  const { events } = await storedOf(t, claudeLogs(call));
  assertHas(events[0], { command: "git push", provider: "mcp/box" });
});

for (const [why, padding] of [
  ["nests too deep", "[".repeat(65) + "]".repeat(65)],
  ["holds too many values", `[${"0,".repeat(1_000)}0]`],
  ["holds too many objects", `[${"{},".repeat(600)}{}]`],
  ["is too long", JSON.stringify("a".repeat(1 << 21))],
] as const) {
  for (const key of ["tool_parameters", "tool_input", "arguments", "function_args"]) {
    test(`JSON in ${key} that ${why} is not parsed: the tool is named`, async (t) => {
      const inner = `{"padding":${padding},"command":"ls","full_command":"ls"}`;
      const call = { "event.name": "tool_result", tool_name: "Bash", [key]: inner };
      const { events } = await storedOf(t, claudeLogs(record("claude_code.tool_result", call)));
      assert.deepEqual(
        events.map(({ command, capability }) => ({ command, capability })),
        [{ command: undefined, capability: "claude-code/Bash" }],
      );
    });
  }
}

test("records that cannot be events are counted by reason, and the others are stored", async (t) => {
  const long = JSON.stringify({ command: "x".repeat((1 << 20) + 1) });
  const { answer, events } = await storedOf(
    t,
    claudeLogs(
      record("claude_code.tool_result", { tool_name: "Bash", tool_input: long }),
      record("claude_code.tool_result", { success: "true" }),
      record("claude_code.tool_result", {
        tool_name: "Edit",
        tool_input: "not JSON",
        duration_ms: -1,
        decision: "unheard-of",
      }),
      { ...record("claude_code.tool_result", { tool_name: "Read" }), timeUnixNano: "soon" },
    ),
  );
  assert.deepEqual(answer, {
    partialSuccess: {
      rejectedLogRecords: "2",
      errorMessage:
        "Records that are not stored: 1 with more than 1024 KiB in command, 1 without the name of a tool",
    },
  });
  assert.deepEqual(
    events
      .map(({ capability, policy_decision, duration_ms }) => [
        capability,
        policy_decision,
        duration_ms,
      ])
      .toSorted(),
    [
      ["claude-code/Edit", undefined, undefined],
      ["claude-code/Read", undefined, undefined],
    ],
  );
});

test("long texts and lists of a resource are left out: each of its records would repeat them", async (t) => {
  const { shell } = CLAUDE_RECORDS;
  const own = shell.attributes.filter(({ key }) => key !== "session.id");
  const eventOf = async (length: number) => {
    const text = "x".repeat(length);
    const resource = {
      "service.name": "claude-code",
      ...{ "service.version": text, "host.name": text, "session.id": text },
    };
    const logs = logsOf(resource, "x", [{ ...shell, attributes: own }]);
    const { events } = await storedOf(t, logs);
    const [{ runtime_name, trace_id, runtime_context }] = events as [Record<string, unknown>];
    return { runtime_name, trace_id, runtime_context };
  };
  const text = "x".repeat(256);
  assert.deepEqual(await eventOf(256), {
    ...{ runtime_name: text, trace_id: text, runtime_context: `claude-code ${text}` },
  });
  assert.deepEqual(await eventOf(257), {
    ...{ runtime_name: undefined, trace_id: undefined, runtime_context: "claude-code" },
  });
});

const BAD: readonly (readonly [string, unknown, RegExp])[] = [
  ["a list", [], /The body: expected a JSON object/],
  ["a text for a list", { resourceLogs: "x" }, /resourceLogs: expected a list/],
  ["a number among resources", { resourceLogs: [1] }, /resourceLogs\[0\]: expected an object/],
  [
    "records that are no list",
    { resourceLogs: [{ scopeLogs: [{ logRecords: {} }] }] },
    /resourceLogs\[0\]\.scopeLogs\[0\]\.logRecords: expected a list/,
  ],
];

for (const [what, body, said] of BAD) {
  test(`${what} is 400 and names the place`, async () => {
    const answer = await app.post(`/api/public${LOGS}`, body);
    assert.equal(answer.status, 400);
    assert.match(answer.body.error, said);
  });
}

test("odd but well-formed requests are accepted", async () => {
  for (const body of [{}, { resourceLogs: [] }, { resourceLogs: [{}] }, claudeLogs()]) {
    const answer = await app.post(`/api/public${LOGS}`, body);
    assert.deepEqual([answer.status, answer.body], [200, {}]);
  }
});

test("a record or resource with more than 1,000 attributes is counted, and the others are stored", async (t) => {
  const value = { stringValue: "x" };
  const named = (count: number) => [
    { key: "tool_name", value: { stringValue: "shell" } },
    ...Array.from({ length: count - 1 }, (_, i) => ({ key: `k${i}`, value })),
  ];
  const list = { key: "list", value: { arrayValue: { values: Array(900).fill(value) } } };
  const map = { key: "map", value: { kvlistValue: { values: named(900) } } };
  const of = (records: readonly object[], resource = {}) => ({
    resource,
    scopeLogs: [{ logRecords: records.map((one) => ({ eventName: "codex.tool_result", ...one })) }],
  });
  const records = [named(1_000), named(1_001), [...named(99), list], [...named(100), list, map]];
  const short = [{ attributes: named(2) }];
  const { answer, events } = await storedOf(t, {
    resourceLogs: [
      of(records.map((attributes) => ({ attributes }))),
      of(short, { attributes: named(1_001) }),
      of(short, { attributes: [{ key: "host.name", value }, ...named(999)] }),
    ],
  });
  assert.deepEqual(answer, {
    partialSuccess: {
      rejectedLogRecords: "3",
      errorMessage: "Records that are not stored: 3 with more than 1000 attributes",
    },
  });
  assert.deepEqual(
    events.map((event) => event["runtime_name"]),
    [undefined, undefined, "x"],
  );
});

test("the resources and scopes of a request are read in small parts", () => {
  const empty = Array.from({ length: 5_000 }, () => ({}));
  for (const body of [{ resourceLogs: empty }, { resourceLogs: [{ scopeLogs: empty }] }]) {
    const steps = [...logRecordsOf(body)].length;
    assert.ok(steps >= 5_000, `${steps}`);
    assert.ok(sizeOf(body).parts >= 5_000);
  }
});

test("protobuf is 415 and says what to set", async () => {
  const headers = { "content-type": "application/x-protobuf" };
  const answer = await app.post(`/api/public${LOGS}`, Buffer.from([10, 0]), headers);
  const error =
    "Content-Type: expected application/json; set the protocol of the exporter to http/json";
  assert.deepEqual([answer.status, answer.body], [415, { error }]);
});

test("more records than a batch may have are 413", async () => {
  const of = (count: number) =>
    logsOf(
      {},
      "x",
      Array.from({ length: count }, () => record("other", {})),
    );
  assert.equal((await app.post(`/api/public${LOGS}`, of(50))).status, 200);
  const answer = await app.post(`/api/public${LOGS}`, of(51));
  assert.equal(answer.status, 413);
  assert.match(answer.body.error, /resourceLogs: expected at most 50 records/);
});

test("while credentials are required, a key that may report is enough, and events name it", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: () => true });
  const admin = await own.asUser(ADMIN);
  const { body } = await own.post("/api/v1/api-keys", { name: "agents", scopes: "report" }, admin);
  const logs = claudeLogs(CLAUDE_RECORDS.shell);
  assert.equal((await own.post(`/api/v1${LOGS}`, logs)).status, 401);
  const answer = await own.post(`/api/v1${LOGS}`, logs, { "x-api-key": body.api_key });
  assert.equal(answer.status, 200, answer.text);
  const { events } = (await own.get("/api/v1/audit", admin)).body;
  assert.equal(events[0].reported_by, body.id);
});

test("a time that is an object is no time, and the record is stored", async (t) => {
  const attributes = [{ key: "tool_name", value: { stringValue: "bash" } }];
  const odd = { timeUnixNano: { toString: 1 }, eventName: "codex.tool_result", attributes };
  const { events } = await storedOf(t, { resourceLogs: [{ scopeLogs: [{ logRecords: [odd] }] }] });
  assert.equal(events.length, 1);
});
