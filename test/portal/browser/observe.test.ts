/** A version in observe mode stops nothing: every page where it appears says so. */
import assert from "node:assert/strict";
import { browserTest, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const ENFORCED = `schema: signalbox/policy/v1
default: allow
rules:
  - id: no-push
    effect: deny
    match: { commands: [{ prefix: git push }] }
`;
const OBSERVING = ENFORCED.replace("default", "mode: observe\ndefault");

browserTest("each page of a version that observes says that nothing is stopped", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/policies", { version: "v1", yaml: ENFORCED });
  await app.post("/api/v1/policies", { version: "v2", yaml: OBSERVING, activate: false });
  for (const javaScriptEnabled of [false, true]) {
    const { page } = await visit(t, `${app.url}/portal/policies`, { javaScriptEnabled });
    const notice = page.getByText("Nothing is stopped.");
    const versions = page.getByRole("navigation", { name: "Versions" });
    await versions.getByRole("link", { name: /^v1 / }).waitFor();
    assert.equal(await notice.count(), 0);
    await versions.getByRole("link", { name: /^v2 / }).click();
    await notice.waitFor();
    await page.getByRole("link", { name: "What it changed of v1 in v2" }).click();
    await page.getByText("From v1 to v2: 1 line added").waitFor();
    await notice.waitFor();
    await page.goto(`${app.url}/portal/rule?id=no-push&version=v2`);
    await notice.waitFor();
  }
  await app.post("/api/v1/rollouts", { version: "v2", stages: [{ percent: 100 }] });
  const { page } = await visit(t, `${app.url}/portal/rollouts`);
  await page.getByText("Nothing is stopped.").waitFor();
});

browserTest("the editor and its dialogs say what a text that observes does", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/policies", { version: "v1", yaml: ENFORCED });
  const { page } = await visit(t, `${app.url}/portal/policies/new`);
  const notice = page.getByText("This text observes");
  await page.getByText("Valid, without a change").waitFor();
  assert.equal(await notice.count(), 0);
  await page.locator("#yaml").fill(OBSERVING);
  await notice.waitFor();
  const room = await notice.evaluate((one) => {
    const edge = one.closest(".card")?.getBoundingClientRect();
    return one.getBoundingClientRect().left - (edge?.left ?? 0);
  });
  assert.ok(room > 8, "the notice keeps away from the edge of the card");
  await page.getByText("Valid: it could be published").waitFor();
  for (const name of ["Store and roll out…", "Review and publish…"]) {
    await page.getByRole("button", { name }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("This text observes").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
  }
  await page.locator("#yaml").fill(ENFORCED);
  await notice.waitFor({ state: "detached" });
  await app.post("/api/v1/policies", { version: "v2", yaml: OBSERVING, activate: false });
  await page.goto(`${app.url}/portal/policies?version=v2`);
  await page.getByRole("button", { name: "Activate…" }).click();
  await page.getByRole("dialog").getByText("Nothing is stopped.").waitFor();
});
