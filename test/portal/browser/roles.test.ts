import assert from "node:assert/strict";
import { after } from "node:test";
import type { Page } from "playwright-core";
import { browserTest, visit } from "../../support/browser.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../../support/start.ts";

const app = await start({ after }, { ...ADMIN_SETTINGS, requireAuth: true, roles: "enforced" });
const admin = await app.asUser(ADMIN);
await app.createUser({ email: "vera@example.com", role: "viewer" }, admin);
await app.createUser({ email: "otto@example.com", role: "operator" }, admin);
await app.post("/api/v1/policies", { version: "v1", yaml: "rules: []" }, admin);
await app.post("/api/v1/policies", { version: "v2", yaml: "rules: [a]" }, admin);
await app.post("/api/v1/audit", { id: "e1", command: "git push" }, admin);
await app.post("/api/v1/fleet/heartbeat", { name: "build-1" }, admin);
await app.post("/api/v1/api-keys", { name: "agents", scopes: "night shift" }, admin);

async function signIn(page: Page, email: string): Promise<void> {
  await page.waitForURL("**/portal/sign-in");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(ADMIN.password);
  await page.keyboard.press("Enter");
}

const CREATE = "Create key";

/** Each page with a text for all roles, the button of an operation, and the role of the operation. */
const PAGES = [
  ["/portal/access/keys", "agents", CREATE, "operator or admin"],
  ["/portal/agents", "Claude Code", CREATE, "operator or admin"],
  ["/portal/access/users", "otto@example.com", "Add user", "admin"],
  ["/portal/access/organizations", "(yours)", "Create organization", "admin"],
  ["/portal/access/settings", "This deployment", "Save", "admin"],
  ["/portal/policies?version=v1", "v2", "Roll back to this version…", "operator or admin"],
  ["/portal/policies/new", "Try commands", "Review and publish…", "operator or admin"],
  ["/portal/catalog?provider=git", "Scope", "Set", "operator or admin"],
] as const;

for (const [role, email] of [
  ["viewer", "vera@example.com"],
  ["operator", "otto@example.com"],
  ["admin", ADMIN.email],
] as const) {
  browserTest(`a ${role} is shown what the role includes, and told what it does not`, async (t) => {
    const { page } = await visit(t, `${app.url}/portal/access/account`);
    await signIn(page, email);
    await page.getByText(email).first().waitFor();
    for (const [path, shown, button, needed] of PAGES) {
      await page.goto(app.url + path);
      await page.locator("#content").getByText(shown).first().waitFor();
      const isAllowed = needed.includes(role);
      const note = page.getByText(`takes the role ${needed}; yours is ${role}`);
      const control = page.getByRole("button", { name: button, exact: true });
      await (isAllowed ? control : note).first().waitFor();
      assert.equal(await control.count(), isAllowed ? 1 : 0, `${path} ${button}`);
      assert.equal(await note.count(), isAllowed ? 0 : 1, `${path} ${button}`);
    }
    await page.goto(`${app.url}/portal/policies`);
    await page.getByRole("heading", { name: "v2" }).waitFor();
    const writing = page.getByRole("link", { name: /^New version$|^Edit as a new version$/ });
    assert.equal(await writing.count(), role === "viewer" ? 0 : 2);
    await page.goto(`${app.url}/portal/audit?event=e1`);
    await page.locator("#audit-event").getByText("git push").first().waitFor();
    const drafts = page.getByRole("button", { name: "denies it" });
    assert.equal(await drafts.count(), role === "viewer" ? 0 : 1);
    await page.goto(`${app.url}/portal/fleet`);
    await page.getByText("build-1").first().waitFor();
    const forget = page.getByRole("button", { name: "Forget" });
    assert.equal(await forget.count(), role === "viewer" ? 0 : 1);
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Denied in the last 24 hours" }).waitFor();
    const write = page.getByRole("option", { name: "Write a policy" });
    assert.equal(await write.count(), role === "viewer" ? 0 : 1);
  });
}

browserTest("a key is created with a scope, and a key without limits is marked", async (t) => {
  const visited = await visit(t, `${app.url}/portal/access/keys`);
  const { page } = visited;
  await signIn(page, ADMIN.email);
  await page.getByText("limits nothing, acts as runtime").waitFor();
  await page.getByLabel("What it is for").fill("reporter");
  await page.getByLabel("What it may do").selectOption("report");
  await page.getByRole("button", { name: CREATE }).click();
  await page.getByText("The key for reporter").waitFor();
  const { api_keys: keys } = (await app.get("/api/v1/api-keys", admin)).body;
  assert.equal(keys[0].scopes, "report");
  await visited.checkAccessibility();
});
