import assert from "node:assert/strict";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { makeRootDirectory } from "../../../src/storage/directories.ts";
import { FilePolicies } from "../../../src/storage/files/policies.ts";
import { Layout, policyFileName } from "../../../src/storage/layout.ts";
import { draftOf, policyStoreSuite } from "../../policies/store-suite.ts";
import { ForgetfulFiles, systemError } from "../../support/forgetful-files.ts";
import { breakableDisk, type BreakableDisk } from "./breakable-disk.ts";

const ORGANIZATIONS = ["acme", "globex"];
const LATER = "2026-11-21T00:00:00.000Z";

function reopen({ files, layout }: BreakableDisk, maxTextBytes?: number): Promise<FilePolicies> {
  return FilePolicies.open(files, layout, ORGANIZATIONS, maxTextBytes);
}

async function setUp(t: TestContext, maxTextBytes?: number) {
  const disk = await breakableDisk(t);
  const policies = await reopen(disk, maxTextBytes);
  const place = disk.layout.organization("acme");
  return { disk, policies, place };
}

policyStoreSuite(async (t) => (await setUp(t)).policies);

test("everything is there again after a restart", async (t) => {
  const { disk, policies } = await setUp(t);
  await policies.publish("acme", draftOf("v1", "# é\r\na: 1", 60));
  await policies.publish("acme", draftOf("v2", "a: 2"));
  await policies.publish("acme", draftOf("v3", "a: 3"));
  await policies.activate("acme", "v1", LATER, "ada");
  const again = await reopen(disk);
  assert.deepEqual(again.active("acme"), policies.active("acme"));
  assert.deepEqual(await again.list("acme"), await policies.list("acme"));
  assert.deepEqual(again.versions("acme"), policies.versions("acme"));
  await assert.rejects(again.publish("acme", draftOf("v2")), { status: 409 });
});

test("an organization that comes later is read when it is asked for", async (t) => {
  const { disk, policies } = await setUp(t);
  await policies.publish("initech", draftOf("v1"));
  const again = await reopen(disk);
  assert.equal(await again.activeVersion("initech"), "v1");
  assert.equal((await again.publish("initech", draftOf("v2"))).active, true);
});

test("the text is on disk byte for byte, for its owner only", async (t) => {
  const { policies, place } = await setUp(t);
  const yaml = "\uFEFF# é 🚂\r\na: 1\n\n";
  await policies.publish("acme", draftOf("Release 1/2", yaml));
  const file = join(place.policies, policyFileName("Release 1/2"));
  assert.equal(await readFile(file, "utf8"), yaml);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal((await stat(place.policyIndex)).mode & 0o777, 0o600);
  assert.equal((await stat(place.policies)).mode & 0o777, 0o700);
});

test("the index names the files, the organization and the active version", async (t) => {
  const { policies, place } = await setUp(t);
  await policies.publish("acme", draftOf("v1"));
  await policies.publish("acme", draftOf("v2", "a: 2"));
  const index = JSON.parse(await readFile(place.policyIndex, "utf8"));
  assert.equal(index.active, "v2");
  assert.deepEqual(
    index.versions.map(({ version, file, organization_id }: Record<string, string>) => [
      version,
      file,
      organization_id,
    ]),
    [
      ["v1", policyFileName("v1"), "acme"],
      ["v2", policyFileName("v2"), "acme"],
    ],
  );
});

test("a publish whose index cannot be replaced changes nothing, and can be repeated", async (t) => {
  const { disk, policies, place } = await setUp(t);
  const first = await policies.publish("acme", draftOf("v1"));
  disk.renames = "fail";
  await assert.rejects(policies.publish("acme", draftOf("v2", "a: 2")), /I\/O error/);
  assert.equal(policies.active("acme"), first);
  assert.equal(await policies.get("acme", "v2"), undefined);
  assert.deepEqual((await reopen(disk)).active("acme"), first);
  disk.renames = "work";
  await policies.publish("acme", draftOf("v2", "a: another text"));
  assert.equal((await (await reopen(disk)).get("acme", "v2"))?.yaml, "a: another text");
  assert.equal((await readdir(place.policies)).length, 3);
});

test("a change that happened although it was reported as failed is taken back", async (t) => {
  const { disk, policies } = await setUp(t);
  const first = await policies.publish("acme", draftOf("v1"));
  disk.renames = "fail after";
  await assert.rejects(policies.publish("acme", draftOf("v2", "a: 2")), /I\/O error/);
  assert.equal(policies.active("acme"), first);
  assert.match(String(policies.failure), /I\/O error/);
  disk.renames = "work";
  await policies.close(); // which is the last occasion
  assert.equal(policies.failure, undefined);
  const again = await reopen(disk);
  assert.deepEqual(await again.list("acme"), [first]);
  await again.publish("acme", draftOf("v2", "a: another text"));
});

test("a first publish that failed leaves an organization without policies", async (t) => {
  const { disk, policies, place } = await setUp(t);
  disk.renames = "fail after";
  await assert.rejects(policies.publish("acme", draftOf("v1")), /I\/O error/);
  disk.renames = "work";
  policies.recover();
  await policies.close();
  assert.deepEqual(await (await reopen(disk)).list("acme"), []);
  assert.deepEqual(await readdir(place.policies), ["index.json"]);
});

test("a failed activation changes nothing", async (t) => {
  const { disk, policies } = await setUp(t);
  await policies.publish("acme", draftOf("v1"));
  const second = await policies.publish("acme", draftOf("v2", "a: 2"));
  disk.renames = "fail";
  await assert.rejects(policies.activate("acme", "v1", LATER, "ada"), /I\/O error/);
  assert.equal(policies.active("acme"), second);
  assert.equal((await policies.get("acme", "v1"))?.activated_at, undefined);
});

test("what a crash left behind never happened", async (t) => {
  const { disk, policies, place } = await setUp(t);
  await policies.publish("acme", draftOf("v1"));
  await writeFile(join(place.policies, policyFileName("v2")), "a: half of a te");
  await writeFile(join(place.policies, "index.json.1-1.tmp"), '{"active": "v2"');
  const again = await reopen(disk);
  assert.equal(await again.get("acme", "v2"), undefined);
  assert.deepEqual(
    (await readdir(place.policies)).filter((name) => name.endsWith(".tmp")),
    [],
  );
  await again.publish("acme", draftOf("v2", "a: whole"));
  assert.equal((await (await reopen(disk)).get("acme", "v2"))?.yaml, "a: whole");
});

test("texts that do not fit into memory are read again from disk", async (t) => {
  const { disk, policies } = await setUp(t, 20);
  for (let i = 0; i < 10; i++) await policies.publish("acme", draftOf(`v${i}`, `a: text ${i}`, i));
  const texts = (await policies.list("acme")).map(({ yaml }) => yaml);
  assert.deepEqual(
    texts,
    Array.from({ length: 10 }, (_, i) => `a: text ${9 - i}`),
  );
  const { size } = await stat(disk.layout.organization("acme").policyIndex);
  assert.ok(size > 0);
  assert.ok(policies.text("acme", "v8") instanceof Promise, "only the last ones are kept");
  assert.equal(policies.text("acme", "v9"), "a: text 9", "the active one always is");
});

const damages: readonly (readonly [string, (index: string) => string, RegExp])[] = [
  ["is no JSON", () => "{", /index\.json is damaged \(it is not JSON\).*restore it/],
  ["is no index", () => "[]", /index\.json is damaged .*restore it/],
  ["lacks a field", (index) => index.replace('"file"', '"fill"'), /versions\[0\]\.file: required/],
  ["names no active version", (index) => index.replace('"v1"', '"v2"'), /no version is active/],
  ["is another organization's", (index) => index.replace('"acme"', '"globex"'), /another org/],
  ["names a file elsewhere", (index) => index.replace('"v1-', '"../v1-'), /wrong file name/],
];

for (const [name, damage, message] of damages) {
  test(`an index that ${name} stops the start`, async (t) => {
    const { disk, policies, place } = await setUp(t);
    await policies.publish("acme", draftOf("v1"));
    await writeFile(place.policyIndex, damage(await readFile(place.policyIndex, "utf8")));
    await assert.rejects(reopen(disk), message);
  });
}

test("a text that is missing or was changed is never served", async (t) => {
  const { disk, policies, place } = await setUp(t);
  await policies.publish("acme", draftOf("v1", "a: 1"));
  await policies.publish("acme", draftOf("v2", "a: 2"));
  const again = await reopen(disk);
  await writeFile(join(place.policies, policyFileName("v1")), "a: 9");
  await assert.rejects(async () => again.get("acme", "v1"), /not the text that was published/);
  await rm(join(place.policies, policyFileName("v2")));
  await assert.rejects(reopen(disk), /v2-.*\.yaml is damaged \(it is missing\): restore it/);
});

test("whatever was answered outlives a power cut, and nothing is half there", async () => {
  for (const kept of [0, 0.5, 1]) {
    for (let fault = 0; fault < 40; fault++) {
      const files = new ForgetfulFiles();
      const layout = new Layout("/data");
      await makeRootDirectory(files, layout.root);
      const policies = await FilePolicies.open(files, layout, ORGANIZATIONS);
      await policies.publish("acme", draftOf("v1", "a: 1"));
      let operation = 0;
      files.before = () => {
        if (operation++ === fault) throw systemError("EIO");
      };
      const answered = await policies.publish("acme", draftOf("v2", "a: 2")).catch(() => undefined);
      const again = await FilePolicies.open(
        files.powerCut((limit) => Math.round(limit * kept)),
        layout,
        ORGANIZATIONS,
      );
      const list = await again.list("acme");
      const versions = list.map(({ version }) => version);
      assert.ok(versions.includes("v1"));
      assert.ok(!answered || versions.includes("v2"));
      assert.equal(list.filter(({ active }) => active).length, 1);
      assert.ok(list.every(({ version, yaml }) => yaml === `a: ${version.slice(1)}`));
    }
  }
});
