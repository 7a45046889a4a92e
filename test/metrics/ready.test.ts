import assert from "node:assert/strict";
import { appendFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "../support/client.ts";
import { launch, newDirectory } from "../support/server-process.ts";
import { start } from "../support/start.ts";

test("a service that can write is ready, and answers without credentials", async (t) => {
  const app = await start(t, { requireAuth: true });
  const { status, body } = await app.get("/ready");
  assert.deepEqual([status, body], [200, { status: "ready" }]);
});

test(
  "a disk that refuses makes the service unready, and it becomes ready again by itself",
  { timeout: 300_000 },
  async (t) => {
    // Files may not grow beyond 4 MiB (in blocks of 512), and another directory is not available.
    const dataDir = await newDirectory(t);
    const settings = { DATA_DIR: dataDir, METRICS: "open" };
    const url = await launch(t, settings, { prelude: "ulimit -f 8192" }).url();
    const client = new Client();
    t.after(() => client.close());
    const post = (body: object) => client.request(url, "POST", "/api/public/audit", body);
    const ready = () => client.request(url, "GET", "/ready");
    assert.equal((await post({ command: "ls" })).status, 202);
    assert.equal((await ready()).status, 200);

    const folder = join(dataDir, "organizations", "default", "audit");
    await rename(folder, `${folder}-away`);
    const command = "x".repeat(1_000_000);
    assert.equal((await post({ events: Array(5).fill({ command }) })).status, 500);
    const refused = await ready();
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "1"]);
    // A request a second later makes the service try again, which then misses the folder.
    assert.match(refused.text, /"Not ready: cannot write the audit log \((EFBIG|ENOENT)\)"/);
    const metrics = (await client.request(url, "GET", "/metrics")).text;
    assert.match(metrics, /^signalbox_ready 0$/m);
    assert.match(metrics, /^signalbox_audit_events_total\{result="failed"\} 5$/m);
    assert.equal((await client.request(url, "GET", "/health")).status, 200);

    await rename(`${folder}-away`, folder);
    while ((await ready()).status !== 200); // the request is enough, no event has to come first
    assert.equal((await post({ command: "pwd" })).status, 202);
    const { body } = await client.request(url, "GET", "/api/public/audit");
    assert.deepEqual(
      (body as { events: { command: string }[] }).events.map((event) => event.command),
      ["pwd", "ls"],
    );
  },
);

test("damaged lines of the audit log make the service degraded, not unready", async (t) => {
  const app = await start(t, { metrics: "open" });
  await app.post("/api/public/audit", { command: "ls" });
  assert.equal((await app.get("/health")).body.status, "ok");
  await app.close();
  const segment = join(app.dataDir, "organizations/default/audit/000000000001.jsonl");
  await appendFile(segment, "this is no event\n\n");
  await app.open();
  for (const path of ["/health", "/api/public/health", "/api/v1/health"]) {
    const { status, body } = await app.get(path);
    assert.deepEqual([status, body], [200, { status: "degraded", edition: "community" }]);
  }
  assert.equal((await app.get("/api/public/audit")).body.events.length, 1);
  assert.equal((await app.get("/ready")).status, 200);
  assert.match((await app.get("/metrics")).text, /^signalbox_damaged_lines 1$/m);
});
