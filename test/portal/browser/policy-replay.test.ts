import assert from "node:assert/strict";
import { browserTest, checkLooks, PHONE, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const OPEN = `schema: signalbox/policy/v1
default: allow
rules:
  - { id: no-rm, effect: deny, match: { commands: [{ prefix: rm }] } }
`;
const TIGHTER = `schema: signalbox/policy/v1
default: allow
rules:
  - id: no-push
    effect: deny
    reason: A person pushes
    match: { commands: [{ prefix: git push }] }
`;

browserTest(
  "a draft is tested on real commands, and an example becomes a test of it",
  async (t) => {
    const app = await start(t);
    await app.post("/api/v1/policies", { version: "v1", yaml: OPEN });
    const commands = ["git push origin main", "git push -f", "rm x", "ls"];
    for (const [i, command] of commands.entries()) {
      const sent = { id: `e${i}`, command, executor: "ada", provider: command.split(" ")[0] };
      await app.post("/api/v1/audit", { ...sent, decision: i === 2 ? "denied" : "allowed" });
    }
    const { page, faults } = await visit(t, `${app.url}/portal/policies/new`);
    const text = page.getByRole("textbox", { name: "Policy document" });
    await page.getByText("Valid, without a change").waitFor();
    await text.fill("a: [");
    const replay = page.locator("#replay");
    const run = replay.getByRole("button", { name: "Test on real commands" });
    await run.click();
    await replay.getByText("Policy document, line 1").waitFor();
    faults.splice(0); // browsers report refused requests
    await text.fill(TIGHTER);
    await run.click();
    await replay
      .getByText("2 events newly denied and 1 event newly allowed, of 4 events")
      .waitFor();
    assert.match(await replay.innerText(), /no-push\s+2\s+0\s+the default\s+0\s+1/);
    assert.match(await replay.innerText(), /People and agents: ada \(3\)/);
    const examples = replay.getByRole("list", { name: "Examples" }).getByRole("listitem");
    assert.equal(await examples.count(), 3);
    const first = examples.filter({ hasText: "git push -f" });
    assert.match(await first.innerText(), /Newly denied by rule no-push, run by ada/);
    assert.equal(
      await first.getByRole("link", { name: "Show the event" }).getAttribute("href"),
      "/portal/audit?event=e1",
    );
    await first.getByRole("button", { name: "Add as a test" }).click();
    await replay.getByText("The test was added to the text.").waitFor();
    await page.getByText("Valid: it could be published").waitFor();
    assert.match(
      await text.inputValue(),
      /tests:\n {2}- command: git push -f\n[^]*expect: deny\n {4}rule: no-push\n/,
    );
    const painted = page.locator("#paint");
    const allowed = examples.filter({ hasText: "rm x" });
    await allowed.getByRole("button", { name: "Add as a test" }).click();
    await painted.filter({ hasText: "command: rm x" }).waitFor();
    await examples
      .filter({ hasText: "origin main" })
      .getByRole("button", { name: "Allow it" })
      .click();
    await painted.filter({ hasText: "except:" }).waitFor();
    await page.getByText("Valid: it could be published").waitFor();
    await run.click();
    await replay.getByText("1 event newly denied and 1 event newly allowed").waitFor();
    await page.setViewportSize(PHONE);
    const isWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
    assert.equal(await page.evaluate(isWide), false);
  },
);

browserTest(
  "a tool without a command is tried, tested on real uses, and becomes a test",
  async (t) => {
    const app = await start(t);
    await app.post("/api/v1/policies", { version: "v1", yaml: OPEN });
    const tool = { provider: "mcp/github", capability: "mcp/github/create_issue" };
    await app.post("/api/v1/audit", { ...tool, consumer: "ai", runtime_version: "guard 0.2.0" });
    const { page } = await visit(t, `${app.url}/portal/policies/new`);
    const text = page.getByRole("textbox", { name: "Policy document" });
    await text.fill(
      "schema: signalbox/policy/v1\nrules:\n  - { id: no-issues, effect: deny, match: { capabilities: [mcp/github/*] } }\n",
    );
    await page.getByText("or a tool without a command").click();
    await page.getByLabel("Capability").fill(tool.capability);
    await page.locator("#decision").getByText("by rule no-issues").waitFor();
    await page.getByLabel("Capability").fill("claude-code/Edit");
    await page.locator("#decision").getByText("since no rule applies to it").waitFor();
    assert.match(await page.locator("#decision").innerText(), /Allowed\s+claude-code\/Edit/i);
    const replay = page.locator("#replay");
    await replay.getByRole("button", { name: "Test on real commands" }).click();
    await replay.getByText("1 event newly denied").waitFor();
    await replay.getByRole("button", { name: "Add as a test" }).click();
    await replay.getByText("The test was added to the text.").waitFor();
    await page.getByText("Valid: it could be published").waitFor();
    assert.match(
      await text.inputValue(),
      /tests:\n {2}- provider: mcp\/github\n {4}capability: mcp\/github\/create_issue\n[^]*expect: deny\n {4}rule: no-issues\n/,
    );
  },
);

browserTest("the editor looks right in both themes with the test on real commands", async (t) => {
  const app = await start(t);
  await checkLooks(t, `${app.url}/portal/policies/new`, "policy-replay");
});
