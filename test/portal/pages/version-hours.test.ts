import assert from "node:assert/strict";
import { test } from "node:test";
import { start, type App } from "../../support/start.ts";

const HOUR = 3_600_000;

const pageOf = async (app: App, query = "") =>
  (await app.get(`/portal/policies${query}`, { accept: "text/html" })).text;

/** Reports commands that a version decided, and for each also its end, as the guard does. */
async function report(app: App, policy: string | undefined, count: number): Promise<void> {
  const command = { command: "ls" };
  const both = [
    { ...command, decision: "allowed", policy },
    { ...command, status: "succeeded" },
  ];
  await app.post("/api/v1/audit", { events: Array.from({ length: count }, () => both).flat() });
}

const titlesOf = (text: string) =>
  [...text.matchAll(/<title>(2026[^<]*)<\/title>/g)].map(([, title]) => title);

test("the policies page shows the share of each version in every hour's commands", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/policies", { version: "v1", yaml: "a: 1" });
  await report(app, "v1", 4);
  app.advance(HOUR);
  await app.post("/api/v1/policies", { version: "v2", yaml: "a: 2" });
  await report(app, "v1", 1);
  await report(app, "v2", 2);
  await report(app, undefined, 1);
  app.advance(HOUR);
  await report(app, "v2", 1);
  const text = await pageOf(app);
  assert.deepEqual(titlesOf(text), [
    "2026-11-20 20:00 UTC: v1 100\u202f% (4 commands)",
    "2026-11-20 21:00 UTC: v2 50\u202f% (2 commands), v1 25\u202f% (1 command), other or none 25\u202f% (1 command)",
    "2026-11-20 22:00 UTC: v2 100\u202f% (1 command)",
  ]);
  const [, table = ""] = /Commands by version and hour(.*?)<\/table>/s.exec(text) ?? [];
  const cells = [...table.matchAll(/<td>(\d+)<\/td>/g)].map(([, cell]) => cell);
  assert.deepEqual(cells, ["1", "0", "0", "2", "1", "1", "0", "4", "0"]);
  app.advance(72 * HOUR);
  assert.doesNotMatch(await pageOf(app), /Versions in use/);
});

test("versions that only runtimes name are counted together, however many there are", async (t) => {
  const app = await start(t);
  await app.post("/api/v1/policies", { version: "v1", yaml: "a: 1" });
  await report(app, "v1", 1);
  for (let n = 0; n < 30; n++) {
    const name = `<b>${n}`;
    await app.post("/api/v1/fleet/heartbeat", { name, policy_version: name });
    await report(app, name, 1);
  }
  const text = await pageOf(app);
  assert.deepEqual(titlesOf(text), [
    "2026-11-20 20:00 UTC: v1 3\u202f% (1 command), other or none 97\u202f% (30 commands)",
  ]);
});

test("without commands there is no chart, and at most four versions have a tone", async (t) => {
  const app = await start(t);
  for (let n = 1; n <= 6; n++) {
    await app.post("/api/v1/policies", { version: `v${n}`, yaml: `a: ${n}` });
    await app.post("/api/v1/fleet/heartbeat", { name: `m${n}`, policy_version: `v${n}` });
  }
  assert.doesNotMatch(await pageOf(app), /Versions in use/);
  for (let n = 1; n <= 6; n++) await report(app, `v${n}`, 1);
  const [title = ""] = titlesOf(await pageOf(app));
  assert.match(title, /v6 17.*other or none 33.% \(2 commands\)$/);
  assert.equal(title.split(", ").length, 5);
});
