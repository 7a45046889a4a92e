import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { makeRootDirectory } from "../../../src/storage/directories.ts";
import type { FileOperations } from "../../../src/storage/file-operations.ts";
import { FilePolicies } from "../../../src/storage/files/policies.ts";
import { Layout, policyFileName, policyRecordName } from "../../../src/storage/layout.ts";
import { draftOf, listOf, policyStoreSuite } from "../../policies/store-suite.ts";
import { ForgetfulFiles, systemError } from "../../support/forgetful-files.ts";
import { breakableDisk, type BreakableDisk } from "./breakable-disk.ts";

const ORGANIZATIONS = ["acme", "globex"];
const LATER = "2026-11-21T00:00:00.000Z";

function reopen(
  { files, layout }: BreakableDisk,
  maxTextBytes?: number,
  organizations = ORGANIZATIONS,
): Promise<FilePolicies> {
  return FilePolicies.open(files, layout, organizations, maxTextBytes);
}

async function setUp(t: TestContext, maxTextBytes?: number) {
  const disk = await breakableDisk(t);
  const policies = await reopen(disk, maxTextBytes);
  const place = disk.layout.organization("acme");
  return { disk, policies, place };
}

policyStoreSuite(async (t) => (await setUp(t)).policies);

test("the active version is answered at once, as the same frozen object, until it changes", async (t) => {
  const { policies } = await setUp(t);
  await policies.publish("acme", draftOf("v1"));
  const active = policies.active("acme");
  assert.ok(!(active instanceof Promise));
  assert.ok(Object.isFrozen(active));
  await policies.publish("globex", draftOf("v1"));
  assert.equal(policies.active("acme"), active);
  await policies.publish("acme", draftOf("v2"));
  assert.notEqual(policies.active("acme"), active);
});

test("a publish that comes after the store was closed changes nothing on the disk", async (t) => {
  const { disk, policies } = await setUp(t);
  await policies.publish("acme", draftOf("v1"));
  await policies.close();
  for (const organization of ORGANIZATIONS) {
    const late = policies.publish(organization, draftOf("v2"));
    await assert.rejects(late, { status: 503, message: "The service is stopping" });
  }
  const again = await reopen(disk);
  assert.deepEqual(again.versions("acme").length, 1);
  assert.deepEqual(again.versions("globex").length, 0);
});

test("everything is there again after a restart", async (t) => {
  const { disk, policies } = await setUp(t);
  await policies.publish("acme", draftOf("v1", "# é\r\na: 1", 60));
  await policies.publish("acme", draftOf("v2", "a: 2"));
  await policies.publish("acme", draftOf("v3", "a: 3"));
  await policies.activate("acme", "v1", LATER, "ada");
  const again = await reopen(disk);
  assert.deepEqual(again.active("acme"), policies.active("acme"));
  assert.deepEqual(await listOf(again, "acme"), await listOf(policies, "acme"));
  assert.deepEqual(again.versions("acme"), policies.versions("acme"));
  await assert.rejects(again.publish("acme", draftOf("v2")), { status: 409 });
});

test("versions that were never activated are read back after a restart", async (t) => {
  const { disk, policies } = await setUp(t);
  const draft = draftOf("v1", "a: 1");
  await policies.publish("acme", { ...draft, activates: false });
  const again = await reopen(disk);
  assert.equal(again.activeVersion("acme"), "");
  assert.deepEqual(await listOf(again, "acme"), await listOf(policies, "acme"));
  await again.activate("acme", "v1", LATER, "ada");
  await again.publish("acme", { ...draftOf("v2", "a: 2"), activates: false });
  const last = await reopen(disk);
  assert.deepEqual(last.active("acme"), again.active("acme"));
  assert.deepEqual(await listOf(last, "acme"), await listOf(again, "acme"));
});

test("an organization that was created after the start begins without policies", async (t) => {
  const { disk, policies } = await setUp(t);
  assert.deepEqual([policies.active("initech"), policies.versions("initech")], [undefined, []]);
  await policies.publish("initech", draftOf("v1"));
  const again = await reopen(disk, undefined, [...ORGANIZATIONS, "initech"]);
  assert.equal(again.activeVersion("initech"), "v1");
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

test("the index names the last and the active version, and a record leads to the one before", async (t) => {
  const { policies, place } = await setUp(t);
  await policies.publish("acme", draftOf("v1"));
  await policies.publish("acme", draftOf("v2", "a: 2"));
  await policies.activate("acme", "v1", LATER, "ada");
  const read = async (path: string) => JSON.parse(await readFile(path, "utf8")) as unknown;
  const again = { active: "v1", activated_at: LATER, activated_by: "ada" };
  assert.deepEqual(await read(place.policyIndex), { ...again, last: "v2" });
  assert.deepEqual(await read(join(place.policies, policyRecordName("v2"))), {
    organization_id: "acme",
    name: "enterprise-policy",
    version: "v2",
    updated_by: "portal-api",
    updated_at: "2026-11-20T20:30:00.000Z",
    file: policyFileName("v2"),
    sha256: createHash("sha256").update("a: 2").digest("hex"),
    bytes: 4,
    previous: "v1",
  });
});

test("a publish writes the same number of bytes for any number of versions", async (t) => {
  const disk = await breakableDisk(t);
  let written = 0;
  const write: FileOperations["write"] = (descriptor, bytes, position) => {
    written += bytes.length;
    return disk.files.write(descriptor, bytes, position);
  };
  const files = { ...disk.files, write };
  const policies = await FilePolicies.open(files, disk.layout, ORGANIZATIONS);
  const costs: number[] = [];
  for (let i = 0; i < 300; i++) {
    written = 0;
    const description = "\u0001".repeat(4_000);
    await policies.publish("acme", { ...draftOf(`v${1_000 + i}`), description });
    costs.push(written);
  }
  assert.deepEqual(new Set(costs.slice(1)), new Set([costs[1]]));
});

/** The layout of 0.1.0: all versions in the index. */
async function keptAsBefore(t: TestContext) {
  const { disk, policies, place } = await setUp(t);
  await policies.publish("acme", draftOf("v1", "a: 1", 60));
  await policies.publish("acme", draftOf("v2", "a: 2"));
  await policies.publish("acme", draftOf("v3", "a: 3"));
  await policies.activate("acme", "v2", LATER, "ada");
  await policies.activate("acme", "v1", LATER, "bob");
  const list = await listOf(policies, "acme");
  const versions = [];
  for (const version of ["v1", "v2", "v3"]) {
    const path = join(place.policies, policyRecordName(version));
    const record = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
    if (version === "v1") Object.assign(record, { activated_at: LATER, activated_by: "bob" });
    delete record["previous"];
    versions.push(record);
    await rm(path);
  }
  await writeFile(place.policyIndex, JSON.stringify({ active: "v1", versions }, null, 2));
  return { disk, place, list };
}

test("a directory with the layout of 0.1.0 is opened and converted", async (t) => {
  const { disk, place, list } = await keptAsBefore(t);
  const opened = await reopen(disk);
  assert.deepEqual(await listOf(opened, "acme"), list);
  assert.equal(JSON.parse(await readFile(place.policyIndex, "utf8")).versions, undefined);
  await opened.publish("acme", draftOf("v4", "a: 4", 90));
  const again = await reopen(disk);
  assert.deepEqual((await listOf(again, "acme")).map(({ version }) => version).sort(), [
    "v1",
    "v2",
    "v3",
    "v4",
  ]);
  assert.equal((await again.get("acme", "v1"))?.activated_by, "bob");
  assert.equal((await again.get("acme", "v2"))?.activated_by, "ada");
});

test("a conversion that fails leaves the directory as it was", async (t) => {
  const { disk, list } = await keptAsBefore(t);
  disk.renames = "fail";
  await assert.rejects(reopen(disk), /I\/O error/);
  disk.renames = "work";
  assert.deepEqual(await listOf(await reopen(disk), "acme"), list);
});

test("the user who reactivated a version is kept when another version is active", async (t) => {
  const { disk, policies } = await setUp(t);
  for (const version of ["v1", "v2"]) await policies.publish("acme", draftOf(version));
  await policies.activate("acme", "v1", LATER, "ada");
  await policies.publish("acme", draftOf("v3"));
  await policies.activate("acme", "v2", LATER, "bob");
  await policies.activate("acme", "v3", LATER, "eve");
  const again = await reopen(disk);
  assert.deepEqual(again.versions("acme"), policies.versions("acme"));
  for (const [version, by] of [
    ["v1", "ada"],
    ["v2", "bob"],
    ["v3", "eve"],
  ] as const) {
    assert.equal((await again.get("acme", version))?.activated_by, by);
  }
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
  assert.equal((await readdir(place.policies)).length, 5);
});

test("a change that took effect but was reported as failed is undone", async (t) => {
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
  assert.deepEqual(await listOf(again, "acme"), [first]);
  await again.publish("acme", draftOf("v2", "a: another text"));
});

test("a first publish that failed leaves an organization without policies", async (t) => {
  const { disk, policies, place } = await setUp(t);
  disk.renames = "fail after";
  await assert.rejects(policies.publish("acme", draftOf("v1")), /I\/O error/);
  disk.renames = "work";
  policies.recover();
  await policies.close();
  assert.deepEqual(await listOf(await reopen(disk), "acme"), []);
  assert.deepEqual(await readdir(place.policies), []);
});

for (const removals of [0, 1, 2]) {
  test(`an undone first publish that is cut off after ${removals} removals does not stop the start`, async (t) => {
    const disk = await breakableDisk(t);
    let left = 1 + removals; // the temporary file is removed first
    const remove = async (path: string): Promise<void> => {
      if (left-- <= 0) throw Object.assign(new Error("I/O error"), { code: "EIO" });
      await disk.files.remove(path);
    };
    const policies = await FilePolicies.open({ ...disk.files, remove }, disk.layout, ["acme"]);
    disk.renames = "fail after";
    await assert.rejects(policies.publish("acme", draftOf("v1")), /I\/O error/);
    disk.renames = "work";
    await policies.close();
    assert.match(String(policies.failure), /I\/O error/);
    const versions = (await reopen(disk)).versions("acme");
    assert.equal(versions.length, removals === 0 ? 1 : 0);
  });
}

test("a failed activation changes nothing", async (t) => {
  const { disk, policies } = await setUp(t);
  await policies.publish("acme", draftOf("v1"));
  const second = await policies.publish("acme", draftOf("v2", "a: 2"));
  disk.renames = "fail";
  await assert.rejects(policies.activate("acme", "v1", LATER, "ada"), /I\/O error/);
  assert.equal(policies.active("acme"), second);
  assert.equal((await policies.get("acme", "v1"))?.activated_at, undefined);
});

test("the leftovers of a crash do not count", async (t) => {
  const { disk, policies, place } = await setUp(t);
  await policies.publish("acme", draftOf("v1"));
  await writeFile(join(place.policies, policyFileName("v2")), "a: half of a te");
  await writeFile(join(place.policies, policyRecordName("v2")), '{"version":"v');
  await writeFile(join(place.policies, "index.json.1-1.tmp"), '{"active": "v2"');
  const again = await reopen(disk);
  assert.equal(await again.get("acme", "v2"), undefined);
  await again.publish("acme", draftOf("v2", "a: whole"));
  assert.equal((await (await reopen(disk)).get("acme", "v2"))?.yaml, "a: whole");
});

test("texts that do not fit into memory are read again from disk", async (t) => {
  const { disk, policies } = await setUp(t, 20);
  for (let i = 0; i < 10; i++) await policies.publish("acme", draftOf(`v${i}`, `a: text ${i}`, i));
  const texts = (await listOf(policies, "acme")).map(({ yaml }) => yaml);
  assert.deepEqual(
    texts,
    Array.from({ length: 10 }, (_, i) => `a: text ${9 - i}`),
  );
  const { size } = await stat(disk.layout.organization("acme").policyIndex);
  assert.ok(size > 0);
  assert.ok(policies.get("acme", "v8") instanceof Promise, "only the last ones are kept");
  assert.equal(policies.active("acme")?.yaml, "a: text 9", "the active one always is");
});

const damages: readonly (readonly [
  string,
  "index" | "record",
  (text: string) => string,
  RegExp,
])[] = [
  ["an index that is not JSON", "index", () => "{", /index\.json is damaged \(it is not JSON\)/],
  ["an index that is a list", "index", () => "[]", /index\.json is damaged .*restore it/],
  ["an index that is empty", "index", () => "{}", /index\.json is damaged \(last: required\)/],
  [
    "an index that does not name the last version",
    "index",
    () => JSON.stringify({ active: "v2" }),
    /index\.json is damaged \(last: required\)/,
  ],
  [
    "an index without an active version",
    "index",
    (text) => text.replace('"v2"', '"v9"'),
    /no version is active/,
  ],
  [
    "an index that leads nowhere",
    "index",
    (text) => text.replace('"last": "v2"', '"last": "v9"'),
    /v9-\w+\.json is missing\): restore it/,
  ],
  ["a record that is not JSON", "record", () => "{", /v1-\w+\.json.* \(it is not JSON\)/],
  [
    "a record that lacks a field",
    "record",
    (text) => text.replace('"file"', '"fill"'),
    /v1-\w+\.json\.file: required/,
  ],
  [
    "a record of another organization",
    "record",
    (text) => text.replace('"acme"', '"globex"'),
    /another organization's/,
  ],
  [
    "a record of a file elsewhere",
    "record",
    (text) => text.replace('"v1-', '"../v1-'),
    /wrong file name/,
  ],
  [
    "records that lead in a circle",
    "record",
    (text) => text.replace("{", '{"previous":"v2",'),
    /in a circle/,
  ],
];

for (const [name, which, damage, message] of damages) {
  test(`${name} stops the start`, async (t) => {
    const { disk, policies, place } = await setUp(t);
    await policies.publish("acme", draftOf("v1"));
    await policies.publish("acme", draftOf("v2"));
    const record = join(place.policies, policyRecordName("v1"));
    const path = which === "index" ? place.policyIndex : record;
    await writeFile(path, damage(await readFile(path, "utf8")));
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

test("answered changes survive a power cut, and no change is applied in part", async () => {
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
      const list = await listOf(again, "acme");
      const versions = list.map(({ version }) => version);
      assert.ok(versions.includes("v1"));
      assert.ok(!answered || versions.includes("v2"));
      assert.equal(list.filter(({ active }) => active).length, 1);
      assert.ok(list.every(({ version, yaml }) => yaml === `a: ${version.slice(1)}`));
    }
  }
});
