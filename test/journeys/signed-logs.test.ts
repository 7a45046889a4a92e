import assert from "node:assert/strict";
import { test } from "node:test";
import { SECOND_MS } from "../../src/core/clock.ts";
import { openCheckpoint, type Checkpoint } from "../../src/proof/checkpoint.ts";
import { parseVkey } from "../../src/proof/note.ts";
import { verifyProof } from "../../src/proof/tlog-proof.ts";
import { naiveRoot } from "../proof/naive-tree.ts";
import { verifyConsistency } from "../proof/verify-consistency.ts";
import { start, type App } from "../support/start.ts";

const V1 = "/api/v1";
const ON = { checkpointSeconds: 60 } as const;

const batch = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({
    id: `event-${from + n}`,
    command: `echo ${from + n}`,
  }));

async function checkpointOf(app: App): Promise<Checkpoint> {
  const vkey = (await app.get(`${V1}/audit/verifier`)).text.trim();
  return openCheckpoint((await app.get(`${V1}/audit/checkpoint`)).text, [parseVkey(vkey)]);
}

/** The event as it is exported, and its proof, are checked with the public key alone. */
async function provedSize(app: App, id: string): Promise<number> {
  const vkey = parseVkey((await app.get(`${V1}/audit/verifier`)).text.trim());
  const { text: proof, status } = await app.get(`${V1}/audit/${id}/proof`);
  assert.equal(status, 200, proof);
  const { text: line } = await app.get(`${V1}/audit/${id}`);
  return verifyProof(proof, Buffer.from(line), vkey).checkpoint.size;
}

test("every event of a log has a proof, and checkpoints are consistent across restarts", async (t) => {
  const app = await start(t, ON);
  await app.post(`${V1}/audit`, { events: batch(700) });
  const first = await checkpointOf(app);
  assert.equal(first.size, 700);
  for (const id of [0, 255, 256, 511, 699]) assert.equal(await provedSize(app, `event-${id}`), 700);
  await app.restart(ON);
  await app.post(`${V1}/audit`, { events: batch(400, 700) });
  assert.equal(await provedSize(app, "event-1099"), 1_100);
  assert.equal(await provedSize(app, "event-3"), 1_100);
  const second = await checkpointOf(app);
  const { body } = await app.get(`${V1}/audit/consistency?from=700&to=1100`);
  const hashes = (body.hashes as string[]).map((hash) => Buffer.from(hash, "base64"));
  assert.ok(verifyConsistency(700, 1_100, hashes, first.root, second.root));
  assert.equal((await app.get(`${V1}/audit/consistency?from=1&to=2000`)).status, 404);
  assert.equal((await app.get(`${V1}/audit/consistency?from=2&to=1`)).status, 400);
});

test("an event after the last checkpoint gets a new one", async (t) => {
  const app = await start(t, ON);
  await app.post(`${V1}/audit`, { events: batch(1) });
  assert.equal(await provedSize(app, "event-0"), 1);
  await app.post(`${V1}/audit`, { events: batch(1, 1) });
  app.advance(SECOND_MS);
  assert.equal(await provedSize(app, "event-1"), 2);
});

test("an event that was changed since it was signed has no proof", async (t) => {
  const app = await start(t, ON);
  await app.post(`${V1}/audit`, { events: batch(3) });
  await app.close();
  await app.tamper(
    "organizations/default/audit/000000000001.jsonl",
    (bytes) => Buffer.from(bytes.toString("utf8").replace("echo 1", "echo 9")),
    "UPDATE audit_events SET line = replace(line, 'echo 1', 'echo 9')",
  );
  await app.restart(ON);
  assert.equal((await app.get(`${V1}/audit/event-1/proof`)).status, 409);
  assert.equal(await provedSize(app, "event-2"), 3);
});

test("without events there is no checkpoint, and without a signed log no proof", async (t) => {
  const app = await start(t, ON);
  assert.equal((await app.get(`${V1}/audit/checkpoint`)).status, 404);
  assert.equal((await app.get(`${V1}/audit/none/proof`)).status, 404);
  await app.restart({ checkpointSeconds: 0 });
  const { status, body } = await app.get(`${V1}/audit/checkpoint`);
  assert.equal(status, 404);
  assert.match(body.error, /CHECKPOINT_SECONDS|checkpointSeconds/);
});

/** The hashes of a tile, by its path. */
async function tileAt(app: App, path: string): Promise<readonly Buffer[]> {
  const answer = await fetch(`${app.url}${V1}/${path}`);
  assert.equal(answer.status, 200, path);
  assert.equal(answer.headers.get("content-type"), "application/octet-stream");
  assert.equal(answer.headers.get("cache-control"), "private, max-age=31536000, immutable");
  assert.match(answer.headers.get("vary") ?? "", /Authorization, X-API-Key/);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const starts = Array.from({ length: bytes.length / 32 }, (_, i) => i * 32);
  return starts.map((at) => bytes.subarray(at, at + 32));
}

test("a walk over the tiles gives the root of the checkpoint", async (t) => {
  const app = await start(t, ON);
  await app.post(`${V1}/audit`, { events: batch(700) });
  const { size, root } = await checkpointOf(app);
  await app.post(`${V1}/audit`, { events: batch(100, 700) }); // in no checkpoint
  const tiles = [];
  for (const path of ["000", "001", "002.p/188"])
    tiles.push(await tileAt(app, `audit/tile/0/${path}`));
  const leaves = tiles.flat();
  assert.equal(leaves.length, size);
  assert.deepEqual(naiveRoot(leaves), root);
  const [first = [], second = []] = tiles;
  const above = await tileAt(app, "audit/tile/1/000.p/2");
  assert.deepEqual(above, [naiveRoot(first), naiveRoot(second)]);
  assert.deepEqual(await tileAt(app, "audit/tile/0/002.p/1"), leaves.slice(512, 513));
  for (const other of ["0/002", "0/002.p/189", "0/000.p/256", "0/x000/000", "2/000.p/1", "0/0"]) {
    assert.equal((await app.get(`${V1}/audit/tile/${other}`)).status, 404, other);
  }
});

test("tiles with a number above 999 have a path of groups", async (t) => {
  const app = await start(t, ON);
  const now = new Date(app.now).toISOString(); // entries that are old might be removed meanwhile
  await app.close(); // the start signs what it finds, which would be some of the entries
  await app.tamper(
    "organizations/default/activity.jsonl",
    () => Buffer.from(`{"timestamp":"${now}"}\n`.repeat(256_300)),
    `INSERT INTO activity (organization_id, timestamp, entry)
     SELECT 'default', '${now}', '{}' FROM generate_series(1, 256300)`,
  );
  await app.open();
  const { text } = await app.get(`${V1}/activity/checkpoint`);
  assert.match(text, /\/activity\n256300\n/);
  assert.equal((await tileAt(app, "activity/tile/0/x001/000")).length, 256);
  assert.equal((await tileAt(app, "activity/tile/0/x001/001.p/44")).length, 44);
});

test("every entry of the activity log has a proof", async (t) => {
  const app = await start(t, ON);
  for (const version of ["v1", "v2", "v3"]) {
    await app.post(`${V1}/policies`, { version, yaml: "rules: []" });
  }
  const { entries } = (await app.get(`${V1}/activity`)).body;
  const vkey = (await app.get(`${V1}/activity/verifier`)).text.trim();
  assert.match(vkey, /^signalbox\/default\/activity\+/);
  for (const [age, entry] of entries.entries()) {
    const { text } = await app.get(`${V1}/activity/${entry.id}/proof`);
    const line = Buffer.from(JSON.stringify(entry));
    const { index, checkpoint } = verifyProof(text, line, parseVkey(vkey));
    assert.deepEqual([index, checkpoint.size], [2 - age, 3]);
  }
  const { body } = await app.get(`${V1}/activity/consistency?from=2&to=3`);
  assert.equal(body.hashes.length, 1);
  assert.equal((await app.get(`${V1}/activity/none/proof`)).status, 404);
  assert.equal((await app.get("/api/public/activity/checkpoint")).status, 404);
});

test("a log that contradicts its checkpoint is told by health, metrics and activity", async (t) => {
  const settings = { ...ON, metrics: "open" } as const;
  const app = await start(t, settings);
  await app.post(`${V1}/audit`, { events: batch(3) });
  const { size } = await checkpointOf(app);
  app.advance(5 * SECOND_MS);
  const { text: before } = await app.get("/metrics");
  assert.match(before, new RegExp(`^signalbox_signed_lines ${size}$`, "m"));
  assert.match(before, /^signalbox_signing_lag_seconds 5$/m);
  assert.match(before, /^signalbox_contradicted_logs 0$/m);
  await app.close();
  await app.tamper(
    "organizations/default/audit-proof/hashes-0",
    (hashes) => hashes.fill(1, 0, 32),
    "UPDATE log_tiles SET hashes = overlay(hashes PLACING '\\x01' FROM 1)",
  );
  await app.open();
  await app.post(`${V1}/audit`, { events: batch(1, 3) });
  for (let i = 0; i < 2; i++) {
    assert.equal((await app.get(`${V1}/audit/event-3/proof`)).status, 409);
  }
  assert.equal((await app.get("/health")).body.status, "degraded");
  assert.match((await app.get("/metrics")).text, /^signalbox_contradicted_logs 1$/m);
  const { entries, total } = (await app.get(`${V1}/activity?action=log.contradicted`)).body;
  const [{ actor, target, after, outcome }] = entries;
  assert.deepEqual([actor, target], [{ kind: "service" }, { type: "log", id: "audit" }]);
  assert.deepEqual([outcome, total], ["failed", 1]);
  assert.equal(after.reason, "its hashes are not those of its last checkpoint");
});

test("an export says how much of the log is signed", async (t) => {
  const app = await start(t, ON);
  const signedSize = async (path: string): Promise<string | null> => {
    const { status, headers } = await app.get(path);
    assert.equal(status, 200);
    return headers.get("x-checkpoint");
  };
  await app.post(`${V1}/audit`, { events: batch(3) });
  assert.equal(await signedSize(`${V1}/audit/export`), null);
  await checkpointOf(app);
  await app.post(`${V1}/audit`, { events: batch(2, 3) });
  assert.equal(await signedSize(`${V1}/audit/export`), "3");
  assert.equal(await signedSize(`${V1}/audit/export?format=csv&q=none`), "3");
  const ticket = await app.post(`${V1}/audit/export-tickets`, { format: "csv" });
  assert.equal(await signedSize(ticket.body.url), "3");
  await app.restart(); // a server that has signed nothing yet reads the checkpoint that is stored
  assert.equal(await signedSize(`${V1}/audit/export`), "5");
  await app.tamper(
    "organizations/default/audit-proof/checkpoints.jsonl",
    () => Buffer.from("damage\n"),
    "UPDATE log_checkpoints SET note = 'damage'",
  );
  assert.equal(await signedSize(`${V1}/audit/export`), null);
});
