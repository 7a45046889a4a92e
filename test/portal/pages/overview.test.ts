import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEvent } from "../../../src/audit/schema.ts";
import { overviewPage, type OverviewModel } from "../../../src/portal/pages/overview.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");

const EMPTY: OverviewModel = {
  now: NOW,
  apiUrl: "https://signalbox.test/api/v1",
  needsCredential: false,
  counts: {
    commands_today: 0,
    allowed_today: 0,
    denied_today: 0,
    ai_operations: 0,
    ai_commands_today: 0,
    by_provider: {},
    capabilities: 220,
    providers: 27,
    policy_version: "",
    runtimes_online: 0,
    runtimes_total: 0,
    runtimes_drifted: 0,
  },
  histogram: { interval: "1h", buckets: [] },
  denials: [],
  policy: undefined,
};

const DENIAL: AuditEvent = {
  id: "e1",
  organization_id: "default",
  timestamp: "2026-11-20T20:27:00.000Z",
  ingested_at: "2026-11-20T20:27:00.000Z",
  consumer: "human",
  ai: false,
  status: "denied",
  command: "terraform destroy",
  executor: "ada",
  runtime_name: "build-1",
  policy_decision: "DENIED",
  reason: "Destroying needs a review",
};

/** What a page says, without its markup. */
function wordsOf(model: Partial<OverviewModel>): string {
  const page = overviewPage({ ...EMPTY, ...model }).toString();
  return page.replace(/<[^>]*>/g, " ").replace(/[ \n]+/g, " ");
}

test("an empty service says what to do next, with the line that does it", () => {
  const words = wordsOf({});
  for (const path of ["audit", "policies", "fleet/heartbeat", "provider-names"]) {
    assert.ok(words.includes(`https://signalbox.test/api/v1/${path}`), path);
  }
  assert.doesNotMatch(words, /api_key|token/);
});

test("where credentials are demanded the lines show which", () => {
  const words = wordsOf({ needsCredential: true });
  assert.match(words, /X-API-Key: &lt;api_key&gt;/);
  assert.match(words, /Authorization: Bearer &lt;token&gt;/);
});

test("a denial shows its command, reason, who, where and when, and leads to the event", () => {
  const words = wordsOf({ denials: [DENIAL] });
  assert.match(words, /terraform destroy 3 min ago Destroying needs a review ada on build-1/);
  const page = overviewPage({ ...EMPTY, denials: [{ ...DENIAL, id: "a&b" }] }).toString();
  assert.match(page, /href="\/portal\/audit\?decision=DENIED&amp;event=a%26b"/);
  const { reason: _, executor: __, runtime_name: ___, ...bare } = DENIAL;
  assert.match(wordsOf({ denials: [bare] }), /No reason given/);
});

test("a day without denials says that this is good news", () => {
  const counts = { ...EMPTY.counts, commands_today: 3, allowed_today: 3 };
  assert.match(wordsOf({ counts }), /Nothing was denied/);
});

test("the active policy is shown with who and when, and who activated it again", () => {
  const policy = {
    name: "enterprise-policy",
    version: "v2",
    active: true,
    updated_by: "grace",
    updated_at: "2026-11-18T20:30:00.000Z",
    activated_by: "ada",
    activated_at: "2026-11-20T18:30:00.000Z",
  };
  const words = wordsOf({ policy });
  assert.match(words, /v2 .* 2 days ago by grace .* 2 h ago by ada/);
});

test("the chart's numbers stand in a table too, newest hour first", () => {
  const buckets = [
    { start: "2026-11-20T19:00:00.000Z", allowed: 7, denied: 0, other: 0 },
    { start: "2026-11-20T20:00:00.000Z", allowed: 1234, denied: 5, other: 2 },
  ];
  const words = wordsOf({ histogram: { interval: "1h", buckets } });
  assert.match(words, /2026-11-20 20:00 1\u202f234 5 2 2026-11-20 19:00 7 0 0/);
  assert.match(words, /20:00 UTC: 1\u202f234 allowed, 5 denied, 2 without a decision/);
});

test("providers are listed by use, their names as text and in addresses encoded", () => {
  const counts = { ...EMPTY.counts, by_provider: { git: 2, '"><b>': 9 } };
  const page = overviewPage({ ...EMPTY, counts }).toString();
  assert.match(page, /provider=%22%3E%3Cb%3E&amp;range=24h"/);
  assert.match(page, /&quot;&gt;&lt;b&gt;/);
  assert.ok(page.indexOf("%3Cb%3E") < page.indexOf("provider=git"));
});
