/** A browser that keeps checkpoints finds a log that is not the one that it has seen. */
import assert from "node:assert/strict";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { newPrivateKey, pemOf } from "../../../src/proof/note.ts";
import { browserTest, visit, type Visit } from "../../support/browser.ts";
import { run } from "../../support/command-line.ts";
import { newDirectory } from "../../support/server-process.ts";
import { ADMIN, ADMIN_SETTINGS, start, type App } from "../../support/start.ts";

const ON = { checkpointSeconds: 86_400 } as const;

async function report(app: App, ...commands: string[]): Promise<void> {
  const events = commands.map((command) => ({ command }));
  assert.equal((await app.post("/api/v1/audit", { events })).status, 202);
}

/** Stops the service, changes its data, and starts it at the same address, which the browser keeps things for. */
async function between(app: App, change: () => Promise<void>, settings = {}): Promise<void> {
  const port = Number(new URL(app.url).port);
  await app.close();
  await change();
  await app.restart({ port, ...settings });
}

/** A copy of the data as it is, to which the service can be put back. */
async function savedState(t: TestContext, app: App): Promise<() => Promise<void>> {
  const copy = join(await newDirectory(t), "copy");
  await between(app, () => cp(app.dataDir, copy, { recursive: true }));
  return async () => {
    await rm(app.dataDir, { recursive: true });
    await cp(copy, app.dataDir, { recursive: true });
  };
}

const quiet = (page: Page, text: string | RegExp) =>
  page.locator("#log-check").getByText(text).waitFor();
const alert = (page: Page) => page.locator(".notice.bad[role=alert]");

async function sees(app: App, t: TestContext, path = "/portal/audit"): Promise<Visit> {
  return visit(t, `${app.url}${path}`, {}, [404]); // an empty log has no checkpoint
}

browserTest(
  "a log that grows is checked against the checkpoint that was seen before",
  async (t) => {
    const app = await start(t, ON);
    await report(app, "git push", "git pull", "git fetch");
    const { page } = await sees(app, t);
    await quiet(page, /^Signed audit log: 3 events\. This browser has kept/);
    await between(app, async () => {});
    await report(app, "git log", "git show");
    await app.restart({ port: Number(new URL(app.url).port) });
    await page.reload();
    await quiet(page, /^Signed audit log: 5 events, checked against the checkpoint of \d{4}-/);
    assert.equal(await alert(page).count(), 0);
  },
);

browserTest("a log that was put back is told, until the reader accepts it", async (t) => {
  const app = await start(t, ON);
  await report(app, "git push");
  const putBack = await savedState(t, app);
  await report(app, "rm -rf /srv", "git push");
  await between(app, async () => {}); // a stop signs
  const seen = await sees(app, t);
  const { page } = seen;
  await quiet(page, /3 events/);
  await between(app, putBack);
  await page.reload();
  await alert(page)
    .getByText(/^On 20/)
    .waitFor();
  assert.match(
    await alert(page).innerText(),
    /not the one that this browser has seen before[^]*had 3 events\. Now it has 1 event: some were removed/,
  );
  await seen.checkAccessibility();
  // A longer log with other events at the same places.
  await report(app, "git push", "git log", "git show");
  await between(app, async () => {});
  await page.reload();
  await alert(page).getByText("had 3 events. They are not those that it has now").waitFor();
  // The list goes on below the notice.
  await page.getByText("git show").first().waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    alert(page).getByRole("button", { name: "Save the checkpoint" }).click(),
  ]);
  const saved = await readFile(await download.path(), "utf8");
  assert.match(saved, /^signalbox\/default\/audit\n3\n/);
  await app.close();
  const kept = join(await newDirectory(t), "kept.txt");
  await writeFile(kept, saved);
  const key = (await run(["log-key", "x", "--data", app.dataDir])).out.trim();
  const checked = await run(["verify", app.dataDir, "--key", key, "--checkpoint", kept]);
  assert.equal(checked.code, 1);
  assert.match(checked.out, /events 1 to 2 are not those of the checkpoint in /);
  await app.restart({ port: Number(new URL(page.url()).port) });
  await alert(page).getByRole("button", { name: "Compare with the present log" }).click();
  await quiet(page, /^Signed audit log: 4 events, checked/);
  assert.equal(await alert(page).count(), 0);
});

browserTest("another key is told unless the one before it signed the change", async (t) => {
  const app = await start(t, ON);
  await report(app, "git push");
  const { page } = await sees(app, t);
  await quiet(page, /1 event\./);
  const [first, second] = [pemOf(newPrivateKey()), pemOf(newPrivateKey())];
  await between(app, async () => {}, { logSigningKey: first });
  await page.reload();
  await quiet(page, /1 event, checked against/);
  await between(app, async () => {}, { logSigningKey: second });
  await page.reload();
  await alert(page).getByText("is signed with another key than before").waitFor();
  await alert(page).getByRole("button", { name: "Compare with the present log" }).click();
  await quiet(page, /1 event, checked against/);
});

browserTest("the activity log is checked too, for a user who signed in", async (t) => {
  const app = await start(t, { ...ON, ...ADMIN_SETTINGS, requireAuth: true });
  const { page } = await sees(app, t, "/portal/sign-in#/portal/access/activity");
  await page.getByLabel("Email").fill(ADMIN.email);
  await page.getByLabel("Password").fill(ADMIN.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await quiet(page, /^Signed activity log: 1 entry\. This browser has kept/);
  await page.goto(`${app.url}/portal/audit`);
  await page.getByRole("heading", { name: "Audit" }).waitFor();
  await page.goto(`${app.url}/portal/access/activity`);
  await quiet(page, /^Signed activity log: 1 entry, checked against/);
});

browserTest("a browser without Ed25519 says so, and compares all the same", async (t) => {
  const app = await start(t, ON);
  await report(app, "git push");
  const { page } = await sees(app, t, "/portal/api");
  await page.addInitScript(() => {
    crypto.subtle.importKey = () => Promise.reject(new Error("Unrecognized name"));
  });
  await page.goto(`${app.url}/portal/audit`);
  await quiet(page, /The signature was not checked: this browser does not know it\.$/);
});

browserTest("a server that signs nothing says nothing", async (t) => {
  const app = await start(t);
  await report(app, "git push");
  const { page } = await sees(app, t);
  await page.getByText("git push").first().waitFor();
  assert.equal(await page.locator("#log-check").count(), 0);
});
