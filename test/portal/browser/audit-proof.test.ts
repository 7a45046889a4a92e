import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after } from "node:test";
import type { Page } from "playwright-core";
import { parseVkey } from "../../../src/proof/note.ts";
import { verifyProof } from "../../../src/proof/tlog-proof.ts";
import { browserTest, visit } from "../../support/browser.ts";
import { start } from "../../support/start.ts";

const app = await start({ after }, { checkpointSeconds: 60 });
await app.post("/api/v1/audit", {
  events: Array.from({ length: 20 }, (_, i) => ({ id: `event-${i}`, command: `git fetch ${i}` })),
});
const url = `${app.url}/portal/audit`;

/** Clicks "Proof", and verifies the file with the public key and the line of the export. */
async function provedIndex(page: Page, id: string): Promise<number> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#event-proof").getByRole("link", { name: "Proof" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), `${id}.tlog-proof`);
  const proof = await readFile(await download.path(), "utf8");
  const vkey = (await app.get("/api/v1/audit/verifier")).text.trim();
  const exported = (await app.get("/api/v1/audit/export")).text.split("\n");
  const line = exported.find((one) => one.includes(`"${id}"`)) ?? "";
  return verifyProof(proof, Buffer.from(line), parseVkey(vkey)).index;
}

browserTest("the proof of an open event is saved, and verifies its exported line", async (t) => {
  const { page } = await visit(t, url);
  await page.locator("#row-event-3 .row").click();
  await page.locator("#event-proof[data-event='event-3']").waitFor();
  assert.equal(await provedIndex(page, "event-3"), 3);
  await page.getByText("event 3 of the first 20 in signalbox/default/audit").waitFor();
  await page.locator("#row-event-7 .row").click();
  await page.locator("#event-proof[data-event='event-7']").waitFor();
  assert.equal(await provedIndex(page, "event-7"), 7);
});

browserTest("the proof is a link where scripts are off", async (t) => {
  const { page } = await visit(t, `${url}?event=event-5`, { javaScriptEnabled: false });
  assert.equal(await provedIndex(page, "event-5"), 5);
});

browserTest("a server that signs nothing offers no proof", async (t) => {
  const unsigned = await start(t);
  await unsigned.post("/api/v1/audit", { id: "event-1", command: "git fetch" });
  const { page } = await visit(t, `${unsigned.url}/portal/audit?event=event-1`);
  await page.locator("#audit-event").getByText("Raw JSON").waitFor();
  assert.equal(await page.locator("#event-proof").innerText(), "");
  assert.equal(await page.locator("script[src*=audit-proof]").count(), 0);
});
