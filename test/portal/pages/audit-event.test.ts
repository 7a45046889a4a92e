import assert from "node:assert/strict";
import { test } from "node:test";
import { auditEventPanel } from "../../../src/portal/pages/audit-event.ts";
import { auditEventOf, NOON } from "../../audit/store-suite.ts";

test("an open event names its reporter and links to the reporter's events", () => {
  const event = auditEventOf({ reported_by: "key-1" });
  const panel = String(auditEventPanel({ view: {}, open: { event }, now: NOON, apiUrl: "" }));
  assert.match(panel, /<dt>Reported by<\/dt>/);
  assert.match(panel, /href="\/portal\/audit\?reported_by=key-1"/);
});
