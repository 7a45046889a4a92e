import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { FileUsers } from "../../../src/storage/files/users.ts";
import { UndoQueue } from "../../../src/storage/undo-queue.ts";
import { person, userStoreSuite } from "../../users/store-suite.ts";
import { breakableDisk, type BreakableDisk } from "./breakable-disk.ts";

const ORGANIZATIONS = ["acme", "globex"];

function reopen({ files, layout }: BreakableDisk): Promise<FileUsers> {
  return FileUsers.open(files, layout, new UndoQueue(), ORGANIZATIONS);
}

async function setUp(t: TestContext) {
  const disk = await breakableDisk(t);
  for (const organization of ORGANIZATIONS) {
    await disk.files.makeDirectory(disk.layout.organization(organization).directory);
  }
  return { disk, users: await reopen(disk), path: disk.layout.organization("acme").users };
}

userStoreSuite(async (t) => (await setUp(t)).users);

const ada = person("acme", "ada", "admin");

test("users are there again after a restart", async (t) => {
  const { disk, users } = await setUp(t);
  await users.create("acme", ada);
  await users.create("globex", person("globex", "eve"));
  await users.change("acme", "ada", (user) => ({ ...user, name: "Countess" }));
  const again = await reopen(disk);
  assert.deepEqual(again.list("acme"), [{ ...ada, name: "Countess" }]);
  assert.equal(again.findByEmail("eve@example.com")?.organization_id, "globex");
});

test("the file is for its owner only", async (t) => {
  const { users, path } = await setUp(t);
  await users.create("acme", ada);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a write that fails changes neither memory nor disk", async (t) => {
  const { disk, users } = await setUp(t);
  await users.create("acme", ada);
  disk.renames = "fail";
  await assert.rejects(users.create("acme", person("acme", "bob")), /I\/O error/);
  assert.deepEqual(users.list("acme"), [ada]);
  assert.equal(users.findByEmail("bob@example.com"), undefined);
  assert.deepEqual((await reopen(disk)).list("acme"), [ada]);
});

test("a write that took effect but was reported as failed is undone before the next", async (t) => {
  const { disk, users } = await setUp(t);
  await users.create("acme", ada);
  disk.renames = "fail after";
  await assert.rejects(users.create("acme", person("acme", "bob")));
  disk.renames = "work";
  await users.create("globex", { ...person("globex", "bob-2"), email: "bob@example.com" });
  const again = await reopen(disk);
  assert.deepEqual(again.list("acme"), [ada]);
  assert.equal(again.findByEmail("bob@example.com")?.id, "bob-2");
});

test("the leftover of a write in a crash is not read", async (t) => {
  const { disk, users, path } = await setUp(t);
  await users.create("acme", ada);
  await writeFile(`${path}.1-1.tmp`, '{"users": [{"id"');
  assert.deepEqual((await reopen(disk)).list("acme"), [ada]);
});

for (const [fault, damage] of [
  ["is no JSON", () => "{"],
  ["holds no list", () => "{}"],
  ["holds a user without a hash", (text: string) => text.replace("password_hash", "hash")],
  ["holds another organization's user", (text: string) => text.replace('"acme"', '"globex"')],
] as const) {
  test(`a file that ${fault} stops the start and is named`, async (t) => {
    const { disk, users, path } = await setUp(t);
    await users.create("acme", ada);
    await writeFile(path, damage(await readFile(path, "utf8")));
    await assert.rejects(reopen(disk), (error: Error) => {
      return error.message.startsWith(`${path} is damaged (`) && error.message.includes("backup");
    });
  });
}

test("two users with one email stop the start", async (t) => {
  const { disk, users, path } = await setUp(t);
  await users.create("acme", ada);
  const twin = (await readFile(path, "utf8"))
    .replace('"acme"', '"globex"')
    .replace('"id": "ada"', '"id": "twin"');
  await writeFile(disk.layout.organization("globex").users, twin);
  await assert.rejects(reopen(disk), /two users have one email/);
});
