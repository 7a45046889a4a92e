/** The palette, which finds pages, versions, machines and people by their names. */
import assert from "node:assert/strict";
import { after } from "node:test";
import { browserTest, holdAnswers, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const app = await start({ after });
await app.post("/api/v1/audit", { command: "git fetch", executor: "ada" });
await app.post("/api/v1/fleet/heartbeat", { name: "ada-laptop" });

browserTest("Ctrl+K finds pages and people, and leads there", async (t) => {
  const { page } = await visit(t, `${app.url}/portal/audit`);
  const module = await holdAnswers(page, "**/palette.js");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("A");
  await module.made;
  module.release();
  const box = page.getByRole("combobox", { name: "Go to" });
  await page.getByRole("option", { name: /^Audit/ }).waitFor();
  await page.keyboard.type("D");
  await page.getByRole("option", { name: /^Audit/ }).waitFor({ state: "detached" });
  await page.getByRole("option", { name: "ada Person" }).waitFor();
  assert.equal(await box.getAttribute("aria-activedescendant"), "palette-0");
  await box.fill("ada");
  await page.locator("#palette-0", { hasText: "Person or agent" }).waitFor(); // not the runtime
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("fleet");
  await page.locator("#palette-0", { hasText: "Fleet" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/portal/fleet");
});

browserTest("the palette says that nothing was found, and that a look-up failed", async (t) => {
  const { page } = await visit(t, `${app.url}/portal/audit`, {}, [500]);
  await page.keyboard.press("Control+k");
  const box = page.getByRole("combobox", { name: "Go to" });
  const note = page.getByRole("dialog").getByRole("status");
  await box.fill("no-such-name");
  await note.filter({ hasText: "Nothing has this in its name" }).waitFor();
  await box.fill("ada");
  await page.getByRole("option", { name: "ada Person" }).waitFor();
  assert.equal(await note.textContent(), "");
  const answer = { status: 500, json: { error: "Something failed" } };
  await page.route("**/api/**", (route) => route.fulfill(answer));
  await box.fill("ad");
  await note.filter({ hasText: "Versions, runtimes or people could not be loaded" }).waitFor();
  await page.getByRole("option", { name: "ada Person" }).waitFor(); // was read before
});
