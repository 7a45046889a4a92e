/** The columns and the saved views of the audit page, which the browser keeps. */
import assert from "node:assert/strict";
import { after } from "node:test";
import { browserTest, DESKTOP, MARKUP, PHONE, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const app = await start({ after });
await app.post("/api/v1/audit", {
  events: [
    { command: "git push", executor: "ada", provider: "git", duration_ms: 1234, consumer: "ai" },
    {
      ...{ command: "kubectl delete", executor: "bob", policy_decision: "DENIED" },
      ...{ reason: "no deletes", provider: `kubectl ${MARKUP}`, runtime_name: "build-1" },
    },
  ],
});

const WIDE = { width: 1400, height: 860 };

browserTest("columns are chosen by the keyboard, and kept", async (t) => {
  const visited = await visit(t, `${app.url}/portal/audit`);
  const { page } = visited;
  const heads = page.locator(".heads span");
  const usual = ["Time", "Decision", "Command", "Executor", "Runtime"];
  assert.deepEqual(await heads.allInnerTexts(), usual);
  const menu = page.locator("#columns");
  await menu.locator("summary").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab"); // to the executor
  await page.keyboard.press("Space");
  for (const name of ["Provider", "Reason", "Duration"]) await menu.getByLabel(name).check();
  await heads.getByText("Duration").waitFor();
  assert.deepEqual(await heads.allInnerTexts(), [
    ...["Time", "Decision", "Command", "Runtime", "Provider", "Reason", "Duration"],
  ]);
  const first = page.locator(".events li", { hasText: "git push" });
  assert.deepEqual(await first.locator(".cells > *").allInnerTexts(), [
    ...["", "git", "", "1\u202f234 ms"],
  ]);
  // The reason has its column, and is not repeated below the command.
  const denied = page.locator(".events li", { hasText: "kubectl" });
  assert.equal(await denied.getByText("no deletes").count(), 1);
  for (const name of ["Executor", "Status"]) await menu.getByLabel(name).check();
  await heads.getByText("Status").waitFor();
  assert.ok(await menu.getByLabel("Trace").isDisabled());
  await visited.checkAccessibility();
  await page.keyboard.press("Escape");
  await menu.locator("summary:focus").waitFor();
  assert.equal(await menu.getAttribute("open"), null);
  await page.reload();
  await heads.getByText("Duration").waitFor();
  await visited.checkLooks("audit-columns");
  await visited.checkUnbroken();
});

browserTest("a view is saved, opened from the list and the palette, and deleted", async (t) => {
  const visited = await visit(t, `${app.url}/portal/audit?decision=DENIED&range=24h`);
  const { page } = visited;
  const views = page.locator("#views");
  const open = () => views.locator("summary").click();
  await open();
  await views.getByText("No saved views yet").waitFor();
  const name = views.getByLabel("Save this view as");
  assert.equal(await name.inputValue(), "Denied · in the last 24 hours");
  await name.fill(`Denied ${MARKUP.slice(0, 20)}`);
  await page.keyboard.press("Enter");
  await page.getByText("Saved as").waitFor();
  await name.fill("Second");
  await views.getByRole("button", { name: "Save" }).click();
  assert.equal(await views.getByRole("listitem").count(), 2);
  await visited.checkAccessibility();
  for (const viewport of [DESKTOP, PHONE]) {
    await page.setViewportSize(viewport);
    await visited.checkFits();
    const box = await views.locator(".card").boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= viewport.width, JSON.stringify(box));
  }
  await page.setViewportSize(DESKTOP);
  await views.getByRole("button", { name: "Delete Second" }).click();

  await page.goto(`${app.url}/portal/audit`);
  await open();
  await views.getByRole("link", { name: "Denied" }).click();
  await page.waitForURL("**/portal/audit?decision=DENIED&range=24h");
  await page.locator(".total", { hasText: "1 event" }).waitFor();
  assert.equal(await views.getAttribute("open"), null);

  await page.goto(`${app.url}/portal/fleet`);
  await page.keyboard.press("Control+k");
  await page.getByRole("option").first().waitFor(); // before its module is loaded, Enter does nothing
  await page.getByRole("combobox").fill("denied </"); // Enter counts for this text, however soon it comes
  await page.keyboard.press("Enter");
  await page.waitForURL("**/portal/audit?decision=DENIED&range=24h");
  await visited.checkUnbroken();
});

browserTest("views are limited, and foreign text in the storage is no view", async (t) => {
  const { page } = await visit(t, `${app.url}/portal/audit`);
  const summary = page.locator("#views summary");
  const views = page.locator("#views");
  const many = Array.from({ length: 50 }, (_, i) => ({ name: `v${i}`, href: "/portal/audit" }));
  const bad = [{ name: "x", href: "javascript:alert(1)" }, { name: 1 }, null, "y"];
  for (const [text, shown, last] of [
    ["broken", 0, "No saved views yet"],
    [JSON.stringify([...bad, { name: "good", href: "/portal/audit?q=x" }]), 1, "good"],
    [JSON.stringify(many), 50, "v49"],
  ] as const) {
    await page.evaluate(`localStorage.setItem("signalbox.views", ${JSON.stringify(text)})`);
    await summary.click();
    await views.getByText(last, { exact: true }).waitFor(); // the list of before is shown until then
    assert.equal(await views.getByRole("listitem").count(), shown);
    await page.keyboard.press("Escape");
  }
  await summary.click();
  await views.getByLabel("Save this view as").fill("one more");
  await views.getByRole("button", { name: "Save" }).click();
  await page.getByText("There is no room for another view").waitFor();
});

browserTest("a view that the browser has no room for is not called saved", async (t) => {
  const { page } = await visit(t, `${app.url}/portal/audit`);
  await page.evaluate(`Storage.prototype.setItem = () => { throw new Error("no room"); }`);
  await page.locator("#views summary").click();
  await page.getByLabel("Save this view as").fill("one more");
  await page.locator("#views").getByRole("button", { name: "Save" }).click();
  await page.getByText("There is no room for another view").waitFor();
  assert.equal(await page.locator("#views").getByRole("listitem").count(), 0);
});

browserTest("each of the further filters has a label that is seen", async (t) => {
  const { page } = await visit(t, `${app.url}/portal/audit`);
  await page.getByText("More filters").click();
  const labels = page.locator("#more-filters .fields label");
  const heights = await labels.evaluateAll((all) => all.map(({ clientHeight }) => clientHeight));
  assert.ok(heights.length > 10 && heights.every((height) => height > 5), String(heights));
  await page.locator("#more-filters").getByLabel("Would be").selectOption("Denied");
  await page.waitForURL("**observed=DENIED**");
});

browserTest("providers that could not be read are suggested after the next reading", async (t) => {
  const { page, faults } = await visit(t, `${app.url}/portal/audit`);
  const suggested = page.locator("#audit-providers option[value=git]");
  await page.route("**/provider-names", (route) => route.abort());
  await page.getByRole("searchbox").fill("git");
  await suggested.waitFor({ state: "detached" });
  await page.unroute("**/provider-names");
  await page.getByRole("searchbox").fill("kubectl");
  await suggested.waitFor({ state: "attached" });
  faults.splice(0); // browsers report failed requests
});

browserTest("rules that could not be read name denials after the next reading", async (t) => {
  const own = await start(t);
  const yaml = `schema: signalbox/policy/v1
rules:
  - id: no-push
    effect: deny
    reason: Pipelines push
    match: { commands: [{ prefix: git push }] }
`;
  await own.post("/api/v1/policies", { version: "v1", yaml });
  const denied = { policy_decision: "DENIED", policy: "v1" };
  await own.post("/api/v1/audit", {
    events: [
      { ...denied, command: "git push", reason: "Pipelines push" },
      { ...denied, command: "git push -f", reason: "rule no-push: Pipelines push" },
    ],
  });
  const { page, faults } = await visit(t, `${own.url}/portal/catalog`, { viewport: WIDE });
  const counted = page.locator("#audit-facets").getByRole("region", { name: "Rule", exact: true });
  const abort = (pattern: RegExp) => page.route(pattern, (route) => route.abort());
  const failing = (part: string) =>
    page.waitForEvent("requestfailed", (request) => request.url().includes(part));
  await abort(/\/policies\?/);
  await page.goto(`${own.url}/portal/audit`);
  await counted.getByRole("link", { name: "no-push 1" }).waitFor();
  await page.unroute(/\/policies\?/);
  await abort(/\/rules/);
  const rules = failing("/rules");
  await page.getByRole("searchbox").fill("git");
  await rules;
  await counted.getByRole("link", { name: "no-push 1" }).waitFor();
  await page.unroute(/\/rules/);
  await page.getByRole("searchbox").fill("git push");
  await counted.getByRole("link", { name: "no-push 2" }).waitFor();
  faults.splice(0); // browsers report failed requests
});
