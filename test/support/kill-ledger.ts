/**
 * Writers that send changes to servers which may be killed at any moment, and a ledger of what was
 * acknowledged, to compare with what is stored afterwards.
 */
import assert from "node:assert/strict";
import type { Answer } from "./client.ts";

const PASSWORD = "correct horse battery";

/** Pseudo-random numbers from 0 up to 1 (mulberry32), so that a run can be repeated. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sends a request; throws when there is no answer. */
export type Send = (method: string, path: string, body?: object) => Promise<Answer>;

/** The writes that were sent, and those that were acknowledged. */
export class Ledger {
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
  /** The values that the setting may have, as `active` of the versions. */
  setting: (string | undefined)[] = [undefined];
  #count = 0;

  next(): number {
    return ++this.#count;
  }

  /** Whether an event, a publish and a key were acknowledged: before that, a kill would test too little. */
  hasEach(): boolean {
    return this.stored.size > 0 && this.published.size > 0 && this.keys.size > 0;
  }
}

/** Sends writes and records those that were acknowledged. Throws when the connection breaks. */
export type Writer = (send: Send, ledger: Ledger) => Promise<void>;

async function accepted(answer: Promise<Answer>, status: number): Promise<Answer> {
  const got = await answer;
  assert.equal(got.status, status, got.text);
  return got;
}

/** Stores that many events at a time. */
export function events(size: number): Writer {
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

export const keys: Writer = async (send, ledger) => {
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

export const users: Writer = async (send, ledger) => {
  const email = `u${ledger.next()}@example.com`;
  await accepted(
    send("POST", "/users", { email, name: email, role: "viewer", password: PASSWORD }),
    201,
  );
  ledger.users.add(email);
};

const settings: Writer = async (send, ledger) => {
  const value = `s${ledger.next()}`;
  ledger.setting.push(value);
  await accepted(send("PUT", "/settings", { settings: [{ key: "theme", value }] }), 200);
  ledger.setting = [value];
};

/** Writers of which several can be at work at a time. */
export const WRITERS: readonly Writer[] = [
  ...[events(1), events(1), events(1), events(1), events(10), events(25)],
  ...[keys, fleet, fleet, users],
];

/** Writers of which one is at work: each knows the state after its changes. */
export const SINGLE_WRITERS: readonly Writer[] = [policies, settings];

/** Compares the data with the ledger. A write without an answer is stored as a whole or not at all. */
export async function compare(send: Send, ledger: Ledger): Promise<void> {
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
  const setting = (await send("GET", "/settings")).body.settings[0]?.value as string | undefined;
  assert.ok(ledger.setting.includes(setting), `${setting}, not ${ledger.setting.join()}`);
  ledger.setting = [setting];

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

/** Checks that each acknowledged publish has exactly one entry. */
export async function compareActivity(send: Send, ledger: Ledger): Promise<void> {
  const entries = await entriesOf(send, "policy.publish");
  const targets = entries.map(({ target }) => target.id);
  assert.equal(new Set(targets).size, targets.length);
  for (const version of targets) assert.ok(ledger.published.has(version), version);
  for (const version of ledger.recorded) assert.ok(targets.includes(version), version);
}

interface Entry {
  readonly target: { readonly id: string };
  readonly before?: Readonly<Record<string, string>>;
  readonly after?: Readonly<Record<string, string>>;
}

/** All entries of an action, or of the actions that begin so, newest first. */
async function entriesOf(send: Send, action: string): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  for (;;) {
    const page = `action=${action}&limit=1000&offset=${all.length}`;
    const { entries } = (await send("GET", `/activity?${page}`)).body as { entries: Entry[] };
    all.push(...entries);
    if (entries.length < 1_000) return all;
  }
}

/** Checks that each change that was made, acknowledged or not, has exactly one entry, and no other entry exists. */
export async function compareEveryEntry(send: Send): Promise<void> {
  const targetsOf = async (action: string): Promise<readonly string[]> =>
    (await entriesOf(send, action)).map(({ target }) => target.id).sort();
  const { active, policies } = (await send("GET", "/policies")).body as {
    active: string;
    policies: { version: string }[];
  };
  const versions = policies.map(({ version }) => version);
  assert.deepEqual(await targetsOf("policy.publish"), versions.sort());
  const { api_keys: keys } = (await send("GET", "/api-keys")).body as {
    api_keys: { id: string; revoked: boolean }[];
  };
  const ids = (some: readonly { id: string }[]) => some.map(({ id }) => id).sort();
  assert.deepEqual(await targetsOf("key.create"), ids(keys));
  assert.deepEqual(await targetsOf("key.revoke"), ids(keys.filter(({ revoked }) => revoked)));
  assert.deepEqual(await targetsOf("user.create"), ids((await send("GET", "/users")).body.users));
  // Each entry begins with the state that the one before it has left.
  const [first] = (await send("GET", "/settings")).body.settings as { value: string }[];
  checkChain(await entriesOf(send, "policy"), "active", "", active);
  checkChain(await entriesOf(send, "settings"), "theme", undefined, first?.value);
}

function checkChain(
  newestFirst: readonly Entry[],
  name: string,
  start: string | undefined,
  end: string | undefined,
): void {
  let state = start;
  for (const { before, after } of newestFirst.toReversed()) {
    assert.equal(before?.[name], state, `${name} before ${after?.[name]}`);
    state = after?.[name];
  }
  assert.equal(state, end, name);
}
