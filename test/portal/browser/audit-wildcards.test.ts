/** Filters of the audit page that match in part. */
import assert from "node:assert/strict";
import { after } from "node:test";
import type { Page } from "playwright-core";
import { browserTest, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const app = await start({ after });
await app.post("/api/v1/audit", {
  events: [
    { command: "git fetch", executor: "ada", policy_decision: "ALLOWED" },
    { command: "git fetch", executor: "Ada L", policy_decision: "DENIED" },
    { command: "git fetch", executor: "kube*", policy_decision: "ALLOWED" },
    { command: "git fetch", executor: "kubelet", policy_decision: "ALLOWED" },
  ],
});
const url = `${app.url}/portal/audit`;

/** Waits until the page shows a number of events and some filters. */
async function shown(page: Page, events: string, ...filters: readonly string[]): Promise<void> {
  await page.locator(".total", { hasText: events }).waitFor();
  for (const name of filters) {
    await page.getByRole("link", { name: `Drop ${name}`, exact: true }).waitFor();
  }
}

const search = (page: Page): string => decodeURIComponent(new URL(page.url()).search);

browserTest("an asterisk stands for any text, in the box and in the fields", async (t) => {
  const { page } = await visit(t, url);
  const box = page.getByRole("searchbox");
  const find = async (text: string): Promise<void> => {
    await box.fill(text);
    await box.press("Enter");
  };
  await find("executor:A*");
  await shown(page, "2 events", "executor like A*");
  assert.equal(search(page), "?executor=A*&wildcards=executor");
  await find("-executor:*L*");
  await shown(page, "1 event of", "executor like A*", "not executor like *L*");
  await page.getByText("More filters").click();
  await page.getByRole("combobox", { name: "Executor" }).fill("kube*");
  await page.getByRole("button", { name: "Apply" }).click();
  await shown(page, "1 event of", "executor like kube*");
  await page.getByRole("link", { name: "Drop not executor like *L*" }).click();
  await shown(page, "2 events", "executor like kube*");
  await find('executor:"kube*"');
  await shown(page, "1 event of", "executor kube*");
  assert.equal(search(page), "?executor=kube*");
});

browserTest("a facet leads to the events that it counts, asterisk or not", async (t) => {
  const viewport = { width: 1440, height: 860 };
  const { page } = await visit(t, `${url}?executor=k*&wildcards=executor`, { viewport });
  await shown(page, "2 events", "executor like k*");
  await page.locator("#audit-facets").getByRole("link", { name: "kube* 1", exact: true }).click();
  await shown(page, "1 event of", "executor kube*");
});

browserTest(
  "a part of a name that matches nothing leads to the names that contain it",
  async (t) => {
    for (const javaScriptEnabled of [false, true]) {
      const { page } = await visit(t, `${url}?executor=ube&decision=ALLOWED`, {
        javaScriptEnabled,
      });
      await page.getByText("Nothing matches").waitFor();
      await page.getByRole("link", { name: "Look for executor *ube*" }).click();
      await shown(page, "2 events", "executor like *ube*", "decision Allowed");
    }
  },
);

browserTest("an asterisk works without JavaScript, beside an exact field", async (t) => {
  const { page } = await visit(t, url, { javaScriptEnabled: false });
  await page.getByText("More filters").click();
  await page.getByRole("combobox", { name: "Executor" }).fill("*D*");
  await page.getByRole("combobox", { name: "Status" }).fill("allowed");
  await page.getByRole("button", { name: "Apply" }).click();
  await shown(page, "1 event of", "executor like *D*", "status allowed");
  await page.getByRole("link", { name: "Drop status allowed", exact: true }).click();
  await page.getByRole("searchbox").fill("-status:a*");
  await page.getByRole("button", { name: "Search" }).click();
  await shown(page, "1 event of", "executor like *D*", "not status like a*");
});
