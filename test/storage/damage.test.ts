import assert from "node:assert/strict";
import test from "node:test";
import { createLog } from "../../src/core/log.ts";
import { DamageFound, damagedPath, DamageRegister } from "../../src/storage/damage.ts";
import { FileAuditStore } from "../../src/storage/files/audit.ts";
import { Layout } from "../../src/storage/layout.ts";
import { append, auditEventOf, NOON, ORGANIZATION, page } from "../audit/store-suite.ts";
import { ForgetfulFiles, systemError } from "../support/forgetful-files.ts";

const directory = "/data/organizations/acme/audit";
const first = `${directory}/000000000001.jsonl`;

/** A store of small segments, its damage register, and its log lines at `warn` and above. */
function open(files: ForgetfulFiles) {
  const lines: string[] = [];
  const log = createLog(
    "warn",
    () => 0,
    (line) => void lines.push(line),
  );
  const damage = new DamageRegister(files, log);
  const store = new FileAuditStore({
    ...{ files, layout: new Layout("/data"), now: () => NOON, log, damage },
    durability: "sync",
    segmentBytes: 20_000,
  });
  return { store, damage, lines };
}

/** Three segments; the first has a damaged line and no index yet. */
async function damagedSegment(): Promise<ForgetfulFiles> {
  const files = new ForgetfulFiles();
  const { store } = open(files);
  for (let i = 0; i < 12; i++) {
    const event = { command: "x".repeat(4_000), ingested_at: new Date(NOON).toISOString() };
    await append(store, [auditEventOf(event)]);
  }
  await store.close();
  const descriptor = await files.open(first, "r+");
  await files.write(descriptor, Buffer.from("\n!!! "), 5_000);
  await files.close(descriptor);
  await files.remove(first.replace("jsonl", "idx"));
  return files.restarted();
}

test("a sealed segment is read once, and its damage is remembered without reading it again", async () => {
  let files = await damagedSegment();
  const found = open(files);
  assert.equal((await page(found.store, {}, 100)).total, 11);
  assert.equal(found.damage.lines, 2);
  assert.match(found.lines.join(""), /set aside damaged lines.*"lines":2/);
  assert.ok(!found.lines.join("").includes("!!!"));
  const aside = files.text(damagedPath(first));
  assert.match(aside, /^\{"file":"000000000001.jsonl","lines":2,.*\}\n\{"offset":\d+,"text":/);
  await found.store.close();

  files = files.restarted();
  const next = open(files);
  assert.equal((await next.store.usage(ORGANIZATION)).events, 11);
  assert.equal(next.damage.lines, 2);
  assert.match(next.lines.join(""), /"level":"warn".*set aside before.*"lines":2/);
  assert.equal(files.text(damagedPath(first)), aside);
  await next.store.close();

  files = files.restarted();
  await files.remove(damagedPath(first)); // an operator has looked, and nothing has to be repaired
  const last = open(files);
  assert.equal((await last.store.usage(ORGANIZATION)).events, 11);
  assert.deepEqual([last.damage.lines, last.lines], [0, []]);
  await last.store.close();
});

test("retention removes the copy of damaged lines together with their segment", async () => {
  const files = await damagedSegment();
  const { store, damage } = open(files);
  assert.equal((await store.usage(ORGANIZATION)).events, 11);
  assert.equal(damage.lines, 2);
  await store.retain(ORGANIZATION, NOON + 1);
  assert.equal(damage.lines, 0);
  const names = await files.readDirectory(directory);
  assert.deepEqual(
    names.filter((name) => name.startsWith("000000000001")),
    [],
  );
  await store.close();
});

test("if damaged lines cannot be copied aside, the rest is served and the damage counted", async () => {
  const files = await damagedSegment();
  files.before = (operation, path) => {
    if (operation === "open" && path.includes(".damaged.")) throw systemError("ENOSPC");
  };
  const { store, damage, lines } = open(files);
  assert.equal((await page(store, {}, 100)).total, 11);
  assert.equal(damage.lines, 2);
  assert.match(lines.join(""), /could not be set aside.*ENOSPC/);
  await store.close();
});

test("a log with nothing but damage is copied up to a limit, and counted as a whole", () => {
  const found = new DamageFound("/log");
  const line = Buffer.alloc(64 << 10, "x");
  for (let i = 0; i < 20_000; i++) found.add(i < 200 ? line : Buffer.from("y"), i * line.length);
  assert.equal(found.sum?.lines, 20_000);
  assert.equal(found.sum?.bytes, 200 * line.length + 19_800);
  assert.ok(found.text().length < 10 << 20);
});

test("an edited file of damaged lines counts as at least one line", async () => {
  const files = new ForgetfulFiles();
  const { damage } = open(files);
  await files.open(damagedPath("/log"), "w");
  await damage.recall("/log");
  await damage.recall("/other");
  assert.equal(damage.lines, 1);
});
