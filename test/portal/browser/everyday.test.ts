/** The everyday tasks, by clicks alone: in the open portal, and signed in as an operator and as a viewer. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import { browserTest, copiedBy, visit } from "../../support/browser.ts";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../../support/start.ts";

const HOUR_MS = 3_600_000;
const OLD = `schema: signalbox/policy/v1
default: allow
rules:
  - id: no-destroy
    effect: deny
    reason: Destroying needs a review
    match: { commands: [{ prefix: terraform destroy }] }
`;
const NEW = `${OLD}  - id: no-push
    effect: deny
    reason: Pipelines push
    match: { commands: [{ prefix: git push }] }
`;
const TIGHT = `${NEW}  - id: no-kubectl
    effect: deny
    match: { commands: [{ prefix: kubectl }] }
`;

type As = "open" | "operator" | "viewer";

/** A service with two versions, a drifted runtime, and commands of today and yesterday. */
async function startCompany(t: TestContext, isOpen: boolean): Promise<App> {
  const settings = { ...ADMIN_SETTINGS, requireAuth: true, roles: "enforced" } as const;
  const app = await start(t, isOpen ? {} : settings);
  const admin = isOpen ? undefined : await app.asUser(ADMIN);
  if (admin) {
    await app.createUser({ email: "operator@example.com", role: "operator" }, admin);
    await app.createUser({ email: "viewer@example.com", role: "viewer" }, admin);
  }
  const post = (path: string, body: object) => app.post(`/api/v1${path}`, body, admin);
  await post("/policies", { version: "v1", yaml: OLD, updated_by: "eve@example.com" });
  await post("/policies", { version: "v2", yaml: NEW, updated_by: "ada@example.com" });
  await post("/policies", { version: "v3", yaml: TIGHT, activate: false });
  await post("/fleet/heartbeat", { name: "build-1", policy_version: "v1" });
  await post("/fleet/heartbeat", { name: "build-2", policy_version: "v2" });
  const ago = (hours: number): string => new Date(app.now - hours * HOUR_MS).toISOString();
  await post("/audit", {
    events: [
      {
        ...{ id: "push", command: "git push origin main", executor: "ada", consumer: "ai" },
        ...{ policy_decision: "DENIED", reason: "Pipelines push", policy: "v2" },
        ...{ runtime_name: "build-2", timestamp: ago(0.5) },
      },
      { command: "git status", executor: "ada", consumer: "ai", timestamp: ago(0.6) },
      { command: "git log", executor: "ada", consumer: "human", timestamp: ago(0.7) },
      { command: "git diff", executor: "eve", consumer: "ai", timestamp: ago(0.8) },
      {
        ...{ command: "terraform destroy", executor: "eve", policy_decision: "DENIED" },
        ...{ reason: "Destroying needs a review", policy: "v1", timestamp: ago(26) },
      },
      {
        ...{ command: "kubectl get pods", executor: "eve", policy_decision: "ALLOWED" },
        ...{ policy: "v2", timestamp: ago(27) },
      },
    ].map((event) => ({ policy_decision: "ALLOWED", ...event })),
  });
  return app;
}

/** Opens the overview; with a role the reader signs in first. */
async function enter(t: TestContext, app: App, as: As): Promise<Page> {
  const permissions = ["clipboard-read", "clipboard-write"];
  const { page } = await visit(t, app.url, { permissions });
  if (as !== "open") {
    await page.getByLabel("Email").fill(`${as}@example.com`);
    await page.getByLabel("Password").fill(ADMIN.password);
    await page.getByRole("button", { name: "Sign in" }).click();
  }
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  return page;
}

const menu = (page: Page, name: string): Promise<void> =>
  page.getByRole("navigation", { name: "Portal" }).getByRole("link", { name, exact: true }).click();
const total = (page: Page, words: string): Promise<void> =>
  page.locator(".total", { hasText: words }).waitFor();

/** The questions that every role may ask. */
async function findOut(page: Page, app: App): Promise<void> {
  // The denials of the last day, and their reasons.
  await page.getByRole("link", { name: "All denials" }).click();
  await total(page, "1 event in the last 24 hours");
  await page
    .locator(".row", { hasText: "git push origin main" })
    .getByText("Pipelines push")
    .waitFor();

  // Which machines run an old policy.
  await menu(page, "Fleet");
  await page.getByLabel(/Drifted only/).check();
  await page.getByText("1 of 2 runtimes").waitFor();
  await page.getByRole("link", { name: "build-1" }).waitFor();

  // Who changed the policy, and how.
  await menu(page, "Policies");
  await page.getByRole("link", { name: /^v2 Active .* by ada@example\.com/ }).waitFor();
  await page.getByRole("link", { name: "What it changed of v1 in v2" }).click();
  await page.getByText("From v1 to v2: 4 lines added").waitFor();

  // A CSV of the denials of yesterday.
  await menu(page, "Audit");
  await page.getByRole("link", { name: "Yesterday" }).click();
  await page.getByRole("combobox", { name: "Decision" }).selectOption("Denied");
  await total(page, "1 event");
  await page.getByText("Export", { exact: true }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: /^CSV/ }).click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8")
    .trimEnd()
    .split("\r\n");
  assert.equal(lines.length, 2);
  assert.match(lines[1] ?? "", /terraform destroy.*DENIED.*Destroying needs a review/);

  // The AI commands of one person in the last hour, as a link for a colleague.
  await page.getByRole("link", { name: "Drop decision Denied" }).click();
  await total(page, "2 events from");
  await page.getByRole("link", { name: "1 h", exact: true }).click();
  await total(page, "4 events");
  await page.locator(".row", { hasText: "git status" }).click();
  await page.getByRole("link", { name: "Only events with executor ada" }).click();
  await total(page, "3 events");
  await page.getByRole("combobox", { name: "Consumer" }).selectOption("AI");
  await total(page, "2 events in the last hour");
  const link = await copiedBy(page, page.getByRole("button", { name: "Copy link" }));
  await page.getByText("Copied, with the times of this view").waitFor();
  app.advance(3 * HOUR_MS); // a colleague looks later
  await page.goto(link);
  await total(page, "2 events");

  // The denials that a change would have brought yesterday.
  await menu(page, "Policies");
  await page.getByRole("link", { name: /^v3 / }).click();
  await page.getByRole("button", { name: "What it would change" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Commands of").selectOption("yesterday");
  await dialog.getByText("1 event newly denied and 0 events newly allowed, of 2 events").waitFor();
  await dialog.getByText("kubectl get pods").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
}

/** The changes that take the role operator. */
async function change(page: Page, app: App, as: As): Promise<void> {
  // A rule from a denial, published and activated.
  await menu(page, "Audit");
  await page.locator(".row", { hasText: "git push origin main" }).click();
  await page.getByRole("button", { name: "allows it" }).click();
  await page.getByText("Valid: it could be published").waitFor();
  await page.getByRole("button", { name: "Review and publish…" }).click();
  await page.getByRole("button", { name: "Publish and activate" }).click();
  await page.getByRole("heading", { name: "v4" }).waitFor();
  const headers = as === "open" ? undefined : await app.asUser(ADMIN);
  const active = async (): Promise<string> =>
    (await app.get("/api/v1/policies?active=true", headers)).body.version;
  assert.equal(await active(), "v4");

  // Rolled back.
  await page.getByRole("link", { name: /^v2 / }).click();
  await page.getByRole("button", { name: "Roll back to this version…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Roll back to v2" }).click();
  await page.getByText("v2 is the active version").waitFor();
  assert.equal(await active(), "v2");

  // A version that was only stored is activated.
  await page.getByRole("link", { name: /^v3 / }).click();
  await page.getByRole("button", { name: "Activate…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Activate v3" }).click();
  await page.getByText("v3 is the active version").waitFor();

  // A key, and a runtime that uses it.
  if (as === "open") return;
  await menu(page, "Access");
  await page.getByLabel("What it is for").fill("laptops");
  await page.getByRole("button", { name: "Create key" }).click();
  const fresh = page.getByRole("region", { name: "The key for laptops" });
  const key = await copiedBy(page, fresh.getByRole("button", { name: "Copy" }).first());
  await app.post("/api/v1/fleet/heartbeat", { name: "laptop-7" }, { "x-api-key": key });
  await fresh.getByRole("button", { name: "Done" }).click();
  await menu(page, "Fleet");
  await page.getByRole("link", { name: "laptop-7" }).waitFor();
}

browserTest("the everyday tasks are done by clicks in the open portal", async (t) => {
  const app = await startCompany(t, true);
  const page = await enter(t, app, "open");
  await findOut(page, app);
  await change(page, app, "open");
});

browserTest("the everyday tasks are done by an operator", async (t) => {
  const app = await startCompany(t, false);
  const page = await enter(t, app, "operator");
  await findOut(page, app);
  await change(page, app, "operator");
});

browserTest("a viewer finds everything out, and is told who may change it", async (t) => {
  const app = await startCompany(t, false);
  const page = await enter(t, app, "viewer");
  await findOut(page, app);
  await page.getByText("takes the role operator or admin; yours is viewer").waitFor();
  await menu(page, "Access");
  await page.getByText("takes the role operator or admin; yours is viewer").waitFor();
});

browserTest("an admin adds a user, who signs in", async (t) => {
  const app = await startCompany(t, false);
  const { page } = await visit(t, `${app.url}/portal/sign-in`);
  const signIn = async (email: string, password: string): Promise<void> => {
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  };
  await signIn(ADMIN.email, ADMIN.password);
  await menu(page, "Access");
  await page.getByRole("link", { name: "Users", exact: true }).click();
  await page.getByLabel("Email").fill("new@example.com");
  await page.getByLabel("Name").fill("New Person");
  await page.getByLabel("Password").fill("a password of some length");
  await page.getByRole("button", { name: "Add user" }).click();
  await page.getByText("new@example.com can sign in").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/portal/sign-in");
  await signIn("new@example.com", "a password of some length");
});
