import assert from "node:assert/strict";
import { after } from "node:test";
import { browserTest, checkLooks, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const app = await start({ after });
await app.post("/api/v1/audit", { command: "kubectl get pods", provider: "kubernetes" });
const url = `${app.url}/portal/catalog`;

browserTest("the catalog is searched, with and without JavaScript", async (t) => {
  const without = await visit(t, url, { javaScriptEnabled: false });
  const row = without.page.getByRole("row", { name: "Kubernetes" });
  assert.match(await row.innerText(), /Connected\s+just now/);
  await without.page.getByLabel("Search").fill("list pods");
  await without.page.getByRole("button", { name: "Search" }).click();
  await without.page.waitForURL("**/portal/catalog?q=list+pods");
  assert.ok((await without.page.getByRole("region", { name: "Capabilities" }).count()) === 1);
  const { page } = await visit(t, url);
  await page.keyboard.press("/");
  await page.keyboard.type("KUBERNETES/");
  await page.waitForURL("**/portal/catalog?q=KUBERNETES%2F");
  const providers = page.getByRole("region", { name: "Providers" }).getByRole("row");
  await providers.nth(2).waitFor({ state: "detached" });
  assert.equal(await providers.count(), 2);
  await page.getByRole("link", { name: "Kubernetes" }).click();
  await page.waitForURL("**/portal/catalog?provider=kubernetes");
  await page.getByRole("heading", { name: "Kubernetes", level: 1 }).waitFor();
  await page.getByLabel("Search").fill("no such thing");
  await page.getByText("Nothing matches").waitFor();
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link").click();
  await page.waitForURL(url);
});

browserTest("a status is set by hand, marked as such, and derived again", async (t) => {
  const { page } = await visit(t, `${url}?provider=kubernetes`);
  const facts = page.getByRole("region", { name: "Provider" });
  await page.getByLabel("Set the status by hand").selectOption("degraded");
  await page.getByRole("button", { name: "Set", exact: true }).click();
  await facts.getByText("set by hand", { exact: true }).waitFor();
  const { body } = await app.get("/api/public/providers");
  const set = body.providers.filter((one: { overridden?: boolean }) => one.overridden);
  assert.deepEqual(
    set.map(({ id, status }: { id: string; status: string }) => [id, status]),
    [["kubernetes", "degraded"]],
  );
  await page.getByRole("button", { name: "Derive it again" }).click();
  await facts.getByText("set by hand", { exact: true }).waitFor({ state: "detached" });
  assert.match(await facts.innerText(), /Connected/);
});

browserTest("the catalog is accessible and fits", async (t) => {
  await checkLooks(t, `${url}?q=pod`, "catalog");
  await checkLooks(t, `${url}?provider=kubernetes`, "catalog-provider");
});
