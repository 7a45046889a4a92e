import assert from "node:assert/strict";
import { after } from "node:test";
import { browserTest, MARKUP, refresh, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const app = await start({ after });
await app.post("/api/v1/policies", { version: "v1", yaml: "rules: []" });
await app.post("/api/v1/policies", { version: "v2", yaml: "rules: []\n# more\n" });
await app.post("/api/v1/fleet/heartbeat", { name: "build-1", policy_version: "v1" });
await app.post("/api/v1/fleet/heartbeat", { name: "laptop", version: "guard 0.2.0" });
await app.post("/api/v1/audit", {
  id: "e1",
  command: MARKUP,
  provider: "kubernetes",
  decision: "DENIED",
});
await app.post("/api/v1/api-keys", { name: MARKUP });
await app.post("/api/v1/rollouts", {
  version: "v1",
  stages: [{ labels: { env: "staging" }, gates: { min_runtimes: 1 } }, { percent: 100 }],
});
await app.put("/api/v1/settings", { settings: [{ key: "a", value: MARKUP }] });

/** Pages that are kept fresh. */
const PAGES = [
  "/",
  "/portal/policies?version=v1&against=v2",
  "/portal/rollouts",
  "/portal/fleet?drifted=true",
  "/portal/agents",
  "/portal/catalog?q=pod",
  "/portal/catalog?provider=kubernetes",
  "/portal/access/keys",
  "/portal/access/users",
  "/portal/access/organizations",
  "/portal/access/settings",
  "/portal/access/activity?action=policy",
];

for (const path of PAGES) {
  browserTest(`${path} is the same after its module has rendered it`, async (t) => {
    const { page } = await visit(t, app.url + path);
    const content = page.locator("#content");
    const sent = await content.innerHTML();
    await refresh(page);
    assert.equal(await content.innerHTML(), sent);
  });
}

browserTest("without JavaScript no page shows a control that needs it", async (t) => {
  const { page } = await visit(t, app.url, { javaScriptEnabled: false });
  const paths = ["/portal/audit?event=e1", "/portal/policies/new", "/portal/access/account"];
  for (const path of [...PAGES, ...paths]) {
    await page.goto(app.url + path);
    assert.equal(
      await page.locator(".needs-modules:visible, [data-copy]:visible").count(),
      0,
      path,
    );
  }
});
