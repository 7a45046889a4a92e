import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { firstWord, ingestEvent } from "../../src/audit/ingest.ts";
import type { AuditEvent } from "../../src/audit/schema.ts";
import { BadInput } from "../../src/core/errors.ts";

const now = Date.parse("2026-11-20T20:30:00.000Z");

function ingest(raw: unknown, place = ""): AuditEvent {
  const event = ingestEvent(raw, place, { organization: "default", now, ids: () => "generated" });
  return JSON.parse(JSON.stringify(event)) as AuditEvent; // as in the log and on the wire
}

function refusal(raw: unknown, place = ""): string {
  try {
    ingest(raw, place);
  } catch (error) {
    assert.ok(error instanceof BadInput);
    return error.message;
  }
  return assert.fail("it was accepted");
}

test("a command alone is enough, and everything else is derived", () => {
  assert.deepEqual(ingest({ command: "kubectl get pods" }), {
    id: "generated",
    organization_id: "default",
    timestamp: "2026-11-20T20:30:00.000Z",
    ingested_at: "2026-11-20T20:30:00.000Z",
    command: "kubectl get pods",
    consumer: "human",
    ai: false,
    provider: "kubectl",
    status: "unknown",
  });
});

test("every canonical field is kept unchanged", () => {
  const given = {
    id: "evt-1",
    timestamp: "2026-11-20T10:00:00.000Z",
    command: "helm upgrade web ./chart",
    executor: "ada",
    consumer: "ci",
    ai: false,
    provider: "helm",
    capability: "helm/upgrade",
    resource: "web",
    policy_decision: "DENIED",
    policy: "v7",
    reason: "change freeze",
    status: "failed",
    message: "refused",
    duration_ms: 12,
    runtime_name: "runner-1",
    runtime_version: "1.4.0",
    runtime_context: "pipeline",
    trace_id: "abc",
    transport: "https",
  };
  assert.deepEqual(ingest(given), {
    ...given,
    organization_id: "default",
    ingested_at: "2026-11-20T20:30:00.000Z",
  });
});

for (const [alias, name, value] of [
  ["user", "executor", "ada"],
  ["tool", "provider", "git"],
  ["repository", "resource", "acme/web"],
  ["decision", "policy_decision", "ALLOWED"],
  ["runtimeVersion", "runtime_version", "1.0"],
  ["runtimeName", "runtime_name", "laptop"],
  ["policyVersion", "policy", "v1"],
  ["traceId", "trace_id", "t-1"],
  ["durationMs", "duration_ms", 5],
] as const) {
  test(`the alias ${alias} is stored as ${name} only`, () => {
    const event = ingest({ [alias]: value }) as Record<string, unknown>;
    assert.equal(event[name], value);
    assert.equal(Object.hasOwn(event, alias), false);
  });

  test(`${name} overrides its alias ${alias}`, () => {
    const other = typeof value === "number" ? 99 : value === "ALLOWED" ? "DENIED" : "other";
    const event = ingest({ [alias]: value, [name]: other }) as Record<string, unknown>;
    assert.equal(event[name], other);
  });

  test(`${alias} of a wrong type is refused, but ignored beside ${name}`, () => {
    for (const odd of [{}, [], true, -1]) {
      assert.throws(() => ingest({ [alias]: odd }), new RegExp(`${alias}: expected`));
      assert.deepEqual(ingest({ [alias]: odd, [name]: value }), ingest({ [name]: value }));
    }
  });
}

for (const [given, consumer, ai] of [
  [{}, "human", false],
  [{ ai: true }, "ai", true],
  [{ ai: false }, "human", false],
  [{ consumer: "ai" }, "ai", true],
  [{ consumer: "CI" }, "ci", false],
  [{ consumer: "ci", ai: true }, "ci", true],
  [{ consumer: "ai", ai: false }, "ai", false],
] as const) {
  test(`${JSON.stringify(given)} is read as consumer ${consumer}, ai ${ai}`, () => {
    const event = ingest({ command: "ls", ...given });
    assert.deepEqual([event.consumer, event.ai], [consumer, ai]);
  });
}

for (const [given, decision, status] of [
  ["ALLOWED", "ALLOWED", "allowed"],
  ["denied", "DENIED", "denied"],
  ["Allow", "ALLOWED", "allowed"],
  ["deny", "DENIED", "denied"],
] as const) {
  test(`the decision ${given} is stored as ${decision} with status ${status}`, () => {
    const event = ingest({ policy_decision: given });
    assert.deepEqual([event.policy_decision, event.status], [decision, status]);
  });
}

test("a given status is kept for every decision", () => {
  assert.equal(ingest({ decision: "ALLOWED", status: "error" }).status, "error");
});

test("a timestamp with an offset is stored in UTC with milliseconds", () => {
  const event = ingest({ timestamp: "2026-02-28T23:59:60.5+02:00" });
  assert.equal(event.timestamp, "2026-02-28T21:59:59.999Z");
});

test("organization, ingest time and unknown fields from the client are ignored", () => {
  const raw = JSON.parse(
    '{"command":"ls","organization_id":"other","ingested_at":"2001-01-01T00:00:00Z","x":1,"__proto__":{"reason":"no"}}',
  ) as unknown;
  const event = ingest(raw);
  assert.equal(event.organization_id, "default");
  assert.equal(event.ingested_at, "2026-11-20T20:30:00.000Z");
  assert.equal(event.reason, undefined);
  assert.equal(Object.hasOwn(event, "x"), false);
});

test("null and empty texts count as absent", () => {
  const event = ingest({
    command: "ls",
    executor: null,
    provider: "",
    ai: null,
    duration_ms: null,
  });
  assert.deepEqual(Object.keys(event), Object.keys(ingest({ command: "ls" })));
});

for (const [raw, message] of [
  [{}, /an audit event needs a known field/],
  [{ nothing: 1, executor: "" }, /an audit event needs a known field/],
  ["text", /expected an audit event object/],
  [[], /expected an audit event object/],
  [{ command: 1 }, /^command: expected a string$/],
  [{ user: {} }, /^user: expected a string$/],
  [{ consumer: "robot" }, /^consumer: expected human, ai or ci$/],
  [{ consumer: 1 }, /^consumer: expected human, ai or ci$/],
  [{ policy_decision: "MAYBE" }, /^policy_decision: expected ALLOWED or DENIED$/],
  [{ decision: 1 }, /^decision: expected ALLOWED or DENIED$/],
  [{ ai: "true" }, /^ai: expected true or false$/],
  [{ timestamp: "2026-02-30T00:00:00Z" }, /^timestamp: expected an RFC 3339/],
  [{ timestamp: 5 }, /^timestamp: expected an RFC 3339/],
  [{ duration_ms: -1 }, /^duration_ms: expected a whole number/],
  [{ duration_ms: 1.5 }, /^duration_ms: expected a whole number/],
  [{ durationMs: "5" }, /^durationMs: expected a whole number/],
  [{ id: "a b" }, /^id: expected 1 to 128 printable ASCII/],
  [{ id: "x".repeat(129) }, /^id: expected 1 to 128 printable ASCII/],
  [{ id: 7 }, /^id: expected 1 to 128 printable ASCII/],
  [{ id: "stream" }, /^id: "stream" is reserved$/],
  [{ command: "x".repeat((1 << 20) + 1) }, /^command: expected at most 1024 KiB of text$/],
  [{ executor: "é".repeat(32 * 1024 + 1) }, /^executor: expected at most 64 KiB of text$/],
] as const) {
  test(`${JSON.stringify(raw).slice(0, 60)} is refused`, () => {
    assert.match(refusal(raw), message);
  });
}

test("a text at its limit is accepted", () => {
  assert.equal(ingest({ executor: "é".repeat(32 * 1024) }).executor?.length, 32 * 1024);
  assert.equal(ingest({ command: "x".repeat(1 << 20) }).command?.length, 1 << 20);
});

test("a refusal names the place in the batch", () => {
  assert.equal(
    refusal({ duration_ms: -1 }, "events[3]"),
    "events[3].duration_ms: expected a whole number of milliseconds, 0 or more",
  );
  assert.match(refusal(null, "events[0]"), /^events\[0\]: expected an audit event object$/);
});

test("the first word of a command ends at white space", () => {
  assert.equal(firstWord("  git\tstatus"), "git");
  assert.equal(firstWord("ls"), "ls");
  assert.equal(firstWord(" \n "), undefined);
  assert.equal(firstWord(""), undefined);
});

test("a first word of more than 64 KiB is cut between two characters", () => {
  const most = 64 * 1024;
  assert.equal(firstWord("x".repeat(most + 1)), "x".repeat(most));
  assert.equal(firstWord("é".repeat(most)), "é".repeat(most / 2));
  assert.equal(firstWord(`x${"😀".repeat(most)}`), `x${"😀".repeat(most / 4 - 1)}`);
  assert.equal(firstWord(`${"€".repeat(most / 3)}x y`), `${"€".repeat(most / 3)}x`);
});

test("any event is refused with its place, or stored with all required fields", () => {
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.object());
  const names = fc.constantFrom(
    "command",
    "user",
    "ai",
    "id",
    "timestamp",
    "consumer",
    "decision",
    "x",
  );
  fc.assert(
    fc.property(fc.dictionary(names, value), (raw) => {
      try {
        const event = ingest(raw);
        assert.ok(event.id && event.timestamp && event.ingested_at && event.status);
      } catch (error) {
        assert.ok(error instanceof BadInput, String(error));
      }
    }),
  );
});
