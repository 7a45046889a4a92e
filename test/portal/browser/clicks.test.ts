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

for (const [path, link] of LINKS) {
  browserTest(`a click with Ctrl opens ${link} of ${path} in another tab`, async (t) => {
    const { page } = await visit(t, app.url + path);
    const href = await page
      .locator(link)
      .evaluate((element) => String(Reflect.get(element, "href")));
    const opened = page.context().waitForEvent("page");
    await page.locator(link).click({ modifiers: ["Control"] });
    const other = await opened;
    await other.waitForURL(href);
    assert.equal(page.url(), app.url + path);
  });
}
