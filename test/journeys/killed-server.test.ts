/**
 * Kills a server again and again while many connections write to one directory. After each kill the
 * server starts again, and its data is compared with what it had acknowledged.
 *
 * A round ends after a random number of acknowledged writes, not after a time: on a loaded machine
 * a short time may pass without any write, and then the round would test nothing.
 *
 * `KILL_ROUNDS` is the number of rounds (24 by default), `KILL_SEED` repeats a run that failed.
 */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Client, type Answer } from "../support/client.ts";
import { launch, newDirectory } from "../support/server-process.ts";

const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 24);
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
const FEWEST_WRITES = 20;
const MOST_WRITES = 200;
/** Answers arrive when a sync ends. A random delay after the last one reaches the other moments too. */
const LONGEST_DELAY_MS = 20;
const PASSWORD = "correct horse battery";

/** Pseudo-random numbers from 0 up to 1 (mulberry32), so that a run can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Send = (method: string, path: string, body?: object) => Promise<Answer>;

/** The writes that were sent, and those that were acknowledged. */
class Ledger {
  /** Batches of event ids that were never answered; a single event is a batch of one. */
  readonly unsure: string[][] = [];
  readonly stored = new Set<string>();
  readonly published = new Set<string>();
  /** Of these, the versions whose publish was acknowledged, so that the activity log has their entry. */
  readonly recorded = new Set<string>();
  /** The versions that may be active: the last acknowledged one, and those begun since. */
  active: string[] = [""];
  readonly keys = new Map<string, "kept" | "revoking" | "revoked">();
  readonly runtimes = new Map<string, number[]>();
  readonly users = new Set<string>();
  #count = 0;

  next(): number {
    return ++this.#count;
  }
}

/** Sends writes and records those that were acknowledged. Throws when the connection breaks. */
type Writer = (send: Send, ledger: Ledger) => Promise<void>;

async function accepted(answer: Promise<Answer>, status: number): Promise<Answer> {
  const got = await answer;
  assert.equal(got.status, status, got.text);
  return got;
}

function events(size: number): Writer {
  return async (send, ledger) => {
    const ids = Array.from({ length: size }, () => `e${ledger.next()}`);
    const given = ids.map((id) => ({ id, command: `run ${id}`, decision: "denied" }));
    ledger.unsure.push(ids);
    await accepted(send("POST", "/audit", size === 1 ? given[0] : { events: given }), 202);
    ledger.unsure.splice(ledger.unsure.indexOf(ids), 1);
    for (const id of ids) ledger.stored.add(id);
  };
}

const policies: Writer = async (send, ledger) => {
  const version = `v${ledger.next()}`;
  ledger.active.push(version);
  await accepted(send("POST", "/policies", { version, yaml: `a: ${version}` }), 201);
  ledger.published.add(version);
  ledger.recorded.add(version);
  ledger.active = [version];
  const [older] = ledger.published;
  ledger.active.push(older as string);
  await accepted(send("POST", `/policies/${older}/activate`, {}), 200);
  ledger.active = [older as string];
};

const keys: Writer = async (send, ledger) => {
  const { body } = await accepted(send("POST", "/api-keys", { name: `k${ledger.next()}` }), 201);
  ledger.keys.set(body.id, "kept");
  if (ledger.keys.size % 2 === 0) return;
  ledger.keys.set(body.id, "revoking");
  await accepted(send("DELETE", `/api-keys/${body.id}`), 200);
  ledger.keys.set(body.id, "revoked");
};

const fleet: Writer = async (send, ledger) => {
  const name = `r${ledger.next()}`;
  await accepted(send("POST", "/runtime/register", { name, version: "0" }), 201);
  const versions = [0];
  ledger.runtimes.set(name, versions);
  for (let version = 1; version <= 5; version++) {
    versions.push(version);
    await accepted(send("POST", "/fleet/heartbeat", { name, version: String(version) }), 200);
    versions.splice(0, versions.length - 1);
  }
};

const users: Writer = async (send, ledger) => {
  const email = `u${ledger.next()}@example.com`;
  await accepted(
    send("POST", "/users", { email, name: email, role: "viewer", password: PASSWORD }),
    201,
  );
  ledger.users.add(email);
};

const WRITERS: readonly Writer[] = [
  ...[events(1), events(1), events(1), events(1), events(10), events(25)],
  ...[policies, keys, fleet, fleet, users],
];

/** Compares the data with the ledger. A write without an answer is stored as a whole or not at all. */
async function compare(send: Send, ledger: Ledger): Promise<void> {
  const kept = await exported(send);
  const found = new Set(kept);
  assert.equal(found.size, kept.length, "an event is there twice");
  assert.deepEqual(
    [...ledger.stored].filter((id) => !found.has(id)),
    [],
    "events are missing",
  );
  for (const ids of ledger.unsure) {
    assert.equal(new Set(ids.map((id) => found.has(id))).size, 1, `half of ${ids.join()}`);
  }
  for (const ids of ledger.unsure.splice(0)) {
    const sent = ids.map((id) => ({ id, command: `run ${id}`, decision: "denied" }));
    await accepted(send("POST", "/audit", { events: sent }), 202); // as a careful client does
    for (const id of ids) ledger.stored.add(id);
  }
  assert.deepEqual((await exported(send)).sort(), [...ledger.stored].sort());
  for (const filter of ["", "&decision=denied", "&q=run"]) {
    const { body } = await send("GET", `/audit?limit=1${filter}`);
    assert.equal(body.total, ledger.stored.size, `total of "${filter}"`);
  }
  await comparePolicies(send, ledger);

  const listed = (await send("GET", "/api-keys")).body.api_keys as {
    id: string;
    revoked: boolean;
  }[];
  const revoked = new Map(listed.map((key) => [key.id, key.revoked]));
  for (const [id, state] of ledger.keys) {
    assert.ok(revoked.has(id), `key ${id} is missing`);
    if (state !== "revoking") assert.equal(revoked.get(id), state === "revoked", `key ${id}`);
  }

  type Runtime = { name: string; version: string };
  const { runtimes } = (await send("GET", "/fleet")).body as { runtimes: Runtime[] };
  const versions = new Map(runtimes.map(({ name, version }) => [name, Number(version)]));
  assert.equal(versions.size, runtimes.length, "a runtime is there twice");
  for (const [name, allowed] of ledger.runtimes) {
    assert.ok(allowed.includes(versions.get(name) ?? -1), `${name} reported ${allowed.join()}`);
  }
  assert.equal((await send("GET", "/dashboard")).body.runtimes_total, runtimes.length);

  const emails = ((await send("GET", "/users")).body.users as { email: string }[]).map(
    ({ email }) => email,
  );
  assert.equal(new Set(emails).size, emails.length, "a user is there twice");
  assert.deepEqual(
    [...ledger.users].filter((email) => !emails.includes(email)),
    [],
  );
}

async function exported(send: Send): Promise<string[]> {
  const answer = await send("GET", "/audit/export?format=ndjson");
  const ids = [...answer.text.matchAll(/^\{"id":"(e\d+)"/gm)].map(([, id]) => id as string);
  assert.equal(answer.headers.get("x-total-count"), String(ids.length));
  return ids;
}

async function comparePolicies(send: Send, ledger: Ledger): Promise<void> {
  type Listed = { version: string; yaml: string; active: boolean };
  const { active, policies: list } = (await send("GET", "/policies")).body as {
    active: string;
    policies: Listed[];
  };
  const known = new Map(list.map((policy) => [policy.version, policy]));
  for (const version of ledger.published) {
    assert.equal(known.get(version)?.yaml, `a: ${version}`, `version ${version}`);
  }
  const marked = list.filter((policy) => policy.active).map(({ version }) => version);
  assert.deepEqual(marked, active === "" ? [] : [active]);
  assert.ok(ledger.active.includes(active), `"${active}" is active, not ${ledger.active.join()}`);
  ledger.active = [active];
  for (const { version } of list) ledger.published.add(version);
}

/** Checks that each acknowledged change has exactly one entry. */
async function compareActivity(send: Send, ledger: Ledger): Promise<void> {
  const targets: string[] = [];
  for (let offset = 0; ; offset += 1_000) {
    const page = await send("GET", `/activity?action=policy.publish&limit=1000&offset=${offset}`);
    const { entries } = page.body as { entries: { target: { id: string } }[] };
    targets.push(...entries.map(({ target }) => target.id));
    if (entries.length < 1_000) break;
  }
  assert.equal(new Set(targets).size, targets.length);
  for (const version of targets) assert.ok(ledger.published.has(version), version);
  for (const version of ledger.recorded) assert.ok(targets.includes(version), version);
}

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
  assert.ok(ledger.stored.size > ROUNDS && ledger.published.size > 0 && ledger.keys.size > 0);
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
  const writing = WRITERS.map(async (write) => {
    while (!isKilled) {
      await write(counting, ledger).catch((error: unknown) => {
        if (!isKilled || error instanceof assert.AssertionError) throw error;
      });
      if (left > 0 || isKilled) continue;
      await wait(random() * LONGEST_DELAY_MS);
      isKilled = true;
      server.kill("SIGKILL");
    }
  });
  await Promise.all(writing);
}
