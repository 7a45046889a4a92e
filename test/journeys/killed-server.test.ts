/**
 * Kills a server again and again while many connections write to one directory. After each kill the
 * server starts again, and its data is compared with what it had acknowledged.
 *
 * A round ends after a random number of acknowledged writes, not after a time: on a loaded machine
 * a short time may pass without any write, and then the round would test nothing. The first one also
 * lasts until a publish was acknowledged, which takes longer than many other writes.
 *
 * `KILL_ROUNDS` is the number of rounds (24 by default), `KILL_SEED` repeats a run that failed.
 */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "../support/client.ts";
import {
  compare,
  compareActivity,
  Ledger,
  randomFrom,
  SINGLE_WRITERS,
  WRITERS,
  type Send,
} from "../support/kill-ledger.ts";
import { launch, newDirectory } from "../support/server-process.ts";

const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 24);
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
const FEWEST_WRITES = 20;
const MOST_WRITES = 200;
/** Answers arrive when a sync ends. A random delay after the last one reaches the other moments too. */
const LONGEST_DELAY_MS = 20;

test(`${ROUNDS} kills at random moments lose no acknowledged write (seed ${SEED})`, async (t) => {
  const random = randomFrom(SEED);
  const directory = await newDirectory(t);
  const ledger = new Ledger();
  for (let round = 0; round <= ROUNDS; round++) {
    const server = launch(t, { DATA_DIR: directory, AUDIT_SEGMENT_BYTES: "65536" });
    const url = await server.url();
    const client = new Client();
    const send: Send = (method, path, body) => client.request(url, method, `/api/v1${path}`, body);
    await compare(send, ledger);
    await compareActivity(send, ledger);
    const names = await readdir(directory, { recursive: true });
    assert.deepEqual(
      names.filter((name) => name.endsWith(".tmp") && !name.includes(".idx.")),
      [],
    );
    if (round < ROUNDS) await writeUntilKilled(server, send, ledger, random);
    client.close();
    server.kill("SIGKILL");
    await server.exit();
    assert.equal(server.stderr.includes('"error"'), false, server.stderr);
  }
  assert.ok(ledger.hasEach());
});

async function writeUntilKilled(
  server: ReturnType<typeof launch>,
  send: Send,
  ledger: Ledger,
  random: () => number,
): Promise<void> {
  let isKilled = false;
  let left = FEWEST_WRITES + Math.floor(random() * (MOST_WRITES - FEWEST_WRITES));
  const counting: Send = async (...request) => {
    const answer = await send(...request);
    left--;
    return answer;
  };
  const writing = [...WRITERS, ...SINGLE_WRITERS].map(async (write) => {
    while (!isKilled) {
      await write(counting, ledger).catch((error: unknown) => {
        if (!isKilled || error instanceof assert.AssertionError) throw error;
      });
      if (left > 0 || !ledger.hasEach() || isKilled) continue;
      await wait(random() * LONGEST_DELAY_MS);
      isKilled = true;
      server.kill("SIGKILL");
    }
  });
  await Promise.all(writing);
}
