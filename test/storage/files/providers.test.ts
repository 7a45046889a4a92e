import assert from "node:assert/strict";
import { test } from "node:test";
import { FileProviderOverrides } from "../../../src/storage/files/providers.ts";
import { isOrganizationId, Layout } from "../../../src/storage/layout.ts";
import { overrideStoreSuite, type OverrideEngine } from "../../providers/store-suite.ts";
import { systemError, type ForgetfulFiles } from "../../support/forgetful-files.ts";
import { newFiles } from "./fleet-engine.ts";

const layout = new Layout("/data");
const { directory, providers: path } = layout.organization("default");

async function open(files: ForgetfulFiles): Promise<FileProviderOverrides> {
  const names = await files.readDirectory(layout.organizations).catch(() => []);
  return FileProviderOverrides.open(files, layout, names.filter(isOrganizationId));
}

async function engineOver(files: ForgetfulFiles): Promise<OverrideEngine> {
  return { store: await open(files), reopen: () => engineOver(files.restarted()) };
}

overrideStoreSuite("files", async () => engineOver(await newFiles()));

test("an answered override survives a power cut, and names its organization", async () => {
  const files = await newFiles();
  await (await open(files)).set("default", "git", "degraded");
  const after = files.powerCut(() => 0);
  assert.deepEqual([...(await open(after)).all("default")], [["git", "degraded"]]);
  assert.deepEqual(JSON.parse(after.text(path)), {
    providers: [{ organization_id: "default", id: "git", status: "degraded" }],
  });
});

test("a write that fails changes nothing, neither now nor after a restart", async () => {
  const files = await newFiles();
  const store = await open(files);
  await store.set("default", "git", "degraded");
  files.before = (operation, at) => {
    if (operation === "fsync" && at === directory) throw systemError("EIO");
  };
  await assert.rejects(store.set("default", "git", "offline"), /EIO/);
  assert.deepEqual([...store.all("default")], [["git", "degraded"]]);
  files.before = () => {};
  await store.set("default", "aws", "connected");
  assert.deepEqual(
    [...(await open(files.restarted())).all("default")],
    [
      ["git", "degraded"],
      ["aws", "connected"],
    ],
  );
});

for (const content of [
  "{",
  "{}",
  '{"providers":[{"organization_id":"default","id":"git","status":"up"}]}',
]) {
  test(`a file that holds ${content} stops the start and is named`, async () => {
    const files = await newFiles();
    await files.makeDirectory(directory);
    await files.write(await files.open(path, "w"), Buffer.from(content), 0);
    await assert.rejects(open(files), new RegExp(`^Error: ${path} is damaged .*backup`));
  });
}
