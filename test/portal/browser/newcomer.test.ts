/** A newcomer in an open demo, who only clicks. The pictures of the README are made here. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after } from "node:test";
import { browserTest, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const app = await start({ after }, { demo: true });

browserTest(
  "clicks alone lead to denials, drifted runtimes and the author of a policy",
  async (t) => {
    const visited = await visit(t, app.url);
    const { page } = visited;
    await page.waitForLoadState("networkidle");
    assert.match(await page.locator("main").innerText(), /Recent denials/);
    await visited.pictureForReadme("overview");

    await page.getByRole("link", { name: "All denials" }).click();
    await page.waitForLoadState("networkidle");
    assert.match(page.url(), /\/portal\/audit\?decision=DENIED/);
    assert.match(
      await page.locator("main").innerText(),
      /Agents do not restart services in production/,
    );
    await page.emulateMedia({ colorScheme: "dark" });
    await visited.pictureForReadme("audit");

    await page.getByRole("link", { name: "Fleet" }).click();
    await page.getByLabel(/Drifted only/).check();
    await page.getByText(/^\d+ of \d+ runtimes/).waitFor();
    assert.match(await page.locator("main").innerText(), /runner-us-3[\s\S]*Drifted/);

    await page.emulateMedia({ colorScheme: "light" });
    await page.getByRole("link", { name: "Policies" }).click();
    await page.waitForLoadState("networkidle");
    const policies = await page.locator("main").innerText();
    assert.match(policies, /v7[\s\S]*by ada\.moreau@example\.com/);
    await visited.pictureForReadme("policies");
    await page.getByRole("link", { name: "What it changed of v6 in v7" }).click();
    const difference = page.getByRole("region", { name: "Difference" });
    await difference.waitFor();
    assert.match(
      await difference.innerText(),
      /reason: Agents do not restart services in production/,
    );
    assert.equal(await page.getByRole("link", { name: "Who changed what" }).count(), 0);
  },
);

browserTest("a CSV export of denials has their reasons", async (t) => {
  const { page } = await visit(t, `${app.url}/portal/audit?decision=DENIED`);
  await page.waitForLoadState("networkidle");
  await page.locator("#export summary").click();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: /CSV/ }).click();
  const lines = readFileSync(await (await download).path(), "utf8")
    .trimEnd()
    .split("\r\n");
  assert.match(lines[0] ?? "", /policy_decision.*reason/);
  assert.ok(lines.length > 500 && lines.slice(1).every((line) => line.includes("DENIED")));
});
