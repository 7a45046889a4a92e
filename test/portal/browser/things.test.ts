/** The pages of runtimes, people, agents, providers and rules, and the ways that lead there. */
import assert from "node:assert/strict";
import { after } from "node:test";
import { browserTest, checkLooks, MARKUP, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const app = await start({ after });
const LONG = "enterprise-policy-".repeat(7).slice(0, 120);
await app.post("/api/v1/policies", { version: "v1", yaml: "rules: []" });
await app.post("/api/v1/policies", { version: "v2", yaml: "rules: []\n# more" });
for (const [name, policy_version] of [
  ["build-2", "v1"],
  ["build-10", LONG],
  [`odd ${MARKUP}`, "v2"],
] as const) {
  await app.post("/api/v1/fleet/heartbeat", { name, policy_version, hostname: "host-1" });
  app.advance(60_000);
}
await app.post("/api/v1/audit", {
  events: Array.from({ length: 30 }, (_, i) => ({
    ...{ command: `git push ${i}`, executor: i % 2 ? "ada" : MARKUP, provider: "git" },
    ...{ runtime_name: "build-2", consumer: i % 3 ? "human" : "ai", reason: `because ${MARKUP}` },
    policy_decision: i % 5 ? "ALLOWED" : "DENIED",
    timestamp: new Date(app.now - i * 3_600_000).toISOString(),
  })),
});

browserTest("a runtime leads to its people, and a person to their runtimes", async (t) => {
  for (const javaScriptEnabled of [false, true]) {
    const { page } = await visit(t, `${app.url}/portal/fleet`, { javaScriptEnabled });
    await page.getByRole("link", { name: "build-2" }).click();
    await page.getByRole("heading", { name: "build-2", level: 1 }).waitFor();
    const facts = page.getByRole("region", { name: "Runtime", exact: true });
    assert.match(
      await facts.innerText(),
      /v1 Drifted the active version is v2, activated 3 min ago/,
    );
    assert.match(await facts.innerText(), /30 events,? 6 denied \(20\u202f% of decisions\)/);
    await facts.getByRole("link", { name: "ada", exact: true }).click();
    await page.getByRole("heading", { name: "ada", level: 1 }).waitFor();
    const about = page.getByRole("region", { name: "Person or agent" });
    assert.match(await about.innerText(), /Acted as\s+Person AI/);
    await about.getByRole("link", { name: "3 denied" }).click();
    await page.locator(".total", { hasText: "3 events" }).waitFor();
    await page.locator(".row").first().click();
    await page.locator("#audit-event").getByRole("link", { name: "build-2", exact: true }).click();
    await page.waitForURL("**/portal/runtime?name=build-2");
  }
});

browserTest(
  "a provider's page has its commands, and one outside the catalog has a page",
  async (t) => {
    await app.post("/api/v1/audit", {
      command: "own-tool go",
      provider: "own-tool",
      executor: "eve",
    });
    for (const javaScriptEnabled of [false, true]) {
      const { page } = await visit(t, `${app.url}/portal/executor?name=ada`, { javaScriptEnabled });
      await page.getByRole("link", { name: "git", exact: true }).click();
      await page.getByRole("heading", { name: "Git", level: 1 }).waitFor();
      const facts = page.getByRole("region", { name: "Provider", exact: true });
      assert.match(await facts.innerText(), /30 events,? 6 denied/);
      await page.getByRole("heading", { name: "Newest denials" }).waitFor();
      await facts.getByRole("link", { name: "build-2" }).click();
      await page.getByRole("heading", { name: "build-2", level: 1 }).waitFor();
      await page.goto(`${app.url}/portal/catalog?provider=own-tool`);
      assert.match(await facts.innerText(), /Not in the catalog[\s\S]*1 event[\s\S]*eve/);
      assert.equal(await page.getByRole("heading", { name: "Capabilities" }).count(), 0);
    }
  },
);

browserTest(
  "in the list of events a name leads to its page, and the rest of a row opens it",
  async (t) => {
    for (const javaScriptEnabled of [false, true]) {
      const { page } = await visit(t, `${app.url}/portal/audit?q=push`, { javaScriptEnabled });
      const row = page.locator(".events li", { hasText: "git push 7" });
      const box = await row.boundingBox();
      assert.ok(box);
      await page.mouse.click(box.x + box.width - 8, box.y + box.height / 2); // beside the name
      await page.locator("#audit-event").getByText("git push 7", { exact: true }).first().waitFor();
      await page.goBack();
      await row.getByRole("link", { name: "build-2" }).click();
      await page.waitForURL("**/portal/runtime?name=build-2");
      await page.goBack();
      await row.getByRole("link", { name: "ada" }).click();
      await page.waitForURL("**/portal/executor?name=ada");
    }
  },
);

browserTest("a broken value in the storage of the browser breaks no page", async (t) => {
  const { page } = await visit(t, `${app.url}/portal/fleet`);
  for (const value of ["{", "null", "7", '{"token":1}', "[[]]"]) {
    await page.evaluate(
      `localStorage.setItem("signalbox.session", ${JSON.stringify(value)});
       for (const key of ["draft", "draft.discarded", "draft.rules", "collected"])
         sessionStorage.setItem("signalbox." + key, ${JSON.stringify(value)});`,
    );
    await page.goto(`${app.url}/portal/audit`);
    await page.getByRole("button", { name: "Theme: system" }).waitFor();
    await page.goto(`${app.url}/portal/policies/new`);
    await page.locator("#verdict", { hasText: "Valid" }).waitFor();
  }
});

browserTest("a denial leads to its rule, and a rule to its text and its commands", async (t) => {
  const own = await start(t);
  const yaml = `schema: signalbox/policy/v1
rules:
  - id: "odd ${MARKUP.replaceAll('"', "'")}"
    effect: allow
    match: { commands: [{ prefix: ls }] }
  - id: no-push
    effect: deny
    reason: Pipelines push
    match: { commands: [{ prefix: git push }] }
`;
  await own.post("/api/v1/policies", { version: "v1", yaml });
  await own.post("/api/v1/audit", {
    ...{ id: "e1", command: "git push", policy_decision: "DENIED", policy: "v1" },
    ...{ reason: "Pipelines push", executor: "ada", runtime_name: "build-2" },
  });
  for (const javaScriptEnabled of [false, true]) {
    const { page } = await visit(t, `${own.url}/portal/audit?event=e1`, { javaScriptEnabled });
    const event = page.locator("#audit-event");
    await event.getByRole("link", { name: "Pipelines push", exact: true }).click();
    await page.getByRole("heading", { name: "no-push", level: 1 }).waitFor();
    const facts = page.getByRole("region", { name: "Rule", exact: true });
    assert.match(await facts.innerText(), /v1\s+Active[\s\S]*1 of the newest 1 denied command/);
    await facts.getByRole("link", { name: "ada" }).waitFor();
    const text = page.getByRole("region", { name: "Text of the rule" });
    assert.match(await text.innerText(), /effect: deny\n/);
    await page.getByRole("heading", { name: "Denials by day, UTC" }).waitFor();
    await facts.getByRole("link", { name: "lines 6 to 9" }).click();
    await page.waitForURL("**/portal/policies?version=v1#L6");
    await page.getByRole("link", { name: "no-push" }).click();
    await page.getByRole("link", { name: "Edit as a new version" }).waitFor();
    await page.goto(`${own.url}/portal/rule?id=gone`);
    await page.getByText("No such rule").waitFor();
    await page.getByRole("link", { name: "no-push" }).waitFor();
  }
  await checkLooks(t, `${own.url}/portal/rule?id=no-push`, "rule");
  const odd = await visit(t, `${own.url}/portal/rule?id=none`);
  await odd.page.getByRole("link", { name: "odd" }).click();
  await odd.page.getByRole("heading", { name: "odd", level: 1 }).waitFor();
  await odd.checkUnbroken();
});

browserTest("unknown names say so", async (t) => {
  const { page } = await visit(t, `${app.url}/portal/runtime?name=gone`);
  await page.getByText("No such runtime").waitFor();
  await page.goto(`${app.url}/portal/executor?name=gone`);
  await page.getByText("No commands", { exact: true }).waitFor();
});

browserTest("the fleet is sorted by its headings, and long names do not break it", async (t) => {
  for (const javaScriptEnabled of [false, true]) {
    const visited = await visit(t, `${app.url}/portal/fleet`, { javaScriptEnabled });
    const { page } = visited;
    const names = page.locator("tbody th a");
    await page.getByRole("link", { name: "Runtime", exact: true }).click();
    await page.waitForURL("**/portal/fleet?sort=name");
    await page.getByRole("link", { name: "Runtime sorted", exact: true }).waitFor();
    assert.deepEqual(await names.allInnerTexts(), ["build-2", "build-10", `odd ${MARKUP}`]);
    await page.getByRole("link", { name: "Runtime sorted", exact: true }).click();
    await page.getByRole("link", { name: "Runtime sorted in reverse" }).waitFor();
    await page.getByRole("link", { name: "drifted first" }).click();
    await page.getByRole("link", { name: "drifted first sorted" }).waitFor();
    assert.equal((await names.allInnerTexts()).at(-1), `odd ${MARKUP}`);
    await visited.checkFits();
    const cell = page.getByRole("link", { name: LONG });
    assert.ok(((await cell.boundingBox())?.width ?? 999) < 300);
    await page.setViewportSize({ width: 900, height: 860 });
    const table = "document.querySelector('.scroll')";
    assert.ok(await page.evaluate(`${table}.scrollWidth <= ${table}.clientWidth`));
  }
});

browserTest("the pages of things are accessible and fit, and names are never markup", async (t) => {
  await checkLooks(t, `${app.url}/portal/runtime?name=build-2`, "runtime");
  const name = encodeURIComponent(MARKUP);
  await checkLooks(t, `${app.url}/portal/executor?name=${name}`, "executor");
  const visited = await visit(t, `${app.url}/portal/executor?name=${name}`);
  await visited.checkUnbroken();
});

browserTest("a thing says when its first command in the log was", async (t) => {
  const own = await start(t);
  await own.post("/api/v1/audit", {
    events: [
      { command: "old", executor: "eve", provider: "git", timestamp: "2026-11-18T10:30:00Z" },
      ...Array.from({ length: 60 }, (_, i) => ({ command: `git log ${i}`, provider: "git" })),
    ],
  });
  for (const javaScriptEnabled of [false, true]) {
    for (const [path, thing] of [
      ["/portal/executor?name=eve", "Person or agent"],
      ["/portal/catalog?provider=git", "Provider"], // too many commands to list
    ] as const) {
      const { page } = await visit(t, own.url + path, { javaScriptEnabled });
      const facts = page.getByRole("region", { name: thing, exact: true });
      assert.match(await facts.innerText(), /First in the log\s+2 days ago/);
    }
  }
});
