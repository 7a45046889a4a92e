import assert from "node:assert/strict";
import { browserTest, visit } from "../../support/browser.ts";
import { start, type App } from "../../support/start.ts";

const DAY = 86_400_000;
const MINUTE = 60_000;
const OPEN = `schema: signalbox/policy/v1
default: allow
rules:
  - id: no-rm
    effect: deny
    match:
      commands:
        - prefix: rm
`;
const TIGHTER = `${OPEN}  - id: no-push
    effect: deny
    reason: A person pushes
    match:
      commands:
        - prefix: git push
`;

/** A staging and a production machine, and the commands that they ran yesterday. */
async function startFleet(t: Parameters<typeof start>[0]): Promise<App> {
  const app = await start(t);
  await app.post("/api/v1/policies", { version: "v1", yaml: OPEN });
  const events = ["git push origin main", "git push --force", "ls"].map((command, i) => ({
    ...{ id: `e${i}`, command, executor: i === 0 ? "ada" : "eve" },
    ...{ runtime_name: "s1", policy: "v1", policy_decision: "ALLOWED" },
  }));
  await app.post("/api/v1/audit", { events });
  app.advance(DAY);
  await beat(app, "s1", "staging");
  await beat(app, "p1", "production");
  return app;
}

/** A runtime fetches its version, and reports it with its label. */
async function beat(app: App, name: string, env: string): Promise<string> {
  const { body } = await app.get("/api/v1/policies?active=true", { "X-Runtime-Name": name });
  const heartbeat = { name, labels: { env }, policy_version: body.version };
  await app.post("/api/v1/fleet/heartbeat", heartbeat);
  return body.version;
}

browserTest(
  "a rule is tightened, tried on yesterday's commands, excepted, and rolled out over staging",
  async (t) => {
    const app = await startFleet(t);
    const { page } = await visit(t, `${app.url}/portal/policies`);
    await page.getByRole("link", { name: "Edit as a new version" }).click();
    const text = page.getByRole("textbox", { name: "Policy document" });
    await page.getByText("Valid, without a change").waitFor();
    await text.fill(TIGHTER);
    const replay = page.locator("#replay");
    await replay.getByRole("button", { name: "Test on real commands" }).click();
    await replay.getByText("2 events newly denied").waitFor();
    assert.match(
      await replay.innerText(),
      /People and agents: (ada \(1\), eve|eve \(1\), ada) \(1\)/,
    );
    const examples = replay.getByRole("list", { name: "Examples" }).getByRole("listitem");
    await examples
      .filter({ hasText: "origin main" })
      .getByRole("button", { name: "Allow it" })
      .click();
    await page.locator("#paint", { hasText: "except:" }).waitFor();
    await page.getByText("Valid: it could be published").waitFor();

    await page.getByRole("button", { name: "Store and roll out…" }).click();
    const dialog = page.getByRole("dialog");
    const stage = (n: number) => dialog.getByRole("group", { name: `Stage ${n}` });
    const field = "Labels, percentage or names";
    assert.equal(await stage(1).getByLabel(field).inputValue(), "env:staging");
    assert.equal(await stage(2).getByLabel(field).inputValue(), "25");
    await stage(2).getByRole("button", { name: "Remove this stage" }).click();
    await stage(1).getByLabel("Denials may rise").fill("");
    await stage(3).getByLabel(field).fill("all");
    await dialog.getByRole("button", { name: "Begin the rollout" }).click();
    await dialog.getByText("Stage 2: expected a percentage such as 25").waitFor();
    await stage(3).getByLabel(field).fill("100 %");
    await dialog.getByRole("button", { name: "Begin the rollout" }).click();

    const summary = page.getByRole("region", { name: "Rollout of v2" });
    await summary.getByText("0 of at least 1 runtime report the version").waitFor();
    assert.equal(await beat(app, "s1", "staging"), "v2");
    assert.equal(await beat(app, "p1", "production"), "v1");
    app.advance(31 * MINUTE);
    await summary.getByText("2 of 2").waitFor(); // the gate passes by the service's own clock
    await page.getByRole("list", { name: "Steps" }).getByText("A gate").waitFor();
    assert.equal(await beat(app, "p1", "production"), "v2");
    await summary.getByRole("button", { name: "Advance…" }).click();
    await dialog.getByRole("button", { name: "Activate v2" }).click();
    await summary.getByText("Completed").waitFor();
    const { body } = await app.get("/api/v1/policies?active=true");
    assert.deepEqual([body.version, body.yaml.includes("except:")], ["v2", true]);
  },
);

browserTest("a stored version is rolled out from its page, to named runtimes", async (t) => {
  const app = await startFleet(t);
  await app.post("/api/v1/policies", { version: "v2", yaml: TIGHTER, activate: false });
  const { page } = await visit(t, `${app.url}/portal/policies?version=v2`);
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "What it would change" }).click();
  await dialog.getByText("2 events newly denied and 0 events newly allowed").waitFor();
  assert.match(await dialog.innerText(), /Newly denied by rule no-push, run by ada/);
  assert.equal(await dialog.getByRole("button").count(), 1);
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Roll out…" }).click();
  for (const n of [1, 2]) {
    await dialog
      .getByRole("group", { name: `Stage ${n}` })
      .getByRole("button", { name: "Remove this stage" })
      .click();
  }
  await dialog.getByLabel("Runtimes", { exact: true }).selectOption("names");
  await dialog.getByLabel("Labels, percentage or names").fill("s1, p1");
  await dialog.getByLabel("When a gate is breached").selectOption("roll_back");
  await dialog.getByRole("button", { name: "Begin the rollout" }).click();
  await page.getByRole("region", { name: "Rollout of v2" }).waitFor();
  const [{ stages, on_breach }] = (await app.get("/api/v1/rollouts")).body.rollouts;
  const [{ started_at: _, ...stage }] = stages;
  assert.equal(on_breach, "roll_back");
  assert.deepEqual(stage, {
    names: ["s1", "p1"],
    hold_minutes: 60,
    gates: { min_runtimes: 1, max_denied_increase_percent: 5 },
  });
  await page.goto(`${app.url}/portal/policies?version=v2`);
  await page.getByRole("link", { name: "Show the rollout" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Roll out…" }).count(), 0);
});

browserTest("a publish that denies too much is refused, and shows the commands", async (t) => {
  const app = await startFleet(t);
  const { page, faults } = await visit(t, `${app.url}/portal/policies/new`);
  await page.getByText("Valid, without a change").waitFor();
  await page.getByRole("textbox", { name: "Policy document" }).fill(TIGHTER);
  const dialog = page.getByRole("dialog");
  const publish = async (most: string): Promise<void> => {
    await page.getByRole("button", { name: "Review and publish…" }).click();
    await dialog.getByLabel("Most newly denied commands").fill(most);
    await dialog.getByRole("button", { name: "Publish and activate" }).click();
  };
  await publish("1");
  const replay = page.locator("#replay");
  await replay.getByText("2 events would be newly denied, expected at most 1").waitFor();
  await dialog.waitFor({ state: "detached" });
  assert.match(await replay.innerText(), /Not published\.[^]*git push --force/);
  faults.splice(0); // browsers report refused requests
  assert.equal((await app.get("/api/v1/policies?active=true")).body.version, "v1");
  await publish("2");
  await page.getByRole("heading", { name: "v2" }).waitFor();
  assert.equal((await app.get("/api/v1/policies?active=true")).body.version, "v2");
});
