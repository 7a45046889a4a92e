import assert from "node:assert/strict";
import { after } from "node:test";
import { FLEET_ROWS } from "../../../src/portal/pages/fleet.ts";
import { browserTest, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const app = await start({ after });
for (const version of ["v1", "v2"]) {
  await app.post("/api/v1/policies", { version, yaml: "rules: []" });
}
for (let i = 0; i <= FLEET_ROWS; i++) {
  await app.post("/api/v1/fleet/heartbeat", { name: `build-${i}` });
}
const events = Array.from({ length: 60 }, (_, i) => ({ command: `ls ${i}` }));
await app.post("/api/v1/audit", { events });

/** Links that modules follow within the page, each with its page. */
const LINKS = [
  ["/portal/policies", ".versions a >> nth=-1"],
  ["/portal/fleet", "[data-more]"],
  ["/portal/audit", ".row >> nth=0"],
  ["/portal/audit", "#older"],
] as const;

/** Keeps whether the page left a click to the browser, which then does not follow it. */
const WATCH = `addEventListener("click", (event) => {
  globalThis.isLeft = !event.defaultPrevented && event.target.closest("a[href]") !== null;
  event.preventDefault();
})`;

for (const [path, link] of LINKS) {
  browserTest(`${link} of ${path} opens in another tab by a click with Ctrl`, async (t) => {
    const { page } = await visit(t, app.url + path);
    await page.evaluate(WATCH);
    await page.locator(link).click({ modifiers: ["Control"] });
    assert.equal(await page.evaluate("isLeft"), true);
    await page.locator(link).click();
    assert.equal(await page.evaluate("isLeft"), false, "a plain click is followed by the module");
  });
}
