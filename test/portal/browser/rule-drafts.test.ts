import assert from "node:assert/strict";
import { browserTest, DESKTOP, PHONE, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const POLICY = `schema: signalbox/policy/v1
default: deny
rules:
  - id: no-apply
    effect: deny
    reason: A person applies
    match:
      consumers: [ai]
      commands: [{ prefix: terraform apply }]
`;
const EVENTS = [
  { id: "e1", command: "terraform apply plan.out", consumer: "ai", executor: "agent-1" },
  { id: "e2", command: "git status", consumer: "ai", executor: "agent-1" },
  { id: "e3", command: "git log", consumer: "ai", executor: "agent-1" },
];

browserTest("denials become one draft: from the event to the published version", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/policies", { version: "v7", yaml: POLICY });
  for (const event of EVENTS) {
    await app.post("/api/v1/audit", { ...event, policy_decision: "DENIED", reason: "no" });
  }
  const { page } = await visit(t, `${app.url}/portal/audit`);
  const text = page.getByRole("textbox", { name: "Policy document" });
  await page.locator(".row", { hasText: "terraform apply" }).click();
  await page.getByRole("button", { name: "Collect" }).click();
  await page.locator(".row", { hasText: "git status" }).click();
  await page.getByRole("heading", { name: "Event: Denied" }).waitFor();
  await page.locator("#audit-event").getByText("git status").first().waitFor();
  await page.getByRole("button", { name: "Collect" }).click();
  const collected = page.getByRole("complementary", { name: "Collected events" });
  await collected.getByText("2 events collected").waitFor();
  const [bar, event] = [
    await collected.boundingBox(),
    await page.locator("#audit-event").boundingBox(),
  ];
  assert.ok(bar && event && bar.x + bar.width <= event.x, "the bar is beside the open event");
  await page.setViewportSize(PHONE);
  assert.ok(((await collected.boundingBox())?.x ?? 0) > 0, "the bar fits a phone");
  await page.setViewportSize(DESKTOP);
  await collected.getByRole("button", { name: "allow them" }).click();
  await page.waitForURL("**/portal/policies/new");
  await page.getByText("Valid: it could be published").waitFor();
  const notes = page.getByRole("list", { name: "Drafted from events" });
  assert.match(await notes.innerText(), /The rule "no-apply" denies it, and deny wins over allow/);
  await notes.getByRole("button").first().click();
  const selected = String(await page.evaluate("String(getSelection())"));
  assert.match(selected, /^- commands: \[\{exact: terraform apply plan\.out\}\]/);
  assert.equal(await page.locator("#begins").innerText(), "begins with v7");

  // A further event is added to the draft, which is not replaced unasked.
  await page.goto(`${app.url}/portal/audit?event=e3`);
  assert.equal(await collected.count(), 0);
  await page.getByRole("button", { name: "allows it" }).click();
  await page.waitForURL("**/portal/policies/new");
  await page.getByRole("dialog", { name: "You have a draft" }).waitFor();
  await page.getByRole("button", { name: "Draft the rules" }).click();
  await page.locator("#paint", { hasText: "id: allow-git-log" }).waitFor();
  await page.getByText("Valid: it could be published").waitFor();
  assert.match(await text.inputValue(), /id: allow-git-log[^]*id: allow-git-status/);

  await page.getByRole("button", { name: "Review and publish…" }).click();
  assert.equal(await page.getByLabel("Version name").inputValue(), "v8");
  await page.getByRole("button", { name: "Publish and activate" }).click();
  await page.waitForURL("**/portal/policies?version=v8");
  for (const { command, consumer, executor } of EVENTS) {
    const { body } = await app.post("/api/v1/policies/simulate", { command, consumer, executor });
    assert.equal(body.decision, "ALLOWED", command);
  }
});

browserTest("collected events can be forgotten, and a new draft keeps the old one", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/policies", { version: "v7", yaml: POLICY });
  await app.post("/api/v1/audit", { ...EVENTS[1], policy_decision: "DENIED" });
  const { page } = await visit(t, `${app.url}/portal/policies/new`);
  const text = page.getByRole("textbox", { name: "Policy document" });
  await page.getByText("Valid, without a change").waitFor();
  await text.fill("a: mine");
  await page.getByText("Valid: it could be published").waitFor();
  await page.goto(`${app.url}/portal/audit?event=e2`);
  await page.getByRole("button", { name: "Collect" }).click();
  await page.getByText("1 event collected").waitFor();
  await page.getByRole("button", { name: "Forget them" }).click();
  assert.equal(await page.getByText("1 event collected").count(), 0);
  await page.getByRole("button", { name: "denies it" }).click();
  await page.waitForURL("**/portal/policies/new");
  await page.getByLabel("Begin a new draft instead").check();
  await page.getByRole("button", { name: "Draft the rules" }).click();
  await page.getByText("A new rule denies it").waitFor();
  await page.getByText("Valid: it could be published").waitFor();
  assert.match(await text.inputValue(), /id: deny-git-status/);
  await page.getByRole("button", { name: "Bring the discarded draft back" }).click();
  await page.locator("#changes-words").getByText("1 line added").waitFor();
  assert.equal(await text.inputValue(), "a: mine");
});
