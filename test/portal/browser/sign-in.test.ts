import assert from "node:assert/strict";
import { after } from "node:test";
import type { Page } from "playwright-core";
import { browserTest, visit } from "../../support/browser.ts";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../../support/start.ts";

const app = await start({ after }, { ...ADMIN_SETTINGS, requireAuth: true });
await app.post("/api/public/audit", { command: "wagon-7" });
const SIGN_IN = "**/portal/sign-in";

async function signIn(page: Page, email: string = ADMIN.email): Promise<void> {
  await page.waitForURL(SIGN_IN);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(ADMIN.password);
  await page.keyboard.press("Enter");
}

/** Ends the session when the page sends a change. Before that, another request of the page could notice its end. */
async function endSessionAt(method: string, page: Page, path: string, own: App): Promise<void> {
  await page.route(`**/api/v1${path}`, async (route) => {
    if (route.request().method() === method) own.advance(25 * 3_600_000);
    await route.continue();
  });
}

browserTest("one sign-in serves all tabs, and a sign-out ends it in all of them", async (t) => {
  const { page: first } = await visit(t, `${app.url}/portal/audit`, {}, [401]);
  const second = await first.context().newPage();
  await second.goto(`${app.url}/portal/fleet`);
  await second.waitForURL(SIGN_IN);
  await signIn(first);
  await first.getByText("wagon-7").waitFor();
  await second.waitForURL("**/portal/fleet");
  await second.getByText("No runtimes yet").waitFor();
  const third = await first.context().newPage();
  await third.goto(`${app.url}/portal/policies/new`);
  await third.locator("#yaml").fill("rules: []\n# mine");
  const kept = String(await first.evaluate("localStorage.getItem('signalbox.session')"));
  const { token } = JSON.parse(kept) as { readonly token: string };
  await second.getByRole("button", { name: "Sign out" }).click();
  for (const page of [first, second, third]) {
    await page.waitForURL(SIGN_IN);
    assert.equal(await page.evaluate("sessionStorage.length"), 0);
  }
  const headers = { authorization: `Bearer ${token}` };
  assert.equal((await app.get("/api/v1/auth/me", headers)).status, 401);
});

browserTest("a draft survives its user's sign-out, and no other user sees it", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await own.asUser(ADMIN);
  await own.createUser({ email: "otto@example.com", role: "operator" }, admin);
  await own.post("/api/v1/policies", { version: "v1", yaml: "rules: []" }, admin);
  const editor = `${own.url}/portal/policies/new`;
  const { page } = await visit(t, editor, {}, [401]);
  const text = page.getByRole("textbox", { name: "Policy document" });
  const checked = () => page.getByText("Valid: it could be published").waitFor();
  const unchanged = () => page.getByText("Valid, without a change").waitFor();
  await signIn(page);
  await unchanged();
  await text.fill("rules: []\n# mine");
  await checked();
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, "otto@example.com");
  await page.waitForURL(`${own.url}/`);
  await page.goto(editor);
  await unchanged();
  await text.fill("rules: []\n# of otto");
  await checked();
  // A session that ends in another way keeps what the tab has, but not for another user.
  own.advance(25 * 3_600_000);
  await page.reload();
  await page.getByText("Your session has ended").waitFor();
  await signIn(page);
  await page.waitForURL(`${own.url}/`);
  await page.goto(editor);
  await page.getByText("This is the draft that you left").waitFor();
  await checked();
  assert.equal(await text.inputValue(), "rules: []\n# mine");
  await page.getByRole("button", { name: "Discard the draft" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, "otto@example.com");
  await page.waitForURL(`${own.url}/`);
  await page.goto(editor);
  await checked();
  assert.equal(await text.inputValue(), "rules: []\n# of otto");
});

browserTest("a session that the service rejects ends in all tabs, which lead back", async (t) => {
  const { page: first } = await visit(t, `${app.url}/portal/fleet`, {}, [401]);
  await signIn(first);
  await first.getByText("No runtimes yet").waitFor();
  const second = await first.context().newPage();
  await second.goto(`${app.url}/portal/audit?q=wagon`);
  await second.getByText("wagon-7").waitFor();
  app.advance(25 * 3_600_000);
  await first.reload();
  await first.getByText("Your session has ended").waitFor();
  await second.getByText("Your session has ended").waitFor();
  await signIn(first);
  await first.waitForURL("**/portal/fleet");
  await second.waitForURL("**/portal/audit?q=wagon");
});

browserTest("a dialog has what was typed into it before the session ended", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await own.asUser(ADMIN);
  const yaml = "schema: signalbox/policy/v1\nrules: []";
  await own.post("/api/v1/policies", { version: "v1", yaml }, admin);
  const { page } = await visit(t, `${own.url}/portal/policies/new`, {}, [401]);
  const dialog = page.getByRole("dialog");
  const field = (name: string) => dialog.getByLabel(name, { exact: true });
  const stage = (number: number) => dialog.getByRole("group", { name: `Stage ${number}` });
  await endSessionAt("POST", page, "/policies", own);
  const endSession = async (button: string): Promise<void> => {
    await dialog.getByRole("button", { name: button }).click();
    await page.getByText("Your session has ended").waitFor();
    await signIn(page);
  };
  await signIn(page);
  await page.getByText("Valid, without a change").waitFor();
  await page.getByRole("textbox", { name: "Policy document" }).fill(`${yaml}\n# mine`);
  await page.getByLabel("Commands, one in each line").fill("git push --force");
  await page.getByRole("button", { name: "Review and publish…" }).click();
  await field("Version name").fill("mine");
  await field("What it is about").fill("Typed for minutes");
  await endSession("Publish and activate");
  await page.getByRole("button", { name: "Review and publish…" }).click();
  assert.equal(await field("Version name").inputValue(), "mine");
  assert.equal(await field("What it is about").inputValue(), "Typed for minutes");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(
    await page.getByLabel("Commands, one in each line").inputValue(),
    "git push --force",
  );
  await page.getByRole("button", { name: "Review and publish…" }).click();
  assert.equal(await field("What it is about").inputValue(), "");
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await page.getByRole("button", { name: "Store and roll out…" }).click();
  await stage(2).getByRole("button", { name: "Remove" }).click();
  await stage(1).getByLabel("Hold, in minutes").fill("77");
  await dialog.getByRole("button", { name: "Add a stage" }).click();
  await stage(4).getByLabel("Runtimes", { exact: true }).selectOption("names");
  await stage(4).getByLabel("Labels, percentage or names").fill("build-1, build-2");
  await endSession("Begin the rollout");
  await page.getByRole("button", { name: "Store and roll out…" }).click();
  await stage(4).waitFor();
  assert.equal(await dialog.getByRole("group").count(), 3);
  assert.equal(await stage(1).getByLabel("Hold, in minutes").inputValue(), "77");
  assert.equal(
    await stage(4).getByLabel("Labels, percentage or names").inputValue(),
    "build-1, build-2",
  );
  assert.equal(await stage(4).getByLabel("Runtimes", { exact: true }).inputValue(), "names");
  await dialog.getByRole("button", { name: "Add a stage" }).click();
  await stage(5).waitFor();
});

browserTest("all pairs of the settings form are there again after a sign-in", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const { page } = await visit(t, `${own.url}/portal/access/settings`, {}, [401]);
  await signIn(page);
  await page.getByLabel("Key", { exact: true }).fill("first");
  await page.getByRole("button", { name: /another/i }).click();
  await page.getByLabel("Value 2").fill("two\nlines");
  await endSessionAt("PUT", page, "/settings", own);
  await page.getByLabel("Key 2").fill("second");
  await page.keyboard.press("Enter");
  await page.getByText("Your session has ended").waitFor();
  await signIn(page);
  await page.getByText("No settings yet").waitFor();
  assert.equal(await page.getByLabel("Key", { exact: true }).inputValue(), "first");
  assert.equal(await page.getByLabel("Key 2").inputValue(), "second");
  assert.equal(await page.getByLabel("Value 2").inputValue(), "two\nlines");
});

browserTest("the views that a user saved are not shown to the next one", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await own.asUser(ADMIN);
  await own.createUser({ email: "otto@example.com", role: "viewer" }, admin);
  const { page } = await visit(t, `${own.url}/portal/audit?executor=vera`, {}, [401]);
  const views = page.locator("#views");
  const saved = views.getByRole("link", { name: "vera" });
  await signIn(page);
  await page.waitForURL("**/portal/audit?executor=vera");
  await views.locator("summary").click();
  await views.getByRole("button", { name: "Save" }).click();
  await saved.waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, "otto@example.com");
  await page.waitForURL(`${own.url}/`);
  await page.goto(`${own.url}/portal/audit`);
  await views.locator("summary").click();
  await views.getByText("No saved views yet").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page);
  await page.waitForURL(`${own.url}/`);
  await page.goto(`${own.url}/portal/audit`);
  await views.locator("summary").click();
  await saved.waitFor();
});

browserTest("a dialog about another thing does not get what was typed", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await own.asUser(ADMIN);
  for (const email of ["otto@example.com", "vera@example.com"])
    await own.createUser({ email, name: email, role: "viewer" }, admin);
  const { page } = await visit(t, `${own.url}/portal/access/users`, {}, [401]);
  const edit = (email: string) =>
    page.getByRole("row", { name: email }).getByRole("button", { name: /^Edit/ }).click();
  const name = page.getByRole("dialog").getByLabel("Name", { exact: true });
  await signIn(page);
  await edit("otto@example.com");
  await name.fill("Otto");
  await endSessionAt("PATCH", page, "/users/*", own);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Your session has ended").waitFor();
  await signIn(page);
  await edit("vera@example.com");
  assert.equal(await name.inputValue(), "vera@example.com");
  await page.keyboard.press("Escape");
  await edit("otto@example.com");
  assert.equal(await name.inputValue(), "Otto");
});

browserTest("the sign-in page is bare, and a signed-in reader is led on", async (t) => {
  const { page } = await visit(t, `${app.url}/portal/sign-in`);
  assert.equal(await page.getByRole("navigation").count(), 0);
  assert.equal(await page.locator("footer").count(), 0);
  await signIn(page);
  await page.waitForURL(`${app.url}/`);
  await page.goto(`${app.url}/portal/sign-in`);
  await page.waitForURL(`${app.url}/`);
});

browserTest("without JavaScript pages say how to go on", async (t) => {
  const { page } = await visit(t, `${app.url}/portal/audit`, { javaScriptEnabled: false });
  const content = page.locator("#content");
  assert.match(await content.innerText(), /Allow JavaScript/);
  assert.match(await content.innerText(), /curl -H 'X-API-Key: <api_key>'/);
  assert.equal(await page.getByText("Loading…").isVisible(), false);
  await page.goto(`${app.url}/portal/sign-in`);
  assert.match(await content.innerText(), /Allow it for this address/);
  assert.equal(await page.locator("form").isVisible(), false);
});
