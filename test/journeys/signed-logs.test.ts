import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { SECOND_MS } from "../../src/core/clock.ts";
import { openCheckpoint, type Checkpoint } from "../../src/proof/checkpoint.ts";
import { verifyConsistency } from "../../src/proof/merkle.ts";
import { parseVkey } from "../../src/proof/note.ts";
import { verifyProof } from "../../src/proof/tlog-proof.ts";
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
  const path = join(app.dataDir, "organizations/default/audit/000000000001.jsonl");
  await writeFile(path, (await readFile(path, "utf8")).replace("echo 1", "echo 9"));
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
