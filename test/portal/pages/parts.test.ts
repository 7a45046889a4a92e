import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEvent } from "../../../src/audit/schema.ts";
import { newestTable } from "../../../src/portal/pages/commands-of.ts";
import { denialList } from "../../../src/portal/pages/denial-list.ts";
import { apiRequest, decisionBadge, emptyState } from "../../../src/portal/pages/parts.ts";
import { start } from "../../support/start.ts";

const CLOSED = { now: 0, apiUrl: "https://signalbox.test/api/v1", needsCredential: true };

test("an empty state whose shell line has a token says where the token comes from", async (t) => {
  const shown = (who: "person" | "runtime"): string => {
    const request = apiRequest(CLOSED, who, "GET /users");
    return emptyState("No users yet", "From a shell:", request).toString();
  };
  const [, anchor = ""] =
    /href="\/portal\/api#(\w+)"><code>POST \/auth\/login/.exec(shown("person")) ?? [];
  const app = await start(t);
  const { text } = await app.get("/portal/api");
  assert.ok(text.includes(`<details id="${anchor}">`), anchor);
  assert.doesNotMatch(shown("runtime"), /auth\/login/);
});

test("lists name a tool that runs no command by its capability", () => {
  const event: AuditEvent = {
    id: "e1",
    organization_id: "default",
    timestamp: "2026-11-20T20:27:00.000Z",
    ingested_at: "2026-11-20T20:27:00.000Z",
    consumer: "ai",
    ai: true,
    status: "denied",
    capability: "mcp/box/run",
    policy_decision: "DENIED",
  };
  for (const list of [denialList([event], 0, {}), newestTable([event], {}, 0)]) {
    assert.match(list.toString(), /mcp\/box\/run/);
    assert.doesNotMatch(list.toString(), /no command/);
  }
});

test("an event without a decision shows its status, and a failure stands out", () => {
  const rows = [
    ["failed", "warn", "Failed"],
    ["ERROR", "warn", "ERROR"],
    ["succeeded", "ok", "Succeeded"],
    ["undecided", "none", "Undecided"],
    ["unknown", "none", "No decision"],
    [" ", "none", "No decision"],
    ["x".repeat(100), "none", `X${"x".repeat(23)}…`],
  ] as const;
  for (const [status, tone, word] of rows) {
    const shown = `<span class="badge ${tone}">${word}</span>`;
    assert.equal(decisionBadge({ status }).toString(), shown, status);
  }
  const decided = { policy_decision: "ALLOWED", status: "failed" } as const;
  assert.match(decisionBadge(decided).toString(), /Allowed/);
});
