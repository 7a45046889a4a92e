import assert from "node:assert/strict";
import { after } from "node:test";
import { newMachine } from "../../guard/guard-process.ts";
import { browserTest, checkLooks, visit } from "../../support/browser.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../../support/start.ts";

const DAY_MS = 86_400_000;

const app = await start({ after });
await app.post("/api/v1/policies", {
  version: "v1",
  yaml: "schema: signalbox/policy/v1\ndefault: allow\nrules: []\n",
});
const beat = (name: string, version: string) =>
  app.post("/api/v1/fleet/heartbeat", { name, version, policy_version: "v1" });
const report = (runtime_name: string, transport: string) =>
  app.post("/api/v1/audit", { command: "ls", runtime_name, transport, policy_decision: "ALLOWED" });
await report("laptop-old", "cursor");
app.advance(DAY_MS + 1);
await report("laptop-ada", "claude-code");
await beat("laptop-new", "guard 0.2.0");
await beat("laptop-old", "guard 0.1.0");
await beat("laptop-ada", "guard 0.2.0");
await beat("not-a-guard", "2.0");
const url = `${app.url}/portal/agents`;

browserTest(
  "machines show their last event, and which are silent, also without JavaScript",
  async (t) => {
    const { page } = await visit(t, url, { javaScriptEnabled: false });
    const machines = page.getByRole("region", { name: "Table of machines" }).getByRole("row");
    const texts = await machines.allInnerTexts();
    assert.equal(texts.length, 4);
    assert.match(
      texts[1] ?? "",
      /laptop-ada\s+Reports\s+just now\s+Allowed\s+claude-code\s+v1\s+just now\s+0\.2\.0/,
    );
    assert.match(
      texts[2] ?? "",
      /laptop-old\s+Installed but silent\s+1 day ago\s+Allowed\s+cursor/,
    );
    assert.match(texts[3] ?? "", /laptop-new\s+Installed but silent\s+none/);
    assert.equal(await page.getByRole("button", { name: "Create key" }).isVisible(), false);
    await page.getByText("Gemini CLI").first().click();
    assert.ok(await page.getByText("signalbox guard setup gemini-cli --user").isVisible());
    const lines = await page.locator("#connect-exec pre").textContent();
    assert.match(lines ?? "", /\nsignalbox guard sync\nsignalbox guard exec -- /);
  },
);

browserTest("the lines wait for the key that is made here, and connect a machine", async (t) => {
  const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
  const admin = await own.asUser(ADMIN);
  const visited = await visit(t, `${own.url}/portal/agents`, {}, [401]);
  const { page } = visited;
  await page.getByLabel("Email").fill(ADMIN.email);
  await page.getByLabel("Password").fill(ADMIN.password);
  await page.keyboard.press("Enter");
  await page.getByText("No policy is active").waitFor();
  await page.getByLabel("Which machines it is for").fill("laptops");
  await page.getByRole("button", { name: "Create key" }).click();
  const fresh = page.getByRole("region", { name: "The key for laptops" });
  const key = await fresh.locator("pre", { hasText: /./ }).innerText();
  await visited.checkAccessibility();
  const blocks = await page.locator("#connect-claude-code pre").allInnerTexts();
  assert.equal(blocks.length, 2);
  const [lines = "", ...then] = blocks;
  assert.match(lines, /\nread -rs SIGNALBOX_API_KEY && export SIGNALBOX_API_KEY$/); // outside the history of the shell
  assert.equal(blocks.join().includes(key), false);
  const settings = [...lines.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  settings.push(["SIGNALBOX_API_KEY", key]);
  assert.deepEqual(then, ["signalbox guard setup claude-code --user\nsignalbox guard doctor"]);

  const yaml = "schema: signalbox/policy/v1\ndefault: deny\nrules: []\n";
  await own.post("/api/v1/policies", { version: "v1", yaml }, admin);
  const machine = await newMachine(t, Object.fromEntries(settings) as Record<string, string>);
  assert.equal((await machine.run(["setup", "claude-code", "--user"])).code, 0);
  const doctor = await machine.run(["doctor"]);
  assert.equal(doctor.code, 0, doctor.out);
  await page.getByRole("button", { name: "Done" }).click();
  await fresh.waitFor({ state: "detached" });
  const row = page.getByRole("row", { name: /machine-1/ });
  await row.waitFor();
  assert.match(await row.innerText(), /Installed but silent/);
});

browserTest("the page is accessible and fits", async (t) => {
  const visited = await visit(t, url);
  await visited.page.getByText("laptop-ada").waitFor();
  await visited.checkUnbroken();
  await checkLooks(t, url, "agents");
});
