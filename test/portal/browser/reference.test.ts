import assert from "node:assert/strict";
import { after } from "node:test";
import { browserTest, DESKTOP, PHONE, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const app = await start({ after });
const url = `${app.url}/portal/api`;

browserTest("the reference is searched, and an address opens an operation", async (t) => {
  const { page } = await visit(t, url);
  const operations = page.locator(".reference details[id]");
  const all = await operations.count();
  await page.keyboard.press("/");
  await page.keyboard.type("post heartbeat");
  await page.getByText(`2 of ${all} operations`).waitFor();
  const shown = operations.filter({ visible: true });
  await shown.first().locator("summary").click();
  const lines = await shown.first().locator(".shell code").allInnerTexts();
  assert.equal(lines.length, 2);
  assert.ok(lines[0]?.includes(`${app.url}/api/public/`));
  assert.ok(lines[1]?.includes(`${app.url}/api/v1/`));
  const id = (await shown.last().getAttribute("id")) ?? "";
  await page.goto("about:blank");
  await page.goto(`${url}#${id}`);
  await page.locator(`details[id="${id}"][open]`).waitFor();
});

browserTest("the reference is accessible and fits, in both themes and on a phone", async (t) => {
  const visited = await visit(t, url);
  const { page } = visited;
  for (const viewport of [PHONE, DESKTOP]) {
    await page.setViewportSize(viewport);
    await visited.checkFits();
    await visited.checkAccessibility("without colours");
  }
  // A few operations and one schema have the colours of all, at a fifth of the work.
  await page.keyboard.press("/");
  await page.keyboard.type("heartbeat");
  await page.getByText(/^\d of /).waitFor();
  const shown = page.locator(".reference details[id]").filter({ visible: true });
  await shown.first().locator("summary").click();
  const schema = "section:not(:has(details))";
  await page.evaluate(`document.querySelectorAll("#content [hidden], ${schema} ~ ${schema}")
    .forEach((one) => one.remove())`);
  await visited.checkLooks("reference");
});
