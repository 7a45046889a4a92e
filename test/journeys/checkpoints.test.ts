/** Signed checkpoints of the logs: made by a running server, verified offline. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DAY_MS } from "../../src/core/clock.ts";
import { run } from "../support/command-line.ts";
import { newDirectory } from "../support/server-process.ts";
import { report, SETTINGS } from "../support/signing-app.ts";
import { start, type App } from "../support/start.ts";

const NAME = "signalbox.example.com/default/audit";

/** The findings about what an app has stored, and the audit log as it was checked. */
async function verify(app: App, ...more: string[]) {
  const place = await app.place();
  const key = (await run(["log-key", NAME, ...place])).out.trim();
  const stored = place[0] === "--data" ? place.slice(1) : place;
  const { code, out } = await run(["verify", ...stored, "--key", key, ...more, "--json"]);
  const report = JSON.parse(out);
  return { code, problems: report.problems, audit: report.logs[0] };
}

test("a stop signs what was stored, and every later stop goes on from there", async (t) => {
  const app = await start(t, SETTINGS);
  for (const total of [50, 300, 350]) {
    await report(app, total === 300 ? 250 : 50);
    await app.close();
    const { problems, audit } = await verify(app);
    assert.deepEqual(problems, []);
    assert.deepEqual(audit, {
      ...{ organization: "default", log: "audit", first: 0, events: total, covered: total },
    });
    await app.open();
  }
});

test("events that were stored before the setting was changed are signed too", async (t) => {
  const app = await start(t, { ...SETTINGS, checkpointSeconds: 0 });
  await report(app, 400);
  await app.restart({ checkpointSeconds: 86_400 });
  await app.close();
  assert.equal((await verify(app)).audit.covered, 400);
});

test("what retention removes stays in the tree, and the checkpoints say where the log begins", async (t) => {
  const app = await start(t, SETTINGS);
  await report(app, 500);
  app.advance(10 * DAY_MS);
  await report(app, 50);
  await app.restart({ auditRetentionDays: 5 });
  await app.close();
  const { problems, audit } = await verify(app);
  assert.deepEqual(problems, []);
  assert.ok(audit.first > 0 && audit.first <= 500);
  assert.deepEqual([audit.events, audit.covered], [550, 550]);
  await app.open();
  await report(app, 50);
  await app.close();
  assert.equal((await verify(app)).audit.covered, 600);
});

test("a log that is shorter than it was signed is served, and not signed", async (t) => {
  const app = await start(t, SETTINGS);
  await report(app, 100);
  await app.close();
  await app.tamper(
    "organizations/default/audit/000000000001.jsonl",
    (bytes) => Buffer.from(bytes.toString("utf8").split("\n").slice(0, 50).join("\n") + "\n"),
    `DELETE FROM audit_events WHERE seq > 50; UPDATE audit_heads SET last_seq = 50`,
  );
  await app.open();
  await app.close();
  await app.open();
  assert.equal((await app.get("/api/v1/audit")).status, 200);
  await report(app, 100);
  await app.restart();
  const { text } = await app.get("/api/v1/audit/checkpoint");
  assert.match(text, /\/default\/audit\n100\n/);
  await app.close();
  const { problems } = await verify(app);
  assert.match(JSON.stringify(problems), /is not event|are missing/);
});

test("every checkpoint is appended to a file elsewhere, also after half a line", async (t) => {
  const kept = join(await newDirectory(t), "kept.jsonl");
  await writeFile(kept, '{"note":"torn');
  const app = await start(t, { ...SETTINGS, checkpointFile: kept });
  await report(app, 50);
  await app.restart();
  await report(app, 50);
  await app.close();
  const text = await readFile(kept, "utf8");
  assert.match(text, /^\{"note":"torn\n\{"note":.*default\/audit\\n50\\n.*\n.*audit\\n100\\n/s);
  assert.deepEqual((await verify(app, "--checkpoint", kept)).problems, []);
});
