/** The server and the browser modules assemble the same page: from the stores, and from the API. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { finish } from "../../src/core/scheduling/work.ts";
import { readQuery, type QueryParameters } from "../../src/http/query.ts";
import { audit } from "../../src/portal/pages/audit-page.ts";
import { account } from "../../src/portal/pages/access-account.ts";
import { activity } from "../../src/portal/pages/access-activity.ts";
import { apiKeys } from "../../src/portal/pages/access-keys.ts";
import { organizations } from "../../src/portal/pages/access-organizations.ts";
import { organizationSettings } from "../../src/portal/pages/access-settings.ts";
import { users } from "../../src/portal/pages/access-users.ts";
import { ApiError, apiSource } from "../../src/portal/pages/api-source.ts";
import { agents } from "../../src/portal/pages/agents.ts";
import { catalog } from "../../src/portal/pages/catalog.ts";
import { executor } from "../../src/portal/pages/executor.ts";
import { fleet } from "../../src/portal/pages/fleet.ts";
import { overview } from "../../src/portal/pages/overview.ts";
import { policies } from "../../src/portal/pages/policies.ts";
import { policyEditor } from "../../src/portal/pages/policy-editor.ts";
import { rollouts } from "../../src/portal/pages/rollouts.ts";
import { rule } from "../../src/portal/pages/rule.ts";
import { runtime } from "../../src/portal/pages/runtime.ts";
import type { DataPage } from "../../src/portal/pages/source.ts";
import { filesBelow } from "../repository/source-files.ts";
import { start, type App } from "../support/start.ts";

/** The pages that their modules render, each with the views that are compared. */
const PAGES: readonly (readonly [DataPage<never, never>, string, readonly string[]])[] = [
  [overview, "/", [""]],
  [
    audit,
    "/portal/audit",
    [
      ...["", "?q=LONG", "?decision=denied&range=24h", "?executor=ada&status=lost", "?event=e1"],
      ...["?event=e9", "?from=never", "?from=2026-11-20&to=2026-11-21T12:00", "?live=true"],
      ...["?cursor=mine", "?executor=ada&executor=eve&q="],
    ],
  ],
  [
    policies,
    "/portal/policies",
    [
      ...["", "?version=v1", "?version=v1&against=v2", "?version=none", "?against=none"],
      ...["?version=", "?q=V1", "?q=none&version=v2&against=v1"],
    ],
  ],
  [policyEditor, "/portal/policies/new", ["", "?from=v1", "?from=none"]],
  [
    fleet,
    "/portal/fleet",
    [
      ...["", "?q=BUILD-1", "?status=online", "?status=gone", "?policy=v1", "?policy=none"],
      ...["?drifted=true", "?drifted=yes", "?limit=7", "?limit=0", "?limit=9e9", "?limit=99999"],
      ...["?q=no-such-runtime&status=idle", "?sort=-name", "?sort=drifted&limit=7", "?sort=none"],
    ],
  ],
  [rollouts, "/portal/rollouts", ["", "?id=none"]],
  [agents, "/portal/agents", [""]],
  [runtime, "/portal/runtime", ["?name=build-1", "?name=none", ""]],
  [
    rule,
    "/portal/rule",
    ["?id=a", "?id=read-anything", "?id=b&version=v1", "?reason=r", "?version=none", ""],
  ],
  [executor, "/portal/executor", ["?name=ada", "?name=none", ""]],
  [
    catalog,
    "/portal/catalog",
    [
      "",
      "?q=pod",
      "?q=no+such+thing",
      "?provider=kubernetes",
      "?provider=kubernetes&q=x1",
      "?provider=x",
    ],
  ],
  [apiKeys, "/portal/access", [""]],
  [apiKeys, "/portal/access/keys", [""]],
  [users, "/portal/access/users", [""]],
  [organizations, "/portal/access/organizations", [""]],
  [organizationSettings, "/portal/access/settings", [""]],
  [
    activity,
    "/portal/access/activity",
    [
      ...["", "?action=policy", "?action=policy.publish", "?actor=anonymous&q=wagon", "?offset=50"],
      ...["?offset=-1", "?offset=1.5", "?offset=x", "?offset=1e99", "?target=v1", "?q=no+such"],
    ],
  ],
  [account, "/portal/access/account", [""]],
] as never;

/** A page as the server sends it: its content, and the facts that its module reads from the frame. */
async function serverPage(app: App, path: string) {
  const { status, text } = await app.get(path, { accept: "text/html" });
  assert.equal(status, 200);
  const [, content] = /<main id="content" tabindex="-1">(.*)<\/main>/s.exec(text) ?? [];
  const [, apiUrl = ""] = /data-api-url="([^"]*)"/.exec(text) ?? [];
  const [, now] = /data-now="([^"]*)"/.exec(text) ?? [];
  assert.ok(content !== undefined && text.includes('data-open="true"'));
  return { content, context: { now: Number(now), apiUrl, needsCredential: false } };
}

/** The API over HTTP, as a module reads it. */
function sourceAt(apiUrl: string) {
  return apiSource(async (path, query = {}) => {
    const url = new URL(apiUrl + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
    }
    const response = await fetch(url);
    const body = await response.json();
    if (!response.ok) throw new ApiError(response.status, (body as { error: string }).error);
    return body as never;
  });
}

async function checkParity(
  app: App,
  page: DataPage<unknown, QueryParameters>,
  path: string,
): Promise<void> {
  const { content, context } = await serverPage(app, path);
  const query = readQuery(page.parameters, new URL(path, app.url).search.slice(1));
  const model = await page.read(sourceAt(context.apiUrl), context, query);
  const rendered = page.render(model);
  const markup = "next" in rendered ? finish(rendered) : rendered;
  assert.equal(markup.toString(), content, path);
}

const empty = await start({ after });
const filled = await start({ after });
const demo = await start({ after }, { demo: true });
const LONG = "long ".repeat(2_000);
const MARKUP = `</script><img src=x onerror="1">"'\u202e`;
for (const version of ["v1", "v2", "v3"]) {
  await filled.post("/api/v1/policies", { version, yaml: `rules: []\n# ${version}\n` });
}
await filled.post("/api/v1/rollouts", {
  version: "v1",
  stages: [
    { labels: { env: "staging" }, hold_minutes: 30, gates: { min_runtimes: 2, max_offline: 0 } },
    { percent: 25, gates: { max_denied_increase_percent: 5 } },
    { names: ["build-1"] },
    { percent: 100 },
  ],
});
await filled.post("/api/v1/audit", {
  events: [
    { id: "e1", command: LONG, executor: "ada", policy_decision: "DENIED", reason: LONG },
    { id: "e2", command: MARKUP, executor: MARKUP, policy_decision: "DENIED", provider: MARKUP },
    { id: "e3", command: "kubectl get pods", provider: "kubernetes", executor: "eve", ai: true },
    { id: "e4", command: "old", timestamp: "2025-01-01T00:00:00Z", policy_decision: "ALLOWED" },
    ...Array.from({ length: 120 }, (_, i) => ({ command: `ls ${i}`, policy_decision: "ALLOWED" })),
  ],
});
for (let i = 0; i < 250; i++) {
  const policy_version = ["v1", "v3", undefined, LONG.slice(0, 1_000)][i % 4];
  await filled.post("/api/v1/fleet/heartbeat", {
    ...{ name: `build-${i}`, hostname: i === 0 ? MARKUP : `host-${i}`, policy_version },
  });
  if (i % 50 === 0) filled.advance(20 * 60_000);
}
for (const name of ["laptop", "silent", MARKUP]) {
  await filled.post("/api/v1/fleet/heartbeat", { name, version: "guard 0.2.0" });
}
await filled.post("/api/v1/audit", {
  ...{ id: "g1", command: "git push", runtime_name: "laptop", transport: "codex", ai: true },
});
await filled.post("/api/v1/api-keys", { name: MARKUP, expires_in_days: 3 });
await filled.post("/api/v1/users", { email: "wagon@example.com", password: "a good password" });
await filled.put("/api/v1/settings", { settings: [{ key: "long", value: LONG }] });
for (let i = 0; i < 60; i++)
  await filled.put("/api/v1/providers/kubernetes", { status: i % 2 ? "degraded" : "offline" });
const SERVICES = [
  ["an empty service", empty],
  ["a filled one", filled],
  ["an open demo", demo],
] as const;

for (const [page, path, searches] of PAGES) {
  for (const [name, app] of SERVICES) {
    if (app === demo && page.isManagement) continue; // asks for a sign-in there
    test(`${path} of ${name} is the same from the server and from its module`, async () => {
      for (const search of searches) await checkParity(app, page as never, path + search);
    });
  }
}

test("every module that renders a page is compared", () => {
  const modules = filesBelow("src/portal/browser/entries").map(
    (path) => /(\w[\w-]*)\.ts$/.exec(path)?.[1],
  );
  // These render no page with data.
  const own = [
    "activity-check",
    "audit-facet-list",
    "audit-proof",
    "audit-views",
    "early",
    "missing",
    "palette",
    "reference",
    "sign-in",
  ];
  assert.deepEqual(
    modules.filter((name) => !own.includes(name ?? "")).sort(),
    [...new Set(PAGES.map(([{ module }]) => module))].sort(),
  );
});
