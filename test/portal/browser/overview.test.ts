import assert from "node:assert/strict";
import { after } from "node:test";
import {
  browserTest,
  checkLooks,
  holdAnswers,
  MARKUP,
  refresh,
  visit,
} from "../../support/browser.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../../support/start.ts";

const EVERY_MS = 15_000;
const AWAITED_MS = 3_000;

const app = await start({ after });
await app.post("/api/v1/policies", { version: "v1", yaml: "rules: []" });
await app.post("/api/v1/fleet/heartbeat", { name: "build-1", policy_version: "v0" });
await app.post("/api/v1/audit", {
  events: [
    { command: `echo ${MARKUP}`, provider: MARKUP, policy_decision: "DENIED", reason: MARKUP },
    { command: "git status", policy_decision: "ALLOWED", consumer: "ai" },
  ],
});

browserTest(
  "the overview has the same text with and without JavaScript, and runs no markup from data",
  async (t) => {
    const without = await visit(t, app.url, { javaScriptEnabled: false });
    const words = await without.page.locator("main").innerText();
    const { page } = await visit(t, app.url);
    await refresh(page);
    assert.equal(await page.locator("main").innerText(), words);
    assert.equal(await page.locator(".denials code").innerText(), `echo ${MARKUP}`);
    assert.match(words, /v1\s+Active\s+0\s+v0\s+1/);
    assert.ok(words.includes(MARKUP));
    assert.equal(await page.evaluate("typeof window.broken"), "undefined");
  },
);

browserTest("the overview refreshes itself and keeps the focus and open details", async (t) => {
  const { page } = await visit(t, app.url);
  await page.clock.install();
  await page.reload();
  await page.locator("#hours summary").click();
  const link = page.getByRole("link", { name: "All denials" });
  await link.focus();
  await app.post("/api/v1/audit", { command: "helm uninstall web", policy_decision: "DENIED" });
  await page.clock.runFor(EVERY_MS);
  await page.getByText("helm uninstall web").waitFor();
  assert.equal(await page.evaluate("document.activeElement.textContent"), "All denials");
  assert.equal(await page.evaluate("document.querySelector('#hours').open"), true);
});

browserTest("an overview without commands shows the first one within three seconds", async (t) => {
  const own = await start(t);
  const { page } = await visit(t, own.url);
  await page.clock.install();
  await page.reload();
  await page.getByText("No commands yet").waitFor();
  await own.post("/api/v1/audit", { command: "helm uninstall web", policy_decision: "DENIED" });
  await page.clock.pauseAt(Number(await page.evaluate("Date.now()")) + 1_000);
  await page.clock.runFor(AWAITED_MS);
  await page.getByText("helm uninstall web").waitFor();
});

browserTest("the overview is accessible and fits, in both themes and on a phone", async (t) => {
  await checkLooks(t, app.url, "overview");
});

browserTest("an empty overview is accessible", async (t) => {
  const empty = await start(t);
  const visited = await visit(t, empty.url);
  await visited.checkAccessibility();
});

browserTest(
  "the keyboard reaches the skip link, the shortcuts, their list and the theme",
  async (t) => {
    const { page } = await visit(t, app.url);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate("document.activeElement.id"), "content");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const theme = page.getByRole("button", { name: "Theme: system" });
    await theme.press("Enter");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate("document.documentElement.dataset.theme"), "dark");
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.waitForURL("**/portal/api");
    assert.equal(await page.evaluate("document.documentElement.dataset.theme"), "dark");
  },
);

browserTest(
  "with credentials required the page needs a sign-in; an invalid token leads back to it",
  async (t) => {
    const closed = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
    await closed.post("/api/public/audit", { command: "git push", policy_decision: "DENIED" });
    await closed.post("/api/public/policies", { version: "v2", yaml: "a: 2" });
    await closed.post("/api/public/fleet/heartbeat", { name: "build-1", policy_version: "v1" });
    const { page } = await visit(t, `${closed.url}/?from=here`, {}, [401]);
    await page.waitForURL("**/portal/sign-in");
    await page.getByLabel("Email").fill(ADMIN.email);
    await page.getByLabel("Password").fill("wrong password");
    await page.keyboard.press("Enter");
    await page.getByText("The email or the password is wrong").waitFor();
    assert.equal(await page.evaluate("document.activeElement.id"), "password");
    await page.getByLabel("Password").fill(ADMIN.password);
    const held = await holdAnswers(page, "**/auth/login");
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.url().replace(/.*\//, "")));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Signing in…", disabled: true }).waitFor();
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Signing in…");
    await page.keyboard.press("Enter");
    held.release();
    await page.waitForURL("**/?from=here");
    assert.equal(sent.filter((name) => name === "login").length, 1);
    await page.getByText("git push").waitFor();
    await page.getByRole("row", { name: "v1 1" }).waitFor();
    assert.equal(await page.evaluate("document.cookie"), "");
    closed.advance(25 * 3_600_000);
    await page.reload();
    await page.waitForURL("**/portal/sign-in");
  },
);

browserTest("the first steps follow a new service up to its first command", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const { page } = await visit(t, own.url, {}, [401]);
  await page.getByLabel("Email").fill(ADMIN.email);
  await page.getByLabel("Password").fill(ADMIN.password);
  await page.keyboard.press("Enter");
  const steps = page.getByRole("region", { name: "First steps" });
  await steps.getByRole("link", { name: "Write the first one" }).waitFor();
  const headers = await own.asUser(ADMIN);
  await own.post("/api/v1/policies", { version: "v1", yaml: "rules: []" }, headers);
  await steps.getByRole("link", { name: "Create one" }).waitFor();
  const { body } = await own.post("/api/v1/api-keys", { name: "build agents" }, headers);
  await steps.getByText("Waiting for the first heartbeat").waitFor();
  const key = { "x-api-key": body.api_key };
  await own.post("/api/v1/fleet/heartbeat", { name: "build-1", policy_version: "v1" }, key);
  await steps.getByText("Waiting for the first command").waitFor();
  assert.match(await steps.innerText(), /Connect a runtime\s+Done/);
  await own.post("/api/v1/audit", { command: "git status" }, key);
  await steps.waitFor({ state: "detached" });
});
