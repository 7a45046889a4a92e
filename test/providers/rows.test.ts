import assert from "node:assert/strict";
import { test } from "node:test";
import { viewOf } from "../../src/catalog/view.ts";
import { allProviderNames, providerRow, providerRows } from "../../src/providers/rows.ts";

const T0 = Date.parse("2026-11-20T20:30:00.000Z");

const view = viewOf(
  {
    contract_version: "1.0",
    generated_at: "2026-11-20T00:00:00Z",
    runtime: { known: false, note: "By hand." },
    providers: [
      { id: "aws", name: "Amazon", auth: "IAM", scope: "account", operations: ["list", "get"] },
      { id: "git", name: "Git", auth: "none", scope: "repository", operations: [] },
    ],
    capabilities: [
      { id: "aws/list_x", name: "List x", provider: "aws", description: "Lists.", path: "p" },
    ],
  },
  "embed",
);

const NONE = new Map<string, never>();

test("a provider joins the catalog with the organization's events", () => {
  const activity = new Map([["aws", { events: 3, failed: 0, lastUsed: T0 }]]);
  assert.deepEqual(providerRow("aws", view, activity, NONE), {
    id: "aws",
    name: "Amazon",
    auth: "IAM",
    scope: "account",
    capabilities: 1,
    operations: 2,
    last_used: "2026-11-20T20:30:00.000Z",
    status: "connected",
  });
});

test("a provider that was never used has no last use", () => {
  const row = providerRow("git", view, new Map(), NONE);
  assert.equal(row?.status, "offline");
  assert.ok(!JSON.stringify(row).includes("last_used"));
});

test("a provider that was used long ago is offline and still has a last use", () => {
  const row = providerRow(
    "git",
    view,
    new Map([["git", { events: 0, failed: 0, lastUsed: 0 }]]),
    NONE,
  );
  assert.deepEqual([row?.status, row?.last_used], ["offline", "1970-01-01T00:00:00.000Z"]);
});

test("an override replaces the status from events, for its provider only", () => {
  const activity = new Map([["aws", { events: 9, failed: 9, lastUsed: T0 }]]);
  const rows = providerRows(view, activity, new Map([["git", "degraded"]]));
  assert.deepEqual(
    rows.map(({ id, status }) => [id, status]),
    [
      ["aws", "degraded"],
      ["git", "degraded"],
    ],
  );
  const lifted = providerRows(view, activity, new Map([["aws", "connected"]]));
  assert.equal(lifted[0]?.status, "connected");
});

test("a provider that only events name is in the names, not in the rows", () => {
  const used = { events: 1, failed: 0, lastUsed: T0 };
  const activity = new Map([
    ["svn", used],
    ["__proto__", used],
    ["aws", used],
    ["Zed", used],
  ]);
  assert.equal(providerRows(view, activity, NONE).length, 2);
  assert.equal(providerRow("svn", view, activity, NONE), undefined);
  assert.deepEqual(allProviderNames(view, activity.keys()), [
    "Zed",
    "__proto__",
    "aws",
    "git",
    "svn",
  ]);
});
