import assert from "node:assert/strict";
import { after, test } from "node:test";
import { finish } from "../../src/core/scheduling/work.ts";
import type { Policy, PolicySummary } from "../../src/policies/schema.ts";
import { renderPolicies, type PoliciesModel } from "../../src/portal/pages/policies.ts";
import { start } from "../support/start.ts";

const app = await start({ after });

test("the page of the settings shows the beginning of long values", async () => {
  const settings = Array.from({ length: 15 }, (_, i) => ({
    key: `key-${i}`,
    value: "v".repeat(60_000),
  }));
  const { status, text: answer } = await app.put("/api/v1/settings", { settings });
  assert.equal(status, 200, answer.slice(0, 200));
  const { text } = await app.get("/portal/access/settings");
  assert.ok(text.includes("key-14"));
  assert.ok(text.length < 50_000, String(text.length));
});

test("the page of the fleet shows the beginning of what runtimes report", async () => {
  const long = "x".repeat(1_024);
  const report = { hostname: long, os: long, version: long, policy_version: long };
  for (let i = 0; i < 200; i++) {
    await app.post("/api/v1/fleet/heartbeat", { name: `runtime-${i}`, ...report });
  }
  const { text } = await app.get("/portal/fleet");
  assert.match(text, /runtime-199/);
  assert.ok(text.length < 250_000, String(text.length));
});

test("very long provider names are not listed", async () => {
  const long = "p".repeat(60_000);
  await app.post("/api/v1/audit", { events: [{ provider: long }, { provider: "acme" }] });
  const names = (await app.get("/api/v1/provider-names")).text;
  const dashboard = (await app.get("/api/v1/dashboard")).body;
  assert.ok(names.includes('"acme"') && !names.includes("ppp"));
  assert.deepEqual(dashboard.by_provider, { acme: 1 });
  assert.equal((await app.get(`/api/v1/audit?provider=${"p".repeat(10)}`)).status, 200);
});

test("the page of the policies shows the beginning of a long document", async () => {
  const yaml = `rules: []\n${"# a\n".repeat(6_000)}`;
  const answer = await app.post("/api/v1/policies", { version: "long", yaml });
  assert.equal(answer.status, 201, answer.text.slice(0, 200));
  const { text } = await app.get("/portal/policies");
  assert.ok(text.includes('<a href="/api/v1/policies/long">All of long as JSON</a>'));
  assert.ok(text.length < 500_000, String(text.length));
});

test("a long name of a person or a provider is repeated in few links", async () => {
  const long = "'".repeat(5_000); // an address takes three characters for each, and markup five
  const events = Array.from({ length: 200 }, (_, i) => ({
    ...{ executor: long, provider: long, decision: "denied" },
    timestamp: new Date(app.now - i * 3_000_000).toISOString(),
  }));
  await app.post("/api/v1/audit", { events });
  const links = ["executor?name", "catalog?provider", "audit?range=7d&executor"];
  for (const link of links) {
    const { text } = await app.get(`/portal/${link}=${long}`);
    assert.match(text, /[?;]event=/, link);
    assert.ok(text.length < 1_000_000, `${link}: ${text.length}`);
  }
});

test("long filters of the audit page are repeated in few links", async () => {
  const long = "'".repeat(450);
  const names = ["executor", "provider", "capability", "policy", "status", "runtime", "trace_id"];
  const all = Object.fromEntries(names.map((name) => [name, long]));
  await app.post("/api/v1/audit", { events: [{ ...all, decision: "denied", id: "long" }] });
  const other = "'".repeat(451);
  const query = [
    ...names.flatMap((name) => [`${name}=${long}`, `not_${name}=${other}`]),
    ...["q", "reason", "not_consumer", "not_observed", "not_reported_by"].map(
      (n) => `${n}=${other}`,
    ),
    ...["from=2026-11-01", "to=2026-12-01", "event=long"],
  ].join("&");
  const { text } = await app.get(`/portal/audit?${query}`);
  assert.match(text, /aria-label="Drop not executor/);
  assert.match(text, /aria-label="Only events with executor/);
  assert.match(
    text,
    /href="\/portal\/audit\?from=2026-11-01T00:00:00Z&amp;to=2026-12-01T00:00:00Z"/,
  );
  assert.ok(text.length < 700_000, String(text.length));
});

test("a long search of versions is repeated in few links", () => {
  const q = "'".repeat(4_000);
  const text = finish(renderPolicies(policiesModel({ description: q }, { q }))).toString();
  assert.ok(text.includes("206 versions match"));
  assert.ok(text.length < 500_000, String(text.length));
});

test("the page of a rule lists 500 rules of its version", async () => {
  const rules = Array.from(
    { length: 5_000 },
    (_, i) => `  - { id: rule-${i}, effect: deny, match: {} }`,
  );
  const yaml = ["schema: signalbox/policy/v1", "default: deny", "rules:", ...rules].join("\n");
  const answer = await app.post("/api/v1/policies", { version: "rules", yaml });
  assert.equal(answer.status, 201, answer.text.slice(0, 200));
  const { text } = await app.get("/portal/rule?version=rules&id=rule-4000");
  assert.match(text, /<h1>rule-4000<\/h1>/);
  assert.ok(text.includes("rule-499<") && !text.includes("rule-500<"));
  assert.ok(text.replaceAll("\u202f", "").includes("4500 more in"));
});

test("the page of the policies lists the newest 200 versions", () => {
  const text = finish(renderPolicies(policiesModel())).toString();
  assert.ok(text.includes("206 versions") && text.includes("6 older: a search finds them"));
  assert.ok(text.includes("version=v7&") && !text.includes("version=v6&"));
});

function policiesModel(each: Partial<PolicySummary> = {}, query: PoliciesModel["query"] = {}) {
  const versions = Array.from({ length: 206 }, (_, i) => ({
    organization_id: "default",
    version: `v${206 - i}`,
    name: "policy",
    active: i === 0,
    updated_by: "ada",
    updated_at: "2026-11-20T20:30:00.000Z",
    ...each,
  }));
  const fleet = {
    ...{ online: 0, idle: 0, offline: 0, drifted: 0, total: 0 },
    ...{ policy_version: "v206", policy_versions: [] },
  };
  return {
    ...{ now: 0, apiUrl: "http://127.0.0.1/api/v1", needsCredential: false },
    ...{ query, rollouts: [], versions, fleet, hours: { versions: [], hours: [] } },
    shown: { ...versions[0], yaml: "rules: []" } as Policy,
    against: undefined,
  };
}
