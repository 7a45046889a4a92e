import assert from "node:assert/strict";
import { after } from "node:test";
import type { Page } from "playwright-core";
import { browserTest, DESKTOP, PHONE, visit } from "../../support/browser.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../../support/start.ts";

const app = await start({ after }, { ...ADMIN_SETTINGS, requireAuth: true });

async function signIn(page: Page): Promise<void> {
  await page.waitForURL("**/portal/sign-in");
  await page.getByLabel("Email").fill(ADMIN.email);
  await page.getByLabel("Password").fill(ADMIN.password);
  await page.keyboard.press("Enter");
}

browserTest("an event and a runtime are found by names that URLs take for steps", async (t) => {
  await app.post("/api/public/audit", { id: "..", command: "wagon-7" });
  await app.post("/api/public/fleet/heartbeat", { name: ".." });
  const { page } = await visit(t, `${app.url}/portal/audit?event=..`, {}, [401]);
  await signIn(page);
  await page.getByRole("region", { name: "Command" }).getByText("wagon-7").waitFor();
  await page.goto(`${app.url}/portal/fleet`);
  await page.getByRole("button", { name: /Forget/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
  await page.getByText(".. is forgotten").waitFor();
  await page.getByText("No runtimes yet").waitFor();
});

browserTest(
  "an organization is renamed from its whole name, invisible characters too",
  async (t) => {
    const admin = await app.asUser(ADMIN);
    const name = "Acme \u202eRailways";
    await app.patch("/api/v1/organizations/default", { name }, admin);
    const { page } = await visit(t, `${app.url}/portal/access/organizations`);
    await signIn(page);
    await page.getByRole("button", { name: /^Rename/ }).click();
    assert.equal(await page.getByRole("dialog").getByLabel("Name").inputValue(), name);
  },
);

browserTest("one long word in a name or an address widens no page and no dialog", async (t) => {
  const open = await start(t);
  const word = "W".repeat(240);
  for (const version of ["v1", word.slice(0, 128), "v2"])
    await open.post("/api/v1/policies", { version, yaml: `name: ${version}` });
  const visited = await visit(t, `${open.url}/portal/access/keys`, {}, [404]);
  const { page } = visited;
  const dialog = page.getByRole("dialog");
  for (const size of [DESKTOP, PHONE]) {
    await page.setViewportSize(size);
    for (const address of [`audit?from=${word}`, `audit?to=${word}`, `audit?event=${word}`]) {
      await page.goto(`${open.url}/portal/${address}`);
      await visited.checkFits();
    }
    await page.goto(`${open.url}/portal/policies?version=${word.slice(0, 128)}`);
    await page.getByRole("button", { name: /^Roll back to this version/ }).click();
    await dialog.waitFor();
    const [content, place] = (await page.evaluate(
      "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector('dialog'))",
    )) as readonly [number, number];
    assert.ok(content <= place, `${content} px wide in a dialog of ${place} px`);
    await page.goto(`${open.url}/portal/access/keys`);
    await page.getByLabel("What it is for").fill(word);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByText("Store this key now").waitFor();
    await visited.checkFits();
  }
});
