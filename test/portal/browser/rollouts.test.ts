import assert from "node:assert/strict";
import { browserTest, checkLooks, PHONE, refresh, visit } from "../../support/browser.ts";
import { start, type App } from "../../support/start.ts";

const MINUTE = 60_000;

/** Three runtimes, one of them staging, on v1, and a version v2 that is not active. */
async function startFleet(t: Parameters<typeof start>[0]): Promise<App> {
  const app = await start(t);
  await app.post("/api/v1/policies", { version: "v1", yaml: "a: 1" });
  await app.post("/api/v1/policies", { version: "v2", yaml: "a: 2", activate: false });
  for (const [name, env] of [
    ["s1", "staging"],
    ["p1", "production"],
    ["p2", "production"],
  ]) {
    await app.post("/api/v1/fleet/heartbeat", { name, labels: { env }, policy_version: "v1" });
  }
  return app;
}

const STAGES = [
  { labels: { env: "staging" }, hold_minutes: 30, gates: { min_runtimes: 2 } },
  { percent: 100 },
];

async function begin(app: App): Promise<string> {
  const { body } = await app.post("/api/v1/rollouts", { version: "v2", stages: STAGES });
  return body.id;
}

/** A runtime fetches its version, and reports it. */
async function converge(app: App, name: string): Promise<void> {
  const { body } = await app.get("/api/v1/policies?active=true", { "X-Runtime-Name": name });
  await app.post("/api/v1/fleet/heartbeat", { name, policy_version: body.version });
}

browserTest("a rollout is followed and steered by clicks to its end", async (t) => {
  const app = await startFleet(t);
  await begin(app);
  const { page } = await visit(t, app.url);
  await page.getByRole("link", { name: "Show the rollout" }).click();
  const summary = page.getByRole("region", { name: "Rollout of v2" });
  await summary.getByText("0 of at least 2 runtimes report the version").waitFor();
  assert.match(await summary.innerText(), /Hold time left: 30 m/);
  const first = page.getByRole("row", { name: /env:staging/ });
  assert.match(
    await first.innerText(),
    /Runtimes with env:staging\s+ends when .+\s+1\s+0\s+0\s+no commands/,
  );
  assert.match(await first.innerText(), /run for 30 m.*; 2 runtimes or more report it/);
  const versions = await visit(t, `${app.url}/portal/policies?version=v1`);
  const runtimes = versions.page.locator(".document dl");
  assert.match(await runtimes.innerText(), /3 of 3 runtimes have v1/);
  await converge(app, "s1");
  await versions.page.reload();
  assert.match(await runtimes.innerText(), /2 of 3 runtimes have v1\s+1 on another version/);
  assert.equal(await runtimes.getByRole("link").count(), 0); // it is assigned to them: they have not drifted
  await versions.page.goto(`${app.url}/portal/policies?version=v2`);
  assert.match(await runtimes.innerText(), /1 runtime has it/);
  await refresh(page);
  assert.match(await first.innerText(), /env:staging\s+ends when .+\s+1\s+1\s+1\s+/);
  assert.equal(
    await first.getByRole("link", { name: "1" }).getAttribute("href"),
    "/portal/fleet?policy=v2&label=env%3Astaging",
  );

  const step = async (label: string, confirm: string): Promise<void> => {
    await summary.getByRole("button", { name: label }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: confirm }).click();
    await dialog.waitFor({ state: "detached" });
  };
  await step("Pause…", "Pause");
  await summary.getByText("no gate acts").waitFor();
  await step("Resume…", "Resume");
  await step("Advance…", "Begin stage 2");
  await summary.getByText("2 of 2").waitFor();
  await step("Advance…", "Activate v2");
  await summary.getByText("Completed").waitFor();
  const steps = await page.getByRole("list", { name: "Steps" }).innerText();
  for (const deed of ["began", "paused", "resumed", "advanced"]) assert.match(steps, RegExp(deed));
  assert.equal((await app.get("/api/v1/policies?active=true")).body.version, "v2");

  // The page of the version says who activated it, and by what.
  const { page: version } = await visit(t, `${app.url}/portal/policies?version=v2`);
  const activated = version.locator(".document dl", { hasText: "Activated" });
  assert.match(await activated.innerText(), /by portal-api, at the end of its rollout/);
  await version.getByRole("link", { name: /^v2 Active .* · activated .* by portal-api/ }).waitFor();
  await activated.getByRole("link", { name: "its rollout" }).click();
  await version.getByRole("region", { name: "Rollout of v2" }).waitFor();
});

browserTest("rolling back is asked for, and the page fits a phone", async (t) => {
  const app = await startFleet(t);
  await begin(app);
  const { page } = await visit(t, `${app.url}/portal/policies`);
  await page.setViewportSize(PHONE);
  await page.getByRole("link", { name: "Show the rollout" }).click();
  await page.getByRole("button", { name: "Roll back…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("All runtimes get v1 again").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  const states = async () => (await app.get("/api/v1/rollouts")).body.rollouts[0].state;
  assert.equal(await states(), "running");
  await page.getByRole("button", { name: "Roll back…" }).click();
  await dialog.getByRole("button", { name: "Roll back" }).click();
  await page.getByRole("region", { name: "Rollout of v2" }).getByText("Rolled back").waitFor();
  assert.equal(await states(), "rolled_back");
  const isWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
  assert.equal(await page.evaluate(isWide), false);
});

browserTest("a rollout of a version with a long name fits the overview", async (t) => {
  const app = await startFleet(t);
  const version = "v".repeat(120);
  await app.post("/api/v1/policies", { version, yaml: "a: 3", activate: false });
  await app.post("/api/v1/rollouts", { version, stages: STAGES });
  const visited = await visit(t, app.url, { javaScriptEnabled: false });
  await visited.page.getByText("is being rolled out").waitFor();
  await visited.checkFits();
});

browserTest("the rollout can be read without JavaScript, in both themes", async (t) => {
  const app = await startFleet(t);
  await begin(app);
  app.advance(MINUTE);
  const { page } = await visit(t, `${app.url}/portal/rollouts`, { javaScriptEnabled: false });
  await page.getByText("0 of at least 2 runtimes report the version").waitFor();
  assert.equal(await page.locator("button[data-step]:visible").count(), 0);
  await checkLooks(t, `${app.url}/portal/rollouts`, "rollouts");
});
