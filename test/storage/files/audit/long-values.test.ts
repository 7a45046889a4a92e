/** Values that would fill the memory, were they kept there: long ones, and many. */
import assert from "node:assert/strict";
import test from "node:test";
import type { TextField } from "../../../../src/audit/event-fields.ts";
import type { AuditEvent } from "../../../../src/audit/schema.ts";
import type { AuditFilter } from "../../../../src/audit/store.ts";
import { FileAuditStore } from "../../../../src/storage/files/audit.ts";
import { Layout } from "../../../../src/storage/layout.ts";
import {
  activityOf,
  facetsOf,
  matchesOf,
  providerNamesOf,
  providerUseOf,
} from "../../../audit/naive-audit.ts";
import { append, auditEventOf, NOON, ORGANIZATION, page } from "../../../audit/store-suite.ts";
import { ForgetfulFiles } from "../../../support/forgetful-files.ts";
import { silent as log } from "../../../support/silent-log.ts";

const DIRECTORY = "/data/organizations/acme/audit";
const SEGMENT_BYTES = 3 << 20;

function createStore(files: ForgetfulFiles): FileAuditStore {
  const layout = new Layout("/data");
  const options = { files, layout, now: () => NOON, log, durability: "sync" } as const;
  return new FileAuditStore({ ...options, segmentBytes: SEGMENT_BYTES });
}

/** A text that no other event has, of about 12,000 characters. */
function long(field: string, i: number): string {
  return `${field} ${i} ${"ÄB ".repeat(i % 40)}needle-${i % 7}! ${"z".repeat(12_000)}`;
}

function historyOf(length: number): AuditEvent[] {
  return Array.from({ length }, (_, i) =>
    auditEventOf({
      timestamp: new Date(NOON - ((i * 7_919) % 1_000) * 1_000).toISOString(),
      command: `run ${i}`,
      executor: i % 5 === 0 ? "ada" : long("executor", i),
      provider: i % 3 === 0 ? "git" : long("provider", i),
      capability: long("capability", i),
      resource: i % 4 === 0 ? `${i}`.padEnd(200, "s") : long("resource", i),
      runtime_name: long("runtime", i),
      policy: i % 2 === 0 ? "v1" : long("policy", i),
      status: i % 6 === 0 ? "Failed" : long("status", i),
      ...(i % 4 === 1 && { policy_decision: "DENIED" as const }),
    }),
  );
}

function like(field: TextField, text: string, isExcluded = false): AuditFilter {
  return { wildcards: [{ parameter: "executor", field, text, isExcluded }] };
}

const FILTERS: readonly AuditFilter[] = [
  { executor: long("executor", 17) },
  { executor: long("executor", 15) }, // no event has it
  like("executor", "EXECUTOR *needle-3!*"),
  { ...like("policy", "*1 ÄB *z"), decision: "DENIED" },
  like("runtime_name", "*needle-0! z*z", true),
  like("status", "failed"),
  { executor: "ada", provider: "git" },
  { provider: long("provider", 40), decision: "ALLOWED" },
  { capability: long("capability", 99) },
  { runtime: long("runtime", 3), policy: long("policy", 3) },
  { status: "Failed", decision: "DENIED" },
  { status: long("status", 1), not_policy: "v1" },
  { not_executor: long("executor", 17), decision: "DENIED" },
  { q: "needle-3!" },
  { q: "äb äb needle-2" },
  { q: "resource 21 " },
  { q: "needle-3! y" },
];

test("long values of every field are found and counted, though they stay on disk", async () => {
  const files = new ForgetfulFiles();
  const events = historyOf(240);
  let store = createStore(files);
  for (let at = 0; at < events.length; at += 8) await append(store, events.slice(at, at + 8));
  const names = ["git", long("provider", 40), "none"];
  for (const round of ["live", "restarted", "rebuilt"]) {
    for (const filter of FILTERS) {
      const what = `${round} ${JSON.stringify(filter).slice(0, 60)}`;
      const found = matchesOf(events, filter);
      const expected = { events: found.slice(0, 20), total: found.length };
      assert.deepEqual(await page(store, filter, 20), expected, what);
      const facets = await store.facets(ORGANIZATION, filter, 5);
      assert.deepEqual(facets, facetsOf(events, filter, 5), what);
    }
    assert.deepEqual(await store.activity(ORGANIZATION, NOON), {
      ...activityOf(events, NOON),
      byProvider: [["git", 80]],
    });
    const use = await store.providerUse(ORGANIZATION, names, NOON);
    assert.deepEqual(use, providerUseOf(events, names, NOON));
    const listed = [...providerNamesOf(events)].filter((name) => name.length <= 256);
    assert.deepEqual([...(await store.providerNames(ORGANIZATION, 10))], listed);
    await store.close();
    const sidecars = (await files.readDirectory(DIRECTORY)).filter((name) => name.endsWith(".idx"));
    assert.ok(sidecars.length > 3);
    for (const name of sidecars) {
      const path = `${DIRECTORY}/${name}`;
      assert.ok((await columnBytes(files, path)) < SEGMENT_BYTES / 8, "columns are in memory");
      if (round === "restarted") await files.remove(path);
    }
    store = createStore(files);
  }
  await store.close();
});

test("an index that is damaged on disk is rebuilt by the dashboard and by the list of providers", async () => {
  const files = new ForgetfulFiles();
  const events = historyOf(80);
  const before = createStore(files);
  for (let at = 0; at < events.length; at += 8) await append(before, events.slice(at, at + 8));
  await before.close();
  const sidecars = (await files.readDirectory(DIRECTORY)).filter((name) => name.endsWith(".idx"));
  const restarted = async (): Promise<FileAuditStore> => {
    const store = createStore(files);
    await store.usage(ORGANIZATION); // opens the log, which reads the ids of the newest events
    for (const name of sidecars) await damageRest(files, `${DIRECTORY}/${name}`);
    return store;
  };
  const dashboard = await restarted();
  assert.equal((await dashboard.providerUse(ORGANIZATION, ["git"], NOON)).size, 1);
  const { byProvider } = await dashboard.activity(ORGANIZATION, NOON);
  assert.deepEqual(byProvider, [["git", 27]]);
  await dashboard.close();
  const list = await restarted();
  assert.deepEqual([...(await list.providerNames(ORGANIZATION, 10))], ["git"]);
  await list.close();
});

/** Changes the sections of a sidecar that are read on demand. */
async function damageRest(files: ForgetfulFiles, path: string): Promise<void> {
  const sidecar = await files.readFile(path);
  const restBytes = sidecar.readUInt32LE(24);
  const file = await files.open(path, "r+");
  await files.write(file, Buffer.alloc(restBytes, "?"), sidecar.length - restBytes);
  await files.close(file);
}

/** The bytes of a sidecar that are read at the start, and kept. */
async function columnBytes(files: ForgetfulFiles, path: string): Promise<number> {
  const file = await files.open(path, "r");
  const header = Buffer.alloc(32);
  await files.read(file, header, 0);
  await files.close(file);
  return header.readUInt32LE(16);
}
