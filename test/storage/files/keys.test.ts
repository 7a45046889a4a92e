import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import type { FileOperations } from "../../../src/storage/file-operations.ts";
import { FileKeys } from "../../../src/storage/files/keys.ts";
import { keyOf, keyStoreSuite } from "../../keys/store-suite.ts";
import { breakableDisk, type BreakableDisk } from "./breakable-disk.ts";

const ORGANIZATIONS = ["acme", "globex"];
const key = keyOf("acme", "key-1");
const USED_AT = "1970-01-01T00:00:01.000Z";

function reopen({ files, layout }: BreakableDisk, failures: unknown[] = []): Promise<FileKeys> {
  return FileKeys.open(files, layout, ORGANIZATIONS, (error) => failures.push(error));
}

async function setUp(t: TestContext) {
  const disk = await breakableDisk(t);
  for (const organization of ORGANIZATIONS) {
    await disk.files.makeDirectory(disk.layout.organization(organization).directory);
  }
  const failures: unknown[] = [];
  const keys = await reopen(disk, failures);
  t.after(() => keys.close());
  return { disk, keys, failures, path: disk.layout.organization("acme").apiKeys };
}

keyStoreSuite(async (t) => (await setUp(t)).keys);

test("keys are read back after a restart, revoked keys as revoked", async (t) => {
  const { disk, keys } = await setUp(t);
  await keys.create("acme", key);
  await keys.create("acme", keyOf("acme", "key-2"));
  await keys.revoke("acme", "key-1");
  const again = await reopen(disk);
  assert.deepEqual(again.list("acme"), keys.list("acme"));
  assert.equal(again.findByHash(key.hash)?.revoked, true);
});

test("a long list of keys is written in parts, as the same JSON", async (t) => {
  const { disk, path } = await setUp(t);
  let sizes: number[] = [];
  const write: FileOperations["write"] = (descriptor, bytes, position) => {
    sizes.push(bytes.length);
    return disk.files.write(descriptor, bytes, position);
  };
  const keys = await reopen({ ...disk, files: { ...disk.files, write } });
  t.after(() => keys.close());
  for (let i = 0; i < 250; i++) {
    sizes = [];
    await keys.create("acme", keyOf("acme", `key-${i}`));
  }
  const text = await readFile(path, "utf8");
  assert.ok(Math.max(...sizes) < text.length / 2);
  assert.equal(text, `${JSON.stringify(JSON.parse(text), null, 2)}\n`);
  assert.deepEqual((await reopen(disk)).list("acme"), keys.list("acme"));
});

test("a use is not written on its own, but at the next flush", async (t) => {
  const { disk, keys, path } = await setUp(t);
  await keys.create("acme", key);
  keys.touch("acme", "key-1", 1_000);
  assert.ok(!(await readFile(path, "utf8")).includes("last_used_at"));
  await keys.flush();
  assert.equal((await reopen(disk)).list("acme")[0]?.last_used_at, USED_AT);
});

test("a use is written after a while without a flush", async (t) => {
  const { disk, path } = await setUp(t);
  let renamed = (): void => {};
  const files: FileOperations = {
    ...disk.files,
    async rename(from, to) {
      await disk.files.rename(from, to);
      renamed();
    },
  };
  const keys = await FileKeys.open(files, disk.layout, ORGANIZATIONS, assert.ifError, 1);
  await keys.create("acme", key);
  keys.touch("acme", "key-1", 1_000);
  const keepAlive = setInterval(() => {}, 1_000); // the store's own timer keeps no process alive
  await new Promise<void>((resolve) => (renamed = resolve));
  clearInterval(keepAlive);
  assert.ok((await readFile(path, "utf8")).includes(USED_AT));
  await keys.close();
});

test("closing writes the pending uses", async (t) => {
  const { disk, keys } = await setUp(t);
  await keys.create("acme", key);
  keys.touch("acme", "key-1", 1_000);
  await keys.close();
  assert.equal((await reopen(disk)).list("acme")[0]?.last_used_at, USED_AT);
});

test("a use during a flush is written by the next one", async (t) => {
  const { disk, keys } = await setUp(t);
  await keys.create("acme", key);
  keys.touch("acme", "key-1", 500);
  const flushing = keys.flush();
  await disk.files.readDirectory(disk.layout.root);
  keys.touch("acme", "key-1", 1_000);
  await flushing;
  await keys.flush();
  assert.equal((await reopen(disk)).list("acme")[0]?.last_used_at, USED_AT);
});

test("a flush that fails is reported, and tried again", async (t) => {
  const { disk, keys, failures } = await setUp(t);
  await keys.create("acme", key);
  keys.touch("acme", "key-1", 1_000);
  disk.renames = "fail";
  await keys.flush();
  assert.equal(failures.length, 1);
  assert.equal(keys.list("acme")[0]?.last_used_at, USED_AT);
  disk.renames = "work";
  await keys.flush();
  assert.equal((await reopen(disk)).list("acme")[0]?.last_used_at, USED_AT);
});

test("a revocation that fails changes nothing, and can be made again", async (t) => {
  const { disk, keys } = await setUp(t);
  await keys.create("acme", key);
  disk.renames = "fail";
  await assert.rejects(keys.revoke("acme", "key-1"), /I\/O error/);
  assert.equal(keys.findByHash(key.hash)?.revoked, false);
  disk.renames = "work";
  assert.deepEqual(await keys.revoke("acme", "key-1"), key);
  assert.equal((await reopen(disk)).findByHash(key.hash)?.revoked, true);
});

test("the key itself is in no file", async (t) => {
  const { keys, path } = await setUp(t);
  await keys.create("acme", key);
  assert.doesNotMatch(await readFile(path, "utf8"), /sbx_[\w-]{20}/);
});

test("a damaged file stops the start and is named", async (t) => {
  const { disk, path } = await setUp(t);
  await writeFile(path, '{"api_keys": [{}]}');
  await assert.rejects(reopen(disk), (error: Error) => {
    return error.message.startsWith(`${path} is damaged (api_keys[0].id: required)`);
  });
});

test("the newest 1,000 revoked keys stay; an older one is removed with the next key", async (t) => {
  const { disk, keys, path } = await setUp(t);
  const revoked = Array.from({ length: 1_001 }, (_, n) => ({
    ...keyOf("acme", `old-${n}`),
    revoked: true,
  }));
  await writeFile(path, JSON.stringify({ api_keys: revoked }), { mode: 0o600 });
  await keys.close();
  const again = await reopen(disk);
  await again.create("acme", key);
  const ids = again.list("acme").map(({ id }) => id);
  assert.deepEqual([ids.length, ids[0], ids.at(-1)], [1_001, "key-1", "old-1"]);
  assert.equal(again.findByHash(revoked[0]?.hash ?? ""), undefined);
  assert.equal(again.findByHash(key.hash)?.id, "key-1");
  await again.close();
});
