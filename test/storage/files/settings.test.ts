import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { FileSettings } from "../../../src/storage/files/settings.ts";
import { settingsStoreSuite } from "../../settings/store-suite.ts";
import { breakableDisk } from "./breakable-disk.ts";

async function setUp(t: TestContext) {
  const disk = await breakableDisk(t);
  for (const organization of ["acme", "globex"]) {
    await disk.files.makeDirectory(disk.layout.organization(organization).directory);
  }
  const settings = new FileSettings(disk.files, disk.layout);
  return { disk, settings, path: disk.layout.organization("acme").settings };
}

settingsStoreSuite(async (t) => (await setUp(t)).settings);

test("settings are there again after a restart", async (t) => {
  const { disk, settings } = await setUp(t);
  await settings.replace("acme", [{ key: "a", value: "1" }]);
  const again = new FileSettings(disk.files, disk.layout);
  assert.deepEqual(await again.list("acme"), [{ key: "a", value: "1" }]);
});

test("a replacement that fails leaves the settings as they were", async (t) => {
  const { disk, settings } = await setUp(t);
  await settings.replace("acme", [{ key: "a", value: "1" }]);
  disk.renames = "fail";
  await assert.rejects(settings.replace("acme", []), /I\/O error/);
  assert.deepEqual(await settings.list("acme"), [{ key: "a", value: "1" }]);
});

for (const [fault, content] of [
  ["is no JSON", "{"],
  ["holds no settings", '{"organization_id": "acme"}'],
  ["is another organization's", '{"organization_id": "globex", "settings": []}'],
] as const) {
  test(`a file that ${fault} is never read as empty, and is named`, async (t) => {
    const { settings, path } = await setUp(t);
    await writeFile(path, content);
    await assert.rejects(settings.list("acme"), (error: Error) => {
      return error.message.startsWith(`${path} is damaged (`);
    });
  });
}

test("an invalid organization id never becomes a path", async (t) => {
  const { settings } = await setUp(t);
  await assert.rejects(settings.list("../acme"), /Not an organization id/);
});
