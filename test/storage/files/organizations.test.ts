import assert from "node:assert/strict";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import type { Organization } from "../../../src/organizations/schema.ts";
import { FileOrganizations } from "../../../src/storage/files/organizations.ts";
import { founding, organizationStoreSuite } from "../../organizations/store-suite.ts";
import { breakableDisk, type BreakableDisk } from "./breakable-disk.ts";

const now = () => 1_800_000_000_000;

function reopen({ files, layout }: BreakableDisk): Promise<FileOrganizations> {
  return FileOrganizations.open(files, layout, now);
}

async function setUp(t: TestContext) {
  const disk = await breakableDisk(t);
  const organizations = await reopen(disk);
  return { disk, organizations, place: disk.layout.organization("acme") };
}

function sorted(list: readonly Organization[]): readonly Organization[] {
  return [...list].sort((a, b) => (a.id < b.id ? -1 : 1));
}

organizationStoreSuite(async (t) => {
  const { organizations } = await setUp(t);
  return { organizations, users: organizations.users };
});

test("organizations and their users are there again after a restart", async (t) => {
  const { disk, organizations } = await setUp(t);
  await organizations.create(...founding("Acme"));
  await organizations.rename("acme", "Globex", "2027-01-01T00:00:00.000Z");
  const again = await reopen(disk);
  assert.deepEqual(sorted(again.list()), sorted(organizations.list()));
  assert.deepEqual(again.users.list("acme"), organizations.users.list("acme"));
});

test("directories and files are for their owner only", async (t) => {
  const { organizations, place } = await setUp(t);
  await organizations.create(...founding("Acme"));
  assert.equal((await stat(place.directory)).mode & 0o777, 0o700);
  assert.equal((await stat(place.organization)).mode & 0o777, 0o600);
});

test("a creation that fails leaves nothing behind", async (t) => {
  const { disk, organizations } = await setUp(t);
  disk.renames = "fail";
  await assert.rejects(organizations.create(...founding("Acme")), /I\/O error/);
  assert.equal(organizations.get("acme"), undefined);
  assert.equal(organizations.users.findByEmail("admin@acme.example"), undefined);
  assert.deepEqual((await reopen(disk)).ids(), ["default"]);
  disk.renames = "work";
  await organizations.create(...founding("Acme"));
});

test("a creation that took effect but was reported as failed is undone before the next change", async (t) => {
  const { disk, place } = await setUp(t);
  let renames = 0;
  const files = {
    ...disk.files,
    async rename(from: string, to: string) {
      await disk.files.rename(from, to);
      if (++renames === 2) throw new Error("I/O error");
    },
  };
  const store = await FileOrganizations.open(files, disk.layout, now);
  await assert.rejects(store.create(...founding("Acme", "acme", "ada@example.com")));
  assert.match(await readFile(place.organization, "utf8"), /Acme/);
  await store.create(...founding("Globex", "globex", "ada@example.com"));
  const again = await reopen(disk);
  assert.equal(again.get("acme"), undefined);
  assert.equal(again.users.findByEmail("ada@example.com")?.organization_id, "globex");
});

test("a creation that a crash cut short does not count, and can be repeated", async (t) => {
  const { disk, place } = await setUp(t);
  await mkdir(place.directory);
  await writeFile(place.users, '{"users": [{"id": "ghost"');
  await writeFile(`${place.organization}.1-1.tmp`, "{");
  const organizations = await reopen(disk);
  assert.deepEqual(organizations.ids(), ["default"]);
  await organizations.create(...founding("Acme"));
  assert.equal((await reopen(disk)).users.list("acme").length, 1);
});

test("an organization that lost its own file stops the start, since its data would be inherited", async (t) => {
  const { disk, organizations, place } = await setUp(t);
  await organizations.create(...founding("Acme"));
  await writeFile(place.apiKeys, '{"api_keys": []}');
  await disk.files.remove(place.organization);
  await assert.rejects(reopen(disk), (error: Error) =>
    error.message.startsWith(place.organization),
  );
});

for (const [fault, content] of [
  ["is no JSON", "{"],
  ["is no organization", "{}"],
  [
    "is another organization",
    '{"id": "b", "name": "b", "slug": "b", "created_at": "x", "updated_at": "x"}',
  ],
] as const) {
  test(`a file that ${fault} stops the start and is named`, async (t) => {
    const { disk, organizations, place } = await setUp(t);
    await organizations.create(...founding("Acme"));
    await writeFile(place.organization, content);
    await assert.rejects(reopen(disk), (error: Error) => {
      return error.message.startsWith(`${place.organization} is damaged (`);
    });
  });
}

test("the default organization comes back without its file, with its users", async (t) => {
  const { disk, organizations } = await setUp(t);
  const [, admin] = founding("Root");
  await organizations.users.create("default", { ...admin, organization_id: "default" });
  await disk.files.remove(disk.layout.organization("default").organization);
  const again = await reopen(disk);
  assert.equal(again.get("default")?.name, "Default");
  assert.equal(again.users.list("default").length, 1);
});

test("a directory that is not an organization's is not changed", async (t) => {
  const { disk } = await setUp(t);
  await mkdir(`${disk.layout.organizations}/.snapshot`);
  assert.deepEqual((await reopen(disk)).ids(), ["default"]);
});
