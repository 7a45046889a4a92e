import assert from "node:assert/strict";
import { MINUTE_MS } from "../../../src/core/clock.ts";
import { browserTest, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

browserTest(
  "in the open demo a visitor tightens the policy, tries it, excepts a command, and rolls it out, by clicks alone",
  async (t) => {
    const app = await start(t, { demo: true });
    const { page } = await visit(t, `${app.url}/portal/audit?decision=ALLOWED&q=aws s3 ls`);
    await page.locator(".row").first().click();
    await page.getByRole("button", { name: "denies it" }).click();
    await page.waitForURL("**/portal/policies/new");
    await page.getByText("Valid: it could be published").waitFor();

    const replay = page.locator("#replay");
    await replay.getByRole("button", { name: "Test on real commands" }).click();
    await replay
      .getByText(/[1-9]\d\d events\s+newly denied and\s+0 events\s+newly allowed/)
      .waitFor();
    assert.match(await replay.innerText(), /People and agents: agent-costs \(\d+\)/);
    await replay.getByRole("button", { name: "Allow it" }).first().click();
    await replay.getByText(/adds an exception to that rule.*Test the text again\./s).waitFor();
    await page.getByText("Valid: it could be published").waitFor();

    await page.getByRole("button", { name: "Store and roll out…" }).click();
    const dialog = page.getByRole("dialog");
    const limits = dialog.getByLabel("Denials may rise by, in points");
    await limits.nth(2).waitFor(); // the dialog opens when the version is stored
    assert.deepEqual(
      await limits.evaluateAll((fields) => fields.map((field) => "value" in field && field.value)),
      ["", "", ""],
    );
    await dialog.getByRole("button", { name: "Begin the rollout" }).click();
    const summary = page.getByRole("region", { name: "Rollout of v8" });
    await summary.getByText("0 of at least 3 runtimes report the version").waitFor();

    // The example company's machines fetch and report by the demo's own clock, as the gates judge by it.
    app.advance(2 * MINUTE_MS);
    await summary.getByText("of at least 3 runtimes").waitFor({ state: "detached" });
    app.advance(15_000); // until the gates are judged again
    await summary.getByText("2 of 3").waitFor();
    const stages = page.getByRole("region", { name: "Stages" }).getByRole("row");
    assert.match(
      await stages.nth(1).innerText(),
      /env:staging\s+ends when .+\s+9\s+[3-9]\s+[3-9]\s/,
    );
    const steps = page.getByRole("list", { name: "Steps" }).getByRole("listitem");
    assert.match((await steps.allInnerTexts()).join("\n"), /^Stage 2 began .*\nportal-api began/);
    app.advance(2 * MINUTE_MS);
    await summary.getByText("3 of 3").waitFor();
    await summary.getByRole("button", { name: "Advance…" }).click();
    await dialog.getByRole("button", { name: "Activate v8" }).click();
    await dialog.waitFor({ state: "detached" });
    await summary.getByText("Completed").waitFor();
    await steps.getByText("portal-api: completed").waitFor();
    const { body } = await app.get("/api/public/policies?active=true");
    assert.deepEqual([body.version, body.yaml.includes("except:")], ["v8", true]);
  },
);
