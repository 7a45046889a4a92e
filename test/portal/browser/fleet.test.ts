import assert from "node:assert/strict";
import { after } from "node:test";
import { browserTest, checkLooks, MARKUP, PHONE, visit } from "../../support/browser.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../../support/start.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const app = await start({ after });
const beat = (name: string, fields: object = {}) =>
  app.post("/api/v1/fleet/heartbeat", { name, policy_version: "v2", ...fields });
await app.post("/api/v1/policies", { version: "v1", yaml: "a: 1" });
await app.post("/api/v1/policies", { version: "v2", yaml: "a: 2" });
await beat("old-laptop", { policy_version: "v1" });
app.advance(DAY_MS);
await beat("build-idle", { policy_version: "v1", os: "darwin" });
app.advance(20 * MINUTE_MS);
await beat("build-7", { hostname: "ci-7.example.com", version: "2.3.1" });
await beat(`a/b ${MARKUP}`, { hostname: MARKUP });
const url = `${app.url}/portal/fleet`;

browserTest(
  "the fleet shows status, last heartbeat and drift, also without JavaScript",
  async (t) => {
    const { page } = await visit(t, url, { javaScriptEnabled: false });
    const rows = page.getByRole("row");
    assert.match(
      await rows.nth(2).innerText(),
      /build-7\s+ci-7.example.com\s+Online\s+just now\s+v2\s+2.3.1/,
    );
    assert.match(
      await rows.nth(3).innerText(),
      /build-idle\s+Idle\s+20 min ago\s+v1\s+Drifted\s+darwin/,
    );
    assert.match(await rows.nth(4).innerText(), /old-laptop\s+Offline\s+1 day ago\s+v1\s*$/);
    assert.equal(
      await page.locator("time").nth(2).getAttribute("title"),
      "2026-11-21 20:30:00 UTC",
    );
    await page.getByLabel("Status").selectOption("idle");
    await page.getByRole("button", { name: "Filter" }).click();
    assert.match(page.url(), /status=idle/);
    assert.equal(await rows.count(), 2);
  },
);

browserTest("filters apply while typing, are part of the address, and can be shared", async (t) => {
  const { page } = await visit(t, url);
  const rows = page.getByRole("row");
  await page.waitForLoadState("networkidle");
  await page.keyboard.press("/");
  await page.keyboard.type("CI-7");
  await page.waitForURL("**/portal/fleet?q=CI-7");
  await page.getByText("1 of 4 runtimes").waitFor();
  assert.equal(await rows.count(), 2);
  assert.equal(await page.evaluate("document.activeElement.id"), "q");
  await page.getByLabel(/Drifted only/).check();
  await page.getByText("No runtime matches").waitFor();
  await page.getByLabel("Search").fill("");
  await page.waitForURL("**/portal/fleet?drifted=true");
  await page.goto(page.url());
  await page.getByText("1 of 4 runtimes").waitFor();
  assert.equal(await rows.count(), 2);
  assert.ok(await page.getByLabel(/Drifted only/).isChecked());
  await page.getByRole("link", { name: "Drifted", exact: true }).click();
  await page.waitForURL("**/portal/policies?version=v2&against=v1");
});

browserTest(
  "a runtime is forgotten after a dialog, with a token where one is required",
  async (t) => {
    const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
    const name = `a/b ${MARKUP}`;
    await own.post("/api/public/policies", { version: "v2", yaml: "a: 2" });
    await own.post("/api/public/fleet/heartbeat", { name, policy_version: "v1" });
    const visited = await visit(t, `${own.url}/portal/fleet`, {}, [401]);
    const { page } = visited;
    await page.getByLabel("Email").fill(ADMIN.email);
    await page.getByLabel("Password").fill(ADMIN.password);
    await page.keyboard.press("Enter");
    await page.getByText("Drifted only (1)").waitFor();
    await page.getByRole("button", { name: "Forget" }).click();
    const dialog = page.getByRole("dialog");
    assert.ok((await dialog.innerText()).includes(name));
    await visited.checkUnbroken();
    await dialog.getByRole("button", { name: "Forget" }).click();
    await page.getByText("No runtimes yet").waitFor();
    // It closes at once and is removed, and the focus set, in the next frame. By its role it would only be found while open.
    await page.locator("dialog").waitFor({ state: "detached" });
    // The row with the pressed button is gone.
    assert.equal(await page.evaluate("document.activeElement.id"), "content");
    assert.deepEqual((await own.get("/api/public/fleet")).body.runtimes, []);
  },
);

browserTest("the fleet is accessible and fits, and names are never markup", async (t) => {
  const visited = await visit(t, url);
  assert.ok((await visited.page.locator("tbody").innerText()).includes(MARKUP));
  await visited.checkUnbroken();
  await checkLooks(t, url, "fleet");
});

browserTest("on a phone a field without a value is not named", async (t) => {
  const { page } = await visit(t, `${url}?q=build-7`, { viewport: PHONE });
  const row = page.getByRole("row", { name: "build-7" });
  await row.locator('[data-label="Version"]').waitFor();
  assert.equal(await row.locator('[data-label="System"]').isVisible(), false);
});

browserTest("several labels narrow the fleet, typed or chosen one after another", async (t) => {
  const own = await start(t);
  const labelled = (name: string, env: string, team: string) =>
    own.post("/api/v1/fleet/heartbeat", { name, labels: { env, team } });
  await labelled("a", "prod", "web");
  await labelled("b", "prod", "data");
  await labelled("c", "staging", "web");
  const { page } = await visit(t, `${own.url}/portal/fleet`);
  const rows = page.getByRole("row");
  await page.waitForLoadState("networkidle");
  await page.getByLabel("Labels").fill("env:prod, team:web");
  await page.getByText("1 of 3 runtimes").waitFor();
  assert.match(await rows.nth(1).innerText(), /^a\s/);
  await page.goto(`${own.url}/portal/fleet`);
  await page.getByRole("link", { name: "Env:prod" }).first().click();
  await page.getByText("2 of 3 runtimes").waitFor();
  await page.getByRole("link", { name: "Team:data" }).click();
  await page.waitForURL("**/portal/fleet?label=env%3Aprod&label=team%3Adata");
  await page.getByText("1 of 3 runtimes").waitFor();
  assert.equal(await page.getByLabel("Labels").inputValue(), "env:prod, team:data");
});

browserTest("a filter that is chosen before the page's module is there is not lost", async (t) => {
  const { page } = await visit(t, `${url}?status=idle`);
  let load = (): void => {};
  const isChosen = new Promise<void>((resolve) => (load = resolve));
  await page.route("**/fleet*.js", async (route) => {
    await isChosen;
    await route.continue();
  });
  await page.reload({ waitUntil: "commit" });
  await page.getByLabel(/Drifted only/).check();
  load();
  await page.waitForURL("**/portal/fleet?status=idle&drifted=true");
  await page.getByText(/^1 of \d+ runtimes/).waitFor();
});
