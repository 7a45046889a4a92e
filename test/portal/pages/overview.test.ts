import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEvent } from "../../../src/audit/schema.ts";
import type { Rollout } from "../../../src/rollouts/schema.ts";
import { renderOverview, type OverviewModel } from "../../../src/portal/pages/overview.ts";

const NOW = Date.parse("2026-11-20T20:30:00.000Z");

const EMPTY: OverviewModel = {
  now: NOW,
  apiUrl: "https://signalbox.test/api/v1",
  needsCredential: false,
  counts: {
    commands_today: 0,
    allowed_today: 0,
    denied_today: 0,
    would_be_denied_today: 0,
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
  fleet: {
    online: 0,
    idle: 0,
    offline: 0,
    drifted: 0,
    total: 0,
    policy_version: "",
    policy_versions: [],
  },
  histogram: { interval: "1h", buckets: [] },
  denials: [],
  rollouts: [],
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

/** The text of a page without its markup. */
function wordsOf(model: Partial<OverviewModel>): string {
  const page = renderOverview({ ...EMPTY, ...model }).toString();
  return page.replace(/<[^>]*>/g, " ").replace(/[ \n]+/g, " ");
}

/** The first steps that a page shows open. */
function openStepsOf(model: Partial<OverviewModel>): readonly (string | undefined)[] {
  const page = renderOverview({ ...EMPTY, ...model }).toString();
  return [...page.matchAll(/<details id="step-(\w+)-next" open/g)].map(([, id]) => id);
}

test("an empty service shows the first steps with their shell lines", () => {
  const words = wordsOf({});
  for (const path of ["audit", "policies", "fleet/heartbeat"]) {
    assert.equal(words.split(`https://signalbox.test/api/v1/${path}`).length, 2, path);
  }
  assert.doesNotMatch(words, /api_key|token/);
  assert.deepEqual(openStepsOf({}), ["policy"]);
});

test("the first step that is not done is open; with a command there are no steps", () => {
  const policy = { name: "p", version: "v1", active: true, updated_by: "ada", updated_at: "" };
  const fleet = { ...EMPTY.fleet, online: 1, total: 1 };
  assert.deepEqual(openStepsOf({ policy }), ["runtime"]);
  assert.deepEqual(openStepsOf({ fleet }), ["policy"]);
  assert.deepEqual(openStepsOf({ policy, fleet }), ["command"]);
  assert.deepEqual(openStepsOf({ denials: [DENIAL] }), []);
});

test("where runtimes need a key, creating one is a step", () => {
  const closed = { needsCredential: true, hasKey: false };
  const policy = { name: "p", version: "v1", active: true, updated_by: "ada", updated_at: "" };
  const fleet = { ...EMPTY.fleet, online: 1, total: 1 };
  assert.deepEqual(openStepsOf({ ...closed, policy }), ["key"]);
  assert.deepEqual(openStepsOf({ ...closed, policy, hasKey: true }), ["runtime"]);
  assert.deepEqual(openStepsOf({ ...closed, policy, fleet }), ["command"]);
  const words = wordsOf({ ...closed, policy, hasKey: true });
  assert.match(words, /PREFIX=&#39;\/api\/v1&#39; read -rs SIGNALBOX_API_KEY/);
  assert.match(words, /Waiting for the first heartbeat/);
});

test("after the first command missing parts show their shell lines", () => {
  const words = wordsOf({ denials: [DENIAL] });
  assert.match(
    words,
    /No policy yet .*\/policies&#39; .* No runtimes yet .*\/fleet\/heartbeat&#39;/,
  );
});

test("runtimes are counted by policy version: the active one, the most used ones, and all others", () => {
  const versions = ["v9", "v1", "v2", "v3", "v4", "v5", "v6"].map((version, i) => ({
    version,
    runtimes: 20 - i,
    present: i === 6 ? 0 : 10 - i,
  }));
  const fleet = { ...EMPTY.fleet, online: 40, idle: 7, offline: 1234, total: 1281 };
  const shown = { ...fleet, policy_version: "v2", policy_versions: versions };
  const words = wordsOf({ fleet: shown });
  assert.match(words, /v2 Active 8 v9 10 v1 9 v3 7 v4 6 1 other 5 Not said 2 /);
  assert.match(words, /47 seen in the last 24 hours, 1\u202f234 offline/);
  const page = renderOverview({ ...EMPTY, fleet: { ...shown, policy_version: "a&b" } }).toString();
  assert.match(page, /href="\/portal\/fleet\?policy=a%26b"/);
});

test("an active version without runtimes is listed, too", () => {
  const fleet = { ...EMPTY.fleet, offline: 3, total: 3, policy_version: "v2" };
  assert.match(wordsOf({ fleet }), /v2 Active 0 0 seen in the last 24 hours, 3 offline/);
});

test("a version that is being rolled out is not painted as drift, even before a runtime has it", () => {
  const at = "2026-11-20T20:00:00.000Z";
  const rollout: Rollout = {
    ...({ id: "r1", version: "v3", base_version: "v2", on_breach: "pause" } as const),
    ...({ state: "running", current_stage: 1, stages: [], observed_from: at } as const),
    ...{ created_at: at, created_by: "ada", updated_at: at, updated_by: "ada" },
  };
  const versions = [
    { version: "v1", runtimes: 5, present: 5 },
    { version: "v2", runtimes: 9, present: 9 },
  ];
  const fleet = { ...EMPTY.fleet, online: 16, total: 16, policy_version: "v2" };
  const tonesOf = (rollouts: OverviewModel["rollouts"], present: number): string[] => {
    const policy_versions = [...versions, { version: "v3", runtimes: 2, present }];
    const model = { ...EMPTY, fleet: { ...fleet, policy_versions }, rollouts };
    const rows = renderOverview(model).toString().split("<tr>");
    return rows.flatMap((row) => {
      const [, version, tone] = /policy=(v\d)"[^]*<svg class="(\w*)"/.exec(row) ?? [];
      const words = row.includes("Rolling out") ? " rolling out" : "";
      return version === undefined ? [] : [`${version} ${tone}${words}`];
    });
  };
  assert.deepEqual(tonesOf([rollout], 2), ["v2 ", "v3  rolling out", "v1 warn"]);
  assert.deepEqual(tonesOf([rollout], 0), ["v2 ", "v3  rolling out", "v1 warn"]);
  assert.deepEqual(tonesOf([{ ...rollout, state: "rolled_back" }], 2), [
    "v2 ",
    "v1 warn",
    "v3 warn",
  ]);
});

test("shell lines show the required credentials", () => {
  const words = wordsOf({ needsCredential: true });
  assert.match(words, /X-API-Key: &lt;api_key&gt;/);
  assert.match(words, /Authorization: Bearer &lt;token&gt;/);
  assert.match(words, /The &lt;token&gt; is in the answer to POST \/auth\/login/);
});

test("a denial shows its command, reason, executor, runtime and time, and links to the event", () => {
  const words = wordsOf({ denials: [DENIAL] });
  assert.match(words, /terraform destroy 3 min ago Destroying needs a review ada on build-1/);
  const page = renderOverview({ ...EMPTY, denials: [{ ...DENIAL, id: "a&b" }] }).toString();
  assert.match(page, /href="\/portal\/audit\?decision=DENIED&amp;range=24h&amp;event=a%26b"/);
  const { reason: _, executor: __, runtime_name: ___, ...bare } = DENIAL;
  assert.match(wordsOf({ denials: [bare] }), /No reason given/);
});

test("a day without denials says that nothing was denied", () => {
  const counts = { ...EMPTY.counts, commands_today: 3, allowed_today: 3 };
  assert.match(
    wordsOf({ counts }),
    /Nothing was denied No command was denied in the last 24 hours/,
  );
});

test("all denials are those of the last 24 hours, and earlier ones are reached when there are none", () => {
  const earlier = { ...DENIAL, timestamp: "2026-11-19T20:29:00.000Z" };
  const page = renderOverview({ ...EMPTY, denials: [DENIAL, earlier] }).toString();
  assert.match(page, /decision=DENIED&amp;range=24h">All denials/);
  assert.equal(page.match(/terraform destroy/g)?.length, 1);
  assert.match(wordsOf({ denials: [earlier] }), /in the last 24 hours\. Earlier denials/);
});

test("the active policy shows who published and activated it, and when", () => {
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

test("a table has the numbers of the chart, newest hour first", () => {
  const buckets = [
    { start: "2026-11-20T19:00:00.000Z", allowed: 7, denied: 0, other: 0 },
    { start: "2026-11-20T20:00:00.000Z", allowed: 1234, denied: 5, other: 2 },
  ];
  const words = wordsOf({ histogram: { interval: "1h", buckets } });
  assert.match(words, /2026-11-20 20:00 1\u202f234 5 2 2026-11-20 19:00 7 0 0/);
  assert.match(words, /20:00 UTC: 1\u202f234 allowed, 5 denied, 2 without a decision/);
});

test("providers are listed by use, with escaped names and encoded links", () => {
  const counts = { ...EMPTY.counts, by_provider: { git: 2, '"><b>': 9 } };
  const page = renderOverview({ ...EMPTY, counts }).toString();
  assert.match(page, /catalog\?provider=%22%3E%3Cb%3E"/);
  assert.match(page, /&quot;&gt;&lt;b&gt;/);
  assert.ok(page.indexOf("%3Cb%3E") < page.indexOf("provider=git"));
});

test("one runtime and one command are not counted as several", () => {
  const counts = { ...EMPTY.counts, runtimes_total: 1, ai_operations: 1 };
  const words = wordsOf({ counts });
  assert.match(words, /of 1 runtime /);
  assert.match(words, / 1 event /);
});

test("the tiles count events, and their shares are of the decisions", () => {
  const counts = { ...EMPTY.counts, commands_today: 14, allowed_today: 5, denied_today: 3 };
  const words = wordsOf({ counts: { ...counts, ai_operations: 7 } });
  assert.match(
    words,
    / Events 14 Allowed 5 63\u202f% of decisions Denied 3 38\u202f% of decisions /,
  );
  assert.match(words, / By AI 50\u202f% 7 events /);
  const observed = wordsOf({ counts: { ...counts, would_be_denied_today: 1 } });
  assert.match(observed, / Denied 3 1 more ran, in observe mode /);
});
