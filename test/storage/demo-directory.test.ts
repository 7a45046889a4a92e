import assert from "node:assert/strict";
import { test } from "node:test";
import { disownDemo, markSeeded, prepareDemoDirectory } from "../../src/storage/demo-directory.ts";
import { Layout } from "../../src/storage/layout.ts";
import { ForgetfulFiles } from "../support/forgetful-files.ts";

const layout = new Layout("/data");
const never = (): boolean => false;
const always = (): boolean => true;

/** A directory, with an organization in it if requested. */
async function newFiles(hasOrganization: boolean): Promise<ForgetfulFiles> {
  const files = new ForgetfulFiles();
  await files.makeDirectory("/data");
  if (hasOrganization) await addOrganization(files);
  return files;
}

function addOrganization(files: ForgetfulFiles): Promise<void> {
  return files.makeDirectory(layout.organization("default").directory);
}

async function hasOrganization(files: ForgetfulFiles): Promise<boolean> {
  return (await files.readDirectory(layout.root)).includes("organizations");
}

test("a directory with an organization is foreign, even when a reset is due", async () => {
  const files = await newFiles(true);
  assert.equal(await prepareDemoDirectory(files, layout, always), "foreign");
  assert.ok(await hasOrganization(files));
});

test("a seeded directory is kept until its reset is due, and then wiped", async () => {
  const files = await newFiles(false);
  assert.equal(await prepareDemoDirectory(files, layout, never), "empty");
  await addOrganization(files);
  await markSeeded(files, layout, 1_234);
  assert.deepEqual(await prepareDemoDirectory(files, layout, never), { seededAt: 1_234 });
  assert.ok(await hasOrganization(files));
  assert.equal(await prepareDemoDirectory(files, layout, (at) => at === 1_234), "empty");
  assert.ok(!(await hasOrganization(files)));
});

test("a half-seeded directory is wiped and seeded again", async () => {
  const files = await newFiles(false);
  await prepareDemoDirectory(files, layout, never);
  await addOrganization(files);
  assert.equal(await prepareDemoDirectory(files, layout, never), "empty");
  assert.ok(!(await hasOrganization(files)));
});

test("a directory that was disowned is never wiped", async () => {
  const files = await newFiles(false);
  await prepareDemoDirectory(files, layout, never);
  await addOrganization(files);
  await markSeeded(files, layout, 1_234);
  await disownDemo(files, layout);
  assert.equal(await prepareDemoDirectory(files, layout, always), "foreign");
  assert.ok(await hasOrganization(files));
});
