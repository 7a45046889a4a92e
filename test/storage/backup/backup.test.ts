import assert from "node:assert/strict";
import { test } from "node:test";
import { checkBackup, restoreBackup, writeBackup } from "../../../src/storage/backup/backup.ts";
import { MANIFEST, manifestText, readManifest } from "../../../src/storage/backup/manifest.ts";
import { stageFiles } from "../../../src/storage/backup/staging.ts";
import { makeDurableDirectory } from "../../../src/storage/directories.ts";
import {
  directoriesOf,
  Layout,
  policyFileName,
  policyRecordName,
} from "../../../src/storage/layout.ts";
import { replaceFile, writeSnapshot } from "../../../src/storage/snapshot.ts";
import { ForgetfulFiles, systemError } from "../../support/forgetful-files.ts";

const layout = new Layout("/data");
const own = layout.organization("default");
const LINES = '{"a":1}\n{"a":2}\n';

/** A disk with a small data directory, of which everything is synced. */
async function disk(): Promise<ForgetfulFiles> {
  const files = new ForgetfulFiles();
  await makeDurableDirectory(files, own.policies, "/");
  await makeDurableDirectory(files, own.audit, "/");
  await writeSnapshot(files, layout.format, { format: 1 });
  await writeSnapshot(files, own.organization, { id: "default" });
  await replaceFile(files, `${own.policies}/v1.yaml`, Buffer.from("a: 1"));
  await writeSnapshot(files, own.policyIndex, { versions: [{ file: "v1.yaml" }] });
  await replaceFile(files, `${own.audit}/000000000001.jsonl`, Buffer.from(LINES));
  return files;
}

async function backUp(files: ForgetfulFiles, target: string): Promise<void> {
  const staging = await stageFiles(files, layout, () => new Map());
  await writeBackup(files, { ...staging, created_at: "", version: "0" }, target);
  await staging.release();
}

test("a backup and a restored directory survive a power cut that loses all unsynced data", async () => {
  const files = await disk();
  await backUp(files, "/backups");
  const later = files.powerCut(() => 0);
  assert.equal((await checkBackup(later, "/backups")).files.length, 5);
  await restoreBackup(later, "/backups", "/restored");
  const last = later.powerCut(() => 0);
  assert.equal(last.text("/restored/organizations/default/audit/000000000001.jsonl"), LINES);
  assert.equal(last.text("/restored/organizations/default/policies/v1.yaml"), "a: 1");
});

test("a backup copies the acknowledged part of an open log, and the whole appends of a closed one", async () => {
  const files = await disk();
  const path = `${own.audit}/000000000001.jsonl`;
  const bytesOf = async (committed: ReadonlyMap<string, number>): Promise<number | undefined> => {
    const staging = await stageFiles(files, layout, () => committed);
    await staging.release();
    return staging.files.find((file) => path.endsWith(file.path))?.bytes;
  };
  assert.equal(await bytesOf(new Map([[path, 8]])), 8);
  assert.equal(await bytesOf(new Map()), LINES.length);
  await replaceFile(files, path, Buffer.from(`${LINES}{"a":`));
  assert.equal(await bytesOf(new Map()), LINES.length);
});

test("a backup leaves out uncommitted organizations and files from elsewhere", async () => {
  const files = await disk();
  await makeDurableDirectory(files, layout.organization("half").directory, "/");
  await replaceFile(files, layout.organization("half").users, Buffer.from("[]"));
  const versions = [{ file: "../organization.json" }, { file: "none.yaml" }, { file: 1 }, null];
  await writeSnapshot(files, own.policyIndex, { versions });
  const { files: staged } = await stageFiles(files, layout, () => new Map());
  const at = "organizations/default";
  assert.deepEqual(
    staged.map(({ path }) => path),
    [
      "format.json",
      `${at}/audit/000000000001.jsonl`,
      `${at}/policies/index.json`,
      `${at}/organization.json`,
    ],
  );
});

test("a backup has every file that the layout of an organization names", async () => {
  const files = await disk();
  for (const directory of directoriesOf(layout, "default")) {
    await makeDurableDirectory(files, directory, "/");
  }
  const named = Object.values(own).filter((path) => /\.jsonl?$/.test(path));
  assert.ok(named.includes(own.rollouts));
  for (const path of named) await replaceFile(files, path, Buffer.from("{}\n"));
  const staged = new Set(
    (await stageFiles(files, layout, () => new Map())).files.map(({ path }) => path),
  );
  assert.deepEqual(
    named.filter((path) => !staged.has(path.slice("/data/".length))),
    [],
  );
});

test("a policy index leads to the records and texts of its versions, and to no others", async () => {
  const files = await disk();
  const names = (version: string) => [policyRecordName(version), policyFileName(version)];
  for (const [version, previous] of [["v1"], ["v2", "v1"], ["stray", "v2"]] as const) {
    const [record = "", text = ""] = names(version);
    await writeSnapshot(files, `${own.policies}/${record}`, { version, previous });
    await replaceFile(files, `${own.policies}/${text}`, Buffer.from("a: 1"));
  }
  await writeSnapshot(files, own.policyIndex, { active: "v1", last: "v2" });
  const { files: staged } = await stageFiles(files, layout, () => new Map());
  const policies = staged.map(({ path }) => path).filter((path) => path.includes("/policies/"));
  assert.deepEqual(
    policies.map((path) => path.split("/").at(-1)),
    ["index.json", ...names("v2"), ...names("v1")],
  );
});

test("a file that is shorter than expected fails the backup", async () => {
  const files = await disk();
  const named = { directory: "/data", files: [{ path: "format.json", bytes: 99 }] };
  const source = { ...named, created_at: "", version: "0" };
  await assert.rejects(writeBackup(files, source, "/backups"), /format\.json ends at byte \d+/);
});

for (const path of [
  "../data/secret",
  "/etc/cron.d/x",
  "a/../../x",
  "a//x",
  "a/",
  "",
  ".",
  ".bashrc",
  "a\\..\\x",
  "a\0x",
]) {
  test(`a manifest that names ${JSON.stringify(path)} is refused, even with a valid checksum`, () => {
    const file = { path, bytes: 1, sha256: "0".repeat(64) };
    const text = manifestText({ created_at: "", version: "0", files: [file] });
    assert.throws(() => readManifest(Buffer.from(text)), /names a file in an invalid way/);
  });
}

const FILE = { path: "secret", bytes: 1, sha256: "" };
for (const [what, manifest] of [
  ["a file without a path", { files: [{ ...FILE, path: 1 }] }],
  ["a file that is only a name", { files: ["secret"] }],
  ["half a byte", { files: [{ ...FILE, bytes: 0.5 }] }],
  ["a number for a digest", { files: [{ ...FILE, sha256: 1 }] }],
  ["no list of files", { files: {} }],
  ["no time", { files: [], created_at: 1 }],
  ["no version", { files: [], version: undefined }],
] as const) {
  test(`a manifest with ${what} is refused in a sentence, even with a valid checksum`, () => {
    const text = manifestText({ created_at: "", version: "0", ...manifest } as never);
    assert.throws(
      () => readManifest(Buffer.from(text)),
      /^Error: it (?:is not a manifest|names a file in an invalid way)$/,
    );
  });
}

for (const [text, said] of [
  ["[]", /^Error: it is not a manifest$/],
  ["null", /^Error: it is not a manifest$/],
  ['{"format":2}', /^Error: it is of format 2$/],
  ["{}", /^Error: it is of format undefined$/],
  ["", /^Error: it is not JSON$/],
] as const) {
  test(`${text || "nothing"} is reported as an invalid manifest`, () => {
    assert.throws(() => readManifest(Buffer.from(text)), said);
  });
}

for (const [what, pathOf, said] of [
  ["a file twice", (path: string) => path, /manifest\.json: it names \S+ twice$/],
  [
    "a file below a file",
    (path: string) => `${path}/x`,
    /it names (\S+) as a file, and \1\/x below it$/,
  ],
] as const) {
  test(`a manifest that names ${what} is refused by the name, and the attempt leaves nothing behind`, async () => {
    const files = await disk();
    await backUp(files, "/backups");
    const manifest = readManifest(await files.readFile(`/backups/${MANIFEST}`));
    const [first] = manifest.files;
    assert.ok(first);
    const clashing = { ...first, path: pathOf(first.path) };
    const changed = { ...manifest, files: [...manifest.files, clashing] };
    await replaceFile(files, `/backups/${MANIFEST}`, Buffer.from(manifestText(changed)));
    await assert.rejects(restoreBackup(files, "/backups", "/restored"), said);
    assert.deepEqual((await files.readDirectory("/")).sort(), ["backups", "data"]);
  });
}

for (const path of [
  "lock",
  "lock.0123456789abcdef.socket",
  "socket",
  "log-key",
  "move.json",
  MANIFEST,
  "organizations/default/audit/000000000001.idx",
  "organizations/default/users.json.1-1.tmp",
  "Lock",
  "LOG-KEY",
  "Move.JSON",
  "lock/a",
  "lock.x/a",
  "socket/a",
  "log-key/a",
  "move.json/a",
  `${MANIFEST}/a`,
  "a.tmp/b",
  "x.idx/y",
  "organizations/default/audit/000000000001.IDX",
]) {
  test(`a manifest that names ${path}, which is in no backup, is refused`, async () => {
    const files = await disk();
    await backUp(files, "/backups");
    const manifest = readManifest(await files.readFile(`/backups/${MANIFEST}`));
    const [first] = manifest.files;
    assert.ok(first);
    const changed = { ...manifest, files: [...manifest.files, { ...first, path }] };
    await replaceFile(files, `/backups/${MANIFEST}`, Buffer.from(manifestText(changed)));
    await assert.rejects(restoreBackup(files, "/backups", "/restored"), {
      message: `The backup is damaged: /backups/${MANIFEST}: it names ${path}, which is in no backup`,
    });
    assert.deepEqual((await files.readDirectory("/")).sort(), ["backups", "data"]);
  });
}

test("a backup may have an organization or a policy version with such a name", () => {
  const named = ["organizations/lock/organization.json", "organizations/socket/policies/lock.json"];
  const files = named.map((path) => ({ path, bytes: 0, sha256: "" }));
  const text = manifestText({ created_at: "", version: "0", files });
  assert.equal(readManifest(Buffer.from(text)).files.length, 2);
});

for (const code of ["EBUSY", "EXDEV"]) {
  test(`a directory that cannot be replaced (${code}), such as a mount point, is reported with the way out`, async () => {
    const files = await disk();
    await backUp(files, "/backups");
    files.before = (operation, path) => {
      if (operation === "rename" && path.includes("restored")) throw systemError(code);
    };
    await assert.rejects(restoreBackup(files, "/backups", "/restored"), {
      message: `"/restored" cannot be replaced (${code}): restore into a directory below it, and name that as DATA_DIR`,
    });
    assert.deepEqual((await files.readDirectory("/")).sort(), ["backups", "data"]);
  });
}
