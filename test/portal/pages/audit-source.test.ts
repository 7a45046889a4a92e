import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { readAudit, type AuditSource } from "../../../src/portal/pages/audit-source.ts";
import { readView } from "../../../src/portal/pages/audit-view.ts";

const context = { now: 0, apiUrl: "http://127.0.0.1/api/public", needsCredential: false };

test("an event that fails before its list rejects once", async () => {
  const fails = async (turns: number): Promise<never> => {
    for (let i = 0; i < turns; i++) await turn();
    throw new Error("The disk is gone");
  };
  const source: AuditSource = {
    page: () => fails(5),
    histogram: () => fails(0),
    event: () => fails(0),
    providers: () => fails(0),
    problemOf: () => undefined,
  };
  // A rejection without a handler would end this process.
  const view = readView((name) => (name === "event" ? "e1" : undefined));
  await assert.rejects(readAudit(source, context, view), /The disk is gone/);
});
