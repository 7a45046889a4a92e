import assert from "node:assert/strict";
import { after } from "node:test";
import { browserTest, checkLooks, holdAnswers, MARKUP, visit } from "../../support/browser.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../../support/start.ts";

const OLD = `schema: signalbox/policy/v1
default: deny
rules:
  - id: allow-git
    effect: allow
    match:
      commands: [{ prefix: git }]
`;
const NEW = `${OLD}  - id: no-push
    effect: deny
    reason: ${JSON.stringify(MARKUP)}
    match:
      commands: [{ prefix: git push }]
`;

const app = await start({ after });
await app.post("/api/v1/policies", { version: "v1", yaml: OLD, description: MARKUP });
await app.post("/api/v1/policies", { version: "v/2 <b>", yaml: NEW, updated_by: MARKUP });
await app.post("/api/v1/fleet/heartbeat", { name: "build-1", policy_version: "v1" });
const page = `${app.url}/portal/policies`;

browserTest("after a publish the page counts the runtimes that have the version", async (t) => {
  const own = await start(t);
  await own.post("/api/v1/policies", { version: "v1", yaml: OLD });
  const beat = (name: string, policy_version?: string) =>
    own.post("/api/v1/fleet/heartbeat", { name, policy_version });
  for (const name of ["build-1", "build-2"]) await beat(name, "v1");
  await beat("build-3");
  await own.post("/api/v1/policies", { version: "v2", yaml: NEW });
  await beat("build-1", "v2");
  const reader = (await visit(t, `${own.url}/portal/policies?version=v2`)).page;
  const facts = reader.locator(".document dl");
  assert.match(
    await facts.innerText(),
    /1 of 3 runtimes have v2\s+1 on another version\s+1 did not say/,
  );
  await beat("build-2", "v2");
  await beat("build-3", "v2");
  await facts.getByText("3 of 3 runtimes have v2").waitFor(); // read every 10 seconds until then
  assert.equal(await facts.getByRole("progressbar").count(), 0);
  await reader.goto(`${own.url}/portal/policies?version=v1`);
  assert.doesNotMatch(await facts.innerText(), /Runtimes/);
});

browserTest("the page of the versions says that this tab has a draft", async (t) => {
  const { page: reader } = await visit(t, page);
  const notice = reader.getByText("This tab has a draft");
  await reader.getByRole("link", { name: "New version", exact: true }).click();
  await reader.getByText("Valid, without a change").waitFor();
  await reader.locator("#yaml").fill(`${NEW}# more`);
  await reader.getByRole("link", { name: "Policies", exact: true }).first().click();
  await notice.getByText("v/2 <b>").waitFor();
  await reader.getByRole("link", { name: /^v1 / }).click();
  await reader.waitForURL("**/portal/policies?version=v1");
  await notice.getByRole("link", { name: "Continue the draft" }).click();
  await reader.getByText("Valid: it could be published").waitFor();
  assert.equal(await reader.locator("#yaml").inputValue(), `${NEW}# more`);
  await reader.locator("#yaml").fill("rules: all of them\n");
  await reader.getByText("its rules are not checked without").waitFor();
  await reader.locator("#yaml").fill('{ "schema": "signalbox/policy/v1", "rules": [] }');
  await reader.getByText("Valid: it could be published", { exact: true }).waitFor();
  await reader.getByRole("button", { name: "Discard the draft" }).click();
  await reader.getByRole("link", { name: "Policies", exact: true }).first().click();
  await reader.getByRole("heading", { name: "Policies" }).waitFor();
  assert.equal(await notice.count(), 0);
});

browserTest("the versions, a text and a difference are readable without JavaScript", async (t) => {
  const visited = await visit(t, page, { javaScriptEnabled: false });
  const reader = visited.page;
  await reader.getByRole("link", { name: /^v1 / }).click();
  assert.match(await reader.locator(".code").innerText(), /schema: signalbox\/policy\/v1\n/);
  assert.match(await reader.locator(".versions").innerText(), /1 runtime/);
  await reader.getByLabel("Compare with").selectOption("v/2 <b>");
  await reader.getByRole("button", { name: "Compare" }).click();
  assert.match(reader.url(), /version=v1&against=v%2F2\+%3Cb%3E$/);
  assert.equal(await reader.locator("td.removed code").first().textContent(), "  - id: no-push");
  await reader.goto(`${page}/new?from=v1`);
  assert.equal(await reader.locator("#yaml").inputValue(), OLD);
  assert.equal(await reader.locator("main button:visible").count(), 0);
  assert.match(
    await reader.locator("main").innerText(),
    /POST \/policies\/simulate tries commands/,
  );
});

browserTest(
  "Enter alone activates no version, also when its difference can be unfolded",
  async (t) => {
    const own = await start(t);
    const lines = "# a line\n".repeat(30);
    await own.post("/api/v1/policies", { version: "v1", yaml: lines + OLD });
    await own.post("/api/v1/policies", { version: "v2", yaml: lines + NEW });
    const { page: reader } = await visit(t, `${own.url}/portal/policies?version=v1`);
    await reader.getByRole("button", { name: "Roll back to this version…" }).press("Enter");
    const dialog = reader.getByRole("dialog", { name: "Roll back to v1?" });
    await dialog.getByLabel(/unchanged lines/).waitFor();
    assert.equal(await reader.evaluate("document.activeElement.textContent"), "Cancel");
    await reader.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    assert.equal((await own.get("/api/v1/policies")).body.active, "v2");
  },
);

browserTest("an older version is activated after a dialog that shows the changes", async (t) => {
  const own = await start(t);
  await own.post("/api/v1/policies", { version: "v1", yaml: OLD });
  await own.post("/api/v1/policies", { version: "v2", yaml: NEW });
  const { page: reader } = await visit(t, `${own.url}/portal/policies`);
  await reader.getByRole("link", { name: /^v1 / }).click();
  await reader.waitForURL("**/portal/policies?version=v1");
  const open = reader.getByRole("button", { name: "Roll back to this version…" });
  await open.click();
  const dialog = reader.getByRole("dialog", { name: "Roll back to v1?" });
  assert.match(await dialog.innerText(), /instead of v2: 5 lines removed/);
  await reader.keyboard.press("Escape");
  assert.equal((await own.get("/api/v1/policies")).body.active, "v2");
  await open.press("Enter");
  await dialog.getByRole("button", { name: "Roll back to v1" }).click();
  await reader.getByText("v1 is the active version").waitFor();
  await dialog.waitFor({ state: "detached" }); // shown after the changes
  assert.equal((await own.get("/api/v1/policies")).body.active, "v1");
  assert.equal(await open.count(), 0);
  await reader.goBack();
  await reader.getByRole("heading", { name: "v1" }).waitFor();
});

browserTest(
  "the keyboard alone writes, checks, tries, reviews and publishes a version",
  async (t) => {
    const own = await start(t);
    await own.post("/api/v1/policies", { version: "v1", yaml: OLD });
    const { page: writer } = await visit(t, `${own.url}/portal/policies/new`, {}, [409]);
    await writer.getByText("Valid, without a change").waitFor();
    await writer.keyboard.press("/");
    await writer.keyboard.press("Control+End");
    await writer.keyboard.type("  - id: second\neffect: maybe\nmatch: {}\n");
    const problem = writer.getByRole("listitem").filter({ hasText: "expected allow or deny" });
    await problem.waitFor();
    await writer.getByText("1 problem", { exact: true }).waitFor();
    await problem.getByRole("button", { name: /^Line 9/ }).focus();
    await writer.keyboard.press("Enter");
    assert.equal(await writer.evaluate("document.activeElement.id"), "yaml");
    assert.equal(await writer.evaluate("String(getSelection())"), "maybe");
    await writer.keyboard.press("Control+A");
    await writer.keyboard.insertText(NEW);
    await writer.getByText("Valid: it could be published").waitFor();
    await writer.getByText("5 lines added", { exact: true }).waitFor();
    await writer.getByLabel("Commands, one in each line").focus();
    await writer.keyboard.type("git push --force");
    await writer.keyboard.press("Control+Enter");
    await writer.locator("#decision").getByText("Denied").waitFor();
    assert.ok((await writer.locator("#decision").innerText()).includes(MARKUP));
    await writer.reload(); // the draft survives the reload
    await writer.getByText("5 lines added", { exact: true }).waitFor();
    await writer.getByText("Valid: it could be published").waitFor(); // until then nothing can be published
    await writer.getByRole("button", { name: "Review and publish…" }).press("Enter");
    await writer.getByLabel("Version name").fill("v1");
    await writer.keyboard.press("Enter");
    await writer.getByText('Policy version "v1" already exists').waitFor();
    await writer.getByLabel("Version name").fill("v2");
    await writer.keyboard.press("Enter");
    await writer.waitForURL("**/portal/policies?version=v2");
    const { body } = await own.get("/api/v1/policies?active=true");
    assert.deepEqual([body.version, body.yaml], ["v2", NEW]);
    assert.equal(await writer.evaluate("sessionStorage.getItem('signalbox.draft')"), null);
    assert.equal(await writer.evaluate("typeof window.broken"), "undefined");
  },
);

browserTest(
  "with a token a version is written, tried, published and rolled back, and no text is read needlessly",
  async (t) => {
    const own = await start(t, { ...ADMIN_SETTINGS, requireAuth: true });
    await own.post("/api/public/policies", {
      version: "v0",
      yaml: `${OLD}# ${"never shown ".repeat(50)}`,
    });
    await own.post("/api/public/policies", { version: "v1", yaml: OLD });
    const { page: writer } = await visit(t, `${own.url}/portal/policies/new`, {}, [401]);
    const answers: string[] = [];
    writer.on("response", (response) => {
      if (!response.url().includes("/api/v1/policies")) return;
      void response.text().then(
        (text) => answers.push(text),
        () => {},
      );
    });
    await writer.getByLabel("Email").fill(ADMIN.email);
    await writer.getByLabel("Password").fill(ADMIN.password);
    await writer.keyboard.press("Enter");
    await writer.waitForURL("**/portal/policies/new");
    await writer.getByText("Valid, without a change").waitFor();
    const text = writer.getByRole("textbox", { name: "Policy document" });
    assert.equal(await text.inputValue(), OLD);
    await text.fill(`${OLD}rules: []\n`);
    await writer.getByText("1 problem", { exact: true }).waitFor();
    await writer.getByRole("button", { name: /^Line 8/ }).waitFor();
    await text.fill(NEW);
    await writer.getByText("5 lines added", { exact: true }).waitFor();
    await writer.getByText("Valid: it could be published").waitFor();
    await writer.getByLabel("Commands, one in each line").fill("git push");
    await writer.locator("#decision").getByText("Denied").waitFor();
    await writer.getByRole("button", { name: "Review and publish…" }).click();
    await writer.getByLabel("Version name").fill("v2");
    await writer.keyboard.press("Enter");
    await writer.waitForURL("**/portal/policies?version=v2");
    await writer.getByRole("link", { name: "What it changed of v1 in v2" }).click();
    await writer.getByText("From v1 to v2: 5 lines added").waitFor();
    await writer.getByRole("link", { name: /^v1 / }).click();
    await writer.getByRole("button", { name: "Roll back to this version…" }).click();
    const dialog = writer.getByRole("dialog", { name: "Roll back to v1?" });
    assert.match(await dialog.innerText(), /instead of v2: 5 lines removed/);
    await dialog.getByRole("button", { name: "Roll back to v1" }).click();
    await writer.getByText("v1 is the active version").waitFor();
    const { body } = await own.get("/api/public/policies?active=true");
    assert.deepEqual([body.version, body.activated_by], ["v1", ADMIN.email]);
    assert.ok(answers.some((answer) => answer.includes('"v0"')));
    assert.ok(answers.every((answer) => !answer.includes("never shown")));
  },
);

browserTest("the draft is validated again when the connection returns", async (t) => {
  const { page: writer, faults } = await visit(t, `${page}/new?from=v1`);
  await writer.clock.install();
  await writer.reload();
  const text = writer.getByRole("textbox", { name: "Policy document" });
  await writer.getByText("Valid: it could be published").waitFor();
  await writer.route("**/validate", (route) => route.abort());
  await text.fill(`${OLD}rules: []\n`);
  await writer.clock.runFor(300);
  await writer.getByText("Not checked: The service cannot be reached").waitFor();
  await writer.unroute("**/validate");
  await writer.clock.runFor(3_000);
  await writer.getByText("1 problem", { exact: true }).waitFor();
  faults.splice(0); // browsers report the failed request
});

browserTest("a draft is named after its own base, and discarding it can be undone", async (t) => {
  const { page: writer } = await visit(t, `${app.url}/portal/policies/new`);
  const text = writer.getByRole("textbox", { name: "Policy document" });
  const begins = writer.locator("#begins");
  await writer.getByText("Valid, without a change", { exact: true }).waitFor();
  await text.fill("default: deny");
  await writer.goto(`${app.url}/portal/policies/new?from=v1`);
  await writer.getByText("This is your draft.").waitFor();
  assert.equal(await begins.innerText(), "begins with v/2 <b>");
  assert.equal(await text.inputValue(), "default: deny");
  await writer.getByRole("button", { name: "Begin with v1 instead" }).click();
  assert.equal(await text.inputValue(), OLD);
  assert.equal(await begins.innerText(), "begins with v1");
  const restore = writer.getByRole("button", { name: "Bring the discarded draft back" });
  await restore.click();
  await writer.getByText("begins with v/2 <b>").waitFor();
  assert.equal(await text.inputValue(), "default: deny");
  await writer.getByRole("button", { name: "Discard the draft" }).click();
  assert.equal(await text.inputValue(), OLD); // of the address
  await writer.reload();
  await restore.click();
  await writer.getByText("begins with v/2 <b>").waitFor();
  assert.equal(await text.inputValue(), "default: deny");
});

browserTest("a version that became active meanwhile is not overwritten unseen", async (t) => {
  const own = await start(t);
  await own.post("/api/v1/policies", { version: "v1", yaml: OLD });
  const { page: writer } = await visit(t, `${own.url}/portal/policies/new`, {}, [409]);
  const text = writer.getByRole("textbox", { name: "Policy document" });
  const publish = writer.getByRole("button", { name: "Review and publish…" });
  await writer.getByText("Valid, without a change", { exact: true }).waitFor();
  assert.equal(await publish.isDisabled(), true);
  await text.fill(`${OLD}rules: []\n`);
  await writer.getByText("1 problem", { exact: true }).waitFor();
  assert.equal(await publish.isDisabled(), true);
  await text.fill(`# mine\n${OLD}`);
  await writer.getByText("Valid: it could be published").waitFor();
  await publish.click();
  assert.equal(await writer.getByLabel("Version name").inputValue(), "v2");
  await own.post("/api/v1/policies", { version: "v2", yaml: NEW, updated_by: "eve" });
  await writer.keyboard.press("Enter");
  const dialog = writer.getByRole("dialog", { name: "v2 is active now" });
  const words = await dialog.innerText();
  assert.match(words, /It was not published[^]*by eve[^]*v1 to v2: 5 lines added/);
  assert.match(words, /v1 to your draft: 1 line added/);
  await dialog.getByRole("button", { name: "Join the changes" }).click();
  await writer.getByText("Valid: it could be published").waitFor();
  assert.equal(await text.inputValue(), `# mine\n${NEW}`);
  assert.equal(await writer.locator("#changes-words").innerText(), "1 line added");
  await publish.click();
  assert.equal(await writer.getByLabel("Version name").inputValue(), "v3");
  await writer.keyboard.press("Enter");
  await writer.waitForURL("**/portal/policies?version=v3");
  assert.equal((await own.get("/api/v1/policies/v3")).body.yaml, `# mine\n${NEW}`);
});

browserTest("changes of the same lines are shown, and the draft stays as it is", async (t) => {
  const own = await start(t);
  await own.post("/api/v1/policies", { version: "v1", yaml: OLD });
  const { page: writer } = await visit(t, `${own.url}/portal/policies/new`);
  await writer.getByText("Valid, without a change").waitFor();
  const text = writer.getByRole("textbox", { name: "Policy document" });
  await text.fill(OLD.replace("deny", "allow"));
  await own.post("/api/v1/policies", {
    version: "v2",
    yaml: OLD.replace("default: deny", "name: x"),
  });
  await writer.reload();
  await writer.getByText("v2 is active now").waitFor();
  await writer.getByRole("button", { name: "Show both changes…" }).click();
  const dialog = writer.getByRole("dialog", { name: "v2 is active now" });
  await dialog.getByText("Both change the same lines.").waitFor();
  await dialog.getByRole("button", { name: "Go on with my text" }).click();
  await writer.locator("#begins").getByText("v2").waitFor();
  assert.equal(await text.inputValue(), OLD.replace("deny", "allow"));
  assert.equal(await writer.locator("td.removed code").first().textContent(), "name: x");
});

browserTest("text typed before the editor's module is loaded is kept", async (t) => {
  const { page: writer } = await visit(t, `${app.url}/portal/policies/new?from=v1`);
  const module = await holdAnswers(writer, "**/policy-editor.js");
  await writer.reload({ waitUntil: "commit" });
  const text = writer.getByRole("textbox", { name: "Policy document" });
  await text.fill("default: allow");
  module.release();
  await writer.getByRole("button", { name: "Discard the draft" }).waitFor();
  assert.equal(await text.inputValue(), "default: allow");
});

browserTest(
  "the editor keeps the indent, completes words, and marks problems in its margin",
  async (t) => {
    const own = await start(t);
    await own.post("/api/v1/policies", { version: "v1", yaml: OLD });
    const { page: writer } = await visit(t, `${own.url}/portal/policies/new`);
    const text = writer.getByRole("textbox", { name: "Policy document" });
    const words = writer.getByRole("listbox", { name: "Completions" });
    await writer.getByText("Valid, without a change").waitFor();
    assert.equal(await writer.locator("#paint .y-key").first().innerText(), "schema");
    await text.focus();
    await writer.keyboard.press("Control+End");
    await writer.keyboard.press("Tab");
    await writer.keyboard.type("- id: second\nef");
    await words.getByRole("option", { name: "effect:" }).waitFor();
    await writer.keyboard.press("Enter");
    await writer.keyboard.press("Control+Space");
    await words.getByRole("option", { name: "deny" }).click();
    await writer.keyboard.type("\nmatch:\nproviders: [kubern");
    await words.getByRole("option", { name: "kubernetes" }).waitFor();
    await writer.keyboard.press("Tab");
    await writer.keyboard.type("]");
    const added = "  - id: second\n    effect: deny\n    match:\n      providers: [kubernetes]";
    assert.equal(await text.inputValue(), OLD + added);
    await writer.getByText("Valid: it could be published").waitFor();

    await writer.keyboard.press("Shift+Tab");
    await writer.keyboard.press("Control+A");
    await writer.keyboard.press("Tab");
    await writer.keyboard.press("Shift+Tab");
    assert.equal(await text.inputValue(), OLD + added.replace("      providers", "    providers"));
    await writer.locator("#gutter b").first().waitFor();
    await writer.getByText("2 problems", { exact: true }).waitFor();
    assert.equal(await writer.locator("#gutter b").last().innerText(), "11");
    assert.match(await writer.locator("#paint i").last().innerText(), /unknown key/);
    const listed = writer.locator("#problems code");
    assert.equal(await listed.last().textContent(), "    providers: [kubernetes]");
    await writer.locator("#gutter b").last().click();
    assert.equal(await writer.evaluate("String(getSelection())"), "providers: [kubernetes]");

    // The way out for the keyboard.
    await writer.keyboard.press("Escape");
    await writer.keyboard.press("Tab");
    assert.notEqual(await writer.evaluate("document.activeElement.id"), "yaml");
  },
);

browserTest(
  "several commands are tried at once, and lead to the rules that decide them",
  async (t) => {
    const { page: writer } = await visit(t, `${page}/new`);
    await writer.getByText("Valid, without a change").waitFor();
    await writer
      .getByLabel("Commands, one in each line")
      .fill("git push\n\ngit status\nls\nx=(1); ls");
    const rows = writer.locator("#decision li");
    await rows.nth(3).waitFor();
    const said = (await rows.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, " "));
    assert.match(said[0] ?? "", /^Denied git push by rule no-push Line 8 /);
    assert.match(said[1] ?? "", /^Allowed git status by rule allow-git Line 4$/);
    assert.match(said[2] ?? "", /^Denied ls by the default$/);
    assert.match(said[3] ?? "", /by the default It cannot be split because of an array\.$/);
    await rows.first().getByRole("button", { name: "Line 8" }).click();
    assert.equal(await writer.evaluate("String(getSelection())"), "  - id: no-push");
  },
);

browserTest("names and texts are never markup, and the pages are accessible and fit", async (t) => {
  const visited = await visit(t, `${page}?version=v1&against=${encodeURIComponent("v/2 <b>")}`);
  await visited.page.waitForLoadState("networkidle");
  await visited.checkUnbroken();
  assert.ok((await visited.page.locator("main").innerText()).includes(MARKUP));
  await checkLooks(t, `${page}?version=v1`, "policies");
  await checkLooks(t, `${page}?version=v1&against=${encodeURIComponent("v/2 <b>")}`, "policy-diff");
  await checkLooks(t, `${page}/new`, "policy-editor");
});

browserTest("unchanged lines open, and changed words are marked, without JavaScript", async (t) => {
  const own = await start(t);
  const lines = Array.from({ length: 40 }, (_, i) => `# line ${i}`).join("\n");
  await own.post("/api/v1/policies", { version: "v1", yaml: `${lines}\ndefault: deny\n` });
  await own.post("/api/v1/policies", { version: "v2", yaml: `${lines}\ndefault: allow\n` });
  const { page: reader } = await visit(t, `${own.url}/portal/policies?version=v2&against=v1`, {
    javaScriptEnabled: false,
  });
  assert.deepEqual(await reader.locator(".diff mark").allInnerTexts(), ["deny", "allow"]);
  assert.equal(await reader.getByText("# line 5").first().isVisible(), false);
  const style = "getComputedStyle(document.querySelector('.gap label')).listStyleType";
  const arrow = (): Promise<unknown> => reader.evaluate(style);
  assert.equal(await arrow(), "disclosure-closed");
  await reader.getByLabel("37 unchanged lines").check();
  assert.equal(await arrow(), "disclosure-open");
  assert.equal(await reader.getByText("# line 5").first().isVisible(), true);
});

browserTest("many versions are searched, with and without JavaScript", async (t) => {
  const own = await start(t);
  for (let i = 1; i <= 12; i++) {
    const description = i === 7 ? "Night shift" : undefined;
    await own.post("/api/v1/policies", { version: `v${i}`, yaml: `a: ${i}`, description });
  }
  for (const javaScriptEnabled of [false, true]) {
    const { page: reader } = await visit(t, `${own.url}/portal/policies`, { javaScriptEnabled });
    await reader.getByRole("searchbox").fill("night");
    await reader.keyboard.press("Enter");
    await reader.getByText("1 version matches").waitFor();
    const names = reader.locator(".versions li .mono");
    assert.deepEqual(await names.allInnerTexts(), ["v7"]);
    await reader.getByRole("link", { name: /^v7/ }).click();
    await reader.waitForURL("**/portal/policies?version=v7&q=night");
    await reader.getByRole("heading", { name: "v7" }).waitFor();
  }
});
