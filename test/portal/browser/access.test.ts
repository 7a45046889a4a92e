import assert from "node:assert/strict";
import { after } from "node:test";
import type { Page } from "playwright-core";
import { ACCESS_TABS } from "../../../src/portal/access-tabs.ts";
import {
  browserTest,
  copiedBy,
  holdAnswers,
  MARKUP,
  type Visit,
  visit,
} from "../../support/browser.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../../support/start.ts";

const closed = await start({ after }, { ...ADMIN_SETTINGS, requireAuth: true });
const open = await start({ after }, ADMIN_SETTINGS);

async function signIn(page: Page, password: string = ADMIN.password): Promise<void> {
  await page.getByLabel("Email").fill(ADMIN.email);
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
}

/** Browsers report every refused request. */
function checkRefusals({ faults }: Visit, ...statuses: readonly number[]): void {
  const others = faults
    .splice(0)
    .filter((fault) => !statuses.some((status) => fault.includes(`status of ${status}`)));
  assert.deepEqual(others, []);
}

browserTest(
  "an ended session leads to the sign-in page and back, and keeps the typed text",
  async (t) => {
    const visited = await visit(t, `${closed.url}/portal/access/keys`);
    const { page } = visited;
    await page.waitForURL("**/portal/sign-in");
    assert.equal(await page.getByText("Your session has ended").isVisible(), false);
    await signIn(page, "wrong password");
    await page.getByText("The email or the password is wrong").waitFor();
    await signIn(page);
    await page.waitForURL("**/portal/access/keys");
    await page.getByText("No API keys yet").waitFor();
    await page.getByLabel("What it is for").fill("build agents");
    closed.advance(25 * 3_600_000);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.waitForURL("**/portal/sign-in");
    await page.getByText("Your session has ended").waitFor();
    await signIn(page);
    await page.waitForURL("**/portal/access/keys");
    await page.getByText("No API keys yet").waitFor();
    assert.equal(await page.getByLabel("What it is for").inputValue(), "build agents");
    checkRefusals(visited, 401);
    assert.equal(await page.evaluate("document.cookie"), "");
    const session = (await page.evaluate("localStorage.getItem('signalbox.session')")) as string;
    const { token } = JSON.parse(session) as { readonly token: string };
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL("**/portal/sign-in");
    assert.equal(await page.evaluate("sessionStorage.length"), 0);
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await closed.get("/api/v1/auth/me", headers)).status, 401);
  },
);

browserTest("a form that is sent before its module is loaded waits for it", async (t) => {
  const { page } = await visit(t, `${closed.url}/portal/sign-in`);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(`${request.method()} ${request.url()}`));
  const module = await holdAnswers(page, "**/sign-in.js");
  await page.reload({ waitUntil: "commit" });
  await signIn(page);
  await page.keyboard.press("Enter");
  assert.equal(page.url(), `${closed.url}/portal/sign-in`);
  module.release();
  await page.waitForURL(`${closed.url}/`);
  await page.getByText(ADMIN.email).waitFor();
  const sent = asked.filter((one) => one.startsWith("POST"));
  assert.deepEqual(sent, [`POST ${closed.url}/api/v1/auth/login`]);
  assert.ok(asked.every((one) => !one.includes("password")));
});

browserTest("a key is created, shown once and copied, used, and revoked", async (t) => {
  const visited = await visit(t, `${closed.url}/portal/access`, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const { page } = visited;
  await signIn(page);
  await page.getByLabel("What it is for").fill(`agents ${MARKUP}`);
  await page.getByLabel("Days until it expires").fill("30");
  await page.keyboard.press("Enter");
  const fresh = page.getByRole("region", { name: "The key for" });
  await fresh.getByText("Store this key now").waitFor();
  await visited.checkAccessibility();
  await visited.screenshot("access-fresh-key");
  const copy = fresh.getByRole("button", { name: "Copy" });
  const key = await copiedBy(page, copy.first());
  assert.match(key, /^sbx_[\w-]{43}$/);
  const lines = (await copiedBy(page, copy.nth(1))).split("\n");
  assert.ok(lines.includes(`export RUNTIME_PORTAL_BASE_URL='${closed.url}'`));
  assert.equal(lines.at(-1), "read -rs SIGNALBOX_API_KEY && export SIGNALBOX_API_KEY");
  assert.ok(lines.every((line) => !line.includes(key)));
  const headers = { "x-api-key": key };
  assert.equal((await closed.get("/api/v1/policies", headers)).status, 200);
  await page.reload();
  const row = page.getByRole("row", { name: "agents" });
  await row.getByText("just now").nth(1).waitFor();
  assert.ok((await row.innerText()).includes(MARKUP));
  assert.match(await row.innerText(), /in (29|30) days/);
  assert.equal(await fresh.count(), 0);
  await row.getByRole("button", { name: "Revoke" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("refused from their next request").waitFor();
  await visited.checkAccessibility();
  await page.keyboard.press("Escape");
  assert.equal((await closed.get("/api/v1/policies", headers)).status, 200);
  await row.getByRole("button", { name: "Revoke" }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await row.getByText("revoked").waitFor();
  assert.equal((await closed.get("/api/v1/policies", headers)).status, 401);
  await visited.checkUnbroken();
});

browserTest("a key of the scope policy comes with the lines for signalbox policy", async (t) => {
  const visited = await visit(t, `${closed.url}/portal/access`);
  const { page } = visited;
  await signIn(page);
  await page.getByLabel("What it is for").fill("pipeline");
  const scope = page.getByLabel("What it may do");
  assert.equal(await scope.inputValue(), "report", "what a runtime needs");
  await scope.selectOption("policy");
  await page.getByRole("button", { name: "Create key" }).click();
  const fresh = page.getByRole("region", { name: "The key for" });
  await fresh.getByText(`export SIGNALBOX_URL='${closed.url}/api/v1'`).waitFor();
  await fresh.getByText("signalbox policy pull").waitFor();
  assert.equal(await fresh.getByText("heartbeat").count(), 0, "which this key may not send");
  await visited.checkUnbroken();
});

browserTest("users are added, changed and deleted, and each form shows its refusals", async (t) => {
  const visited = await visit(t, `${closed.url}/portal/access/users`);
  const { page } = visited;
  await signIn(page);
  const add = page.getByRole("form", { name: "New user" });
  await add.getByLabel("Email").fill("ada@example.com");
  await add.getByLabel("Name, if any").fill(MARKUP);
  await add.getByLabel("First password").fill("short");
  await page.keyboard.press("Enter");
  await add.getByRole("alert").getByText("10 to 256 characters").waitFor();
  await add.getByLabel("First password").fill("a password of hers");
  await page.keyboard.press("Enter");
  const ada = page.getByRole("row", { name: "ada@example.com" });
  await ada.getByText("viewer").waitFor();
  const own = page.getByRole("row", { name: "(you)" });
  await own.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("alert").getByText("last active admin").waitFor();
  await page.keyboard.press("Escape");
  await ada.getByRole("button", { name: "Edit" }).click();
  await visited.checkAccessibility();
  await visited.screenshot("access-edit-user");
  await dialog.getByLabel("Can sign in").uncheck();
  await dialog.getByLabel("Role").selectOption("operator");
  await dialog.getByRole("button", { name: "Save" }).click();
  await ada.getByText("deactivated").waitFor();
  await ada.getByRole("button", { name: "Delete" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await ada.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Activity" }).click();
  const entries = page.locator(".entries > li");
  await entries.first().getByText("deleted the user").waitFor();
  assert.match(
    await entries.nth(1).innerText(),
    /role viewer →\s+became\s+operator\s+active yes →\s+became\s+no/,
  );
  await page.getByLabel("What", { exact: true }).selectOption("login");
  await page.waitForURL("**/activity?action=login");
  await page.locator(".entries").getByText("signed in").first().waitFor();
  await visited.checkUnbroken();
  checkRefusals(visited, 400, 409);
});

browserTest("settings, organizations and the user's own password are changed", async (t) => {
  const visited = await visit(t, `${open.url}/portal/access/settings`);
  const { page } = visited;
  await page.getByLabel("Key", { exact: true }).fill("support");
  await page.getByLabel("Value", { exact: true }).fill(MARKUP);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("row", { name: "support" }).waitFor();
  await page.getByRole("button", { name: "Change support" }).click();
  await page.locator("#setting-value:focus").waitFor();
  await page.getByLabel("Value", { exact: true }).fill("ops@example.com");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("cell", { name: "ops@example.com" }).waitFor();
  await page.getByRole("button", { name: "Another pair" }).click();
  await page.locator("#setting-key-2:focus").waitFor();
  await page.keyboard.type("support");
  await page.getByLabel("Value 2", { exact: true }).fill("who is on call");
  await page.getByLabel("Key", { exact: true }).fill("retention");
  await page.getByLabel("Value", { exact: true }).fill("a year");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("2 values are set").waitFor();
  assert.deepEqual((await open.get("/api/v1/settings")).body.settings, [
    { key: "support", value: "who is on call" },
    { key: "retention", value: "a year" },
  ]);
  assert.equal(await page.getByLabel("Key 2", { exact: true }).count(), 0);
  await visited.checkUnbroken();
  await page.getByLabel("Key", { exact: true }).fill("audit.redact.names");
  await page.getByLabel("Value", { exact: true }).fill("wagon_code");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Remove audit.redact.names" }).click();
  const removal = page.getByRole("dialog");
  await removal.getByText("what only it names as a secret is stored").waitFor();
  await removal.getByRole("button", { name: "Remove" }).click();
  await page.getByText("audit.redact.names is removed").waitFor();
  await page.getByRole("button", { name: "Remove support" }).click();
  assert.equal(await removal.getByText("secret").count(), 0);
  await removal.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: "Organizations" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Acme Railways");
  await page.getByLabel("First admin's email").fill("root@acme.example.com");
  await page.getByLabel("First admin's password").fill("a password of theirs");
  await page.keyboard.press("Enter");
  await page.getByRole("cell", { name: "acme-railways" }).waitFor();
  await page.getByRole("link", { name: "Account" }).click();
  await page.getByText("You are not signed in").waitFor();
  await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("Email").fill("root@acme.example.com");
  await page.getByLabel("Password").fill("a password of theirs");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/access/account");
  await page.getByLabel("Current password").fill("a password of theirs");
  await page.getByLabel("New password", { exact: true }).fill("another password");
  await page.getByLabel("New password again").fill("another password");
  await page.keyboard.press("Enter");
  await page.getByText("The password is changed").waitFor();
  await page.getByRole("link", { name: "Activity" }).click();
  await page.getByText("changed their own password").waitFor();
  assert.equal(await page.getByText("support").count(), 0);
});

browserTest("Access is accessible, fits, and works without JavaScript", async (t) => {
  await open.post("/api/v1/api-keys", { name: `agents ${MARKUP}` });
  await open.post("/api/v1/users", {
    email: "ada@example.com",
    name: MARKUP,
    password: "a password of hers",
  });
  await open.post("/api/v1/policies", { version: "v1", yaml: "a: 1" });
  await open.post("/api/v1/policies", { version: "v2", yaml: "a: 2" });
  const visited = await visit(t, `${open.url}/portal/sign-in`);
  await visited.checkLooks("sign-in");
  for (const { tab } of ACCESS_TABS) {
    await visited.page.goto(`${open.url}/portal/access/${tab}`);
    await visited.checkLooks(`access-${tab}`);
    await visited.checkUnbroken();
  }
  const without = await visit(t, `${open.url}/portal/access/activity?action=policy`, {
    javaScriptEnabled: false,
  });
  const newest = without.page.locator(".entries > li").first();
  assert.match(
    await newest.innerText(),
    /published policy version v2\s[^]*active v1 →\s+became\s+v2/,
  );
  assert.equal(
    await newest.getByRole("link", { name: "What it changed" }).getAttribute("href"),
    "/portal/policies?version=v2&against=v1",
  );
});
