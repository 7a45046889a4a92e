import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { run } from "../support/command-line.ts";
import { newDirectory } from "../support/server-process.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const OWN = "organizations/default";
const folder = await newDirectory({ after });
const app = await start({ after }, { ...ADMIN_SETTINGS, auditSegmentBytes: 64 << 10 });
const admin = await app.asUser(ADMIN);
await app.createOrganization("Acme", admin);
for (const version of ["v1", "v2"]) {
  await app.post("/api/v1/policies", { version, yaml: `a: ${version}` }, admin);
}
await app.createKey("k", admin);
await app.put("/api/v1/settings", { settings: [{ key: "a", value: "b" }] }, admin);
await app.put("/api/v1/providers/git", { status: "degraded" }, admin);
for (const name of ["a", "b"]) await app.post("/api/v1/fleet/heartbeat", { name }, admin);
for (let i = 0; i < 3; i++) {
  const events = Array.from({ length: 20 }, () => ({ command: `git ${"x".repeat(3_000)}` }));
  await app.post("/api/v1/audit", { events }, admin);
}

test("a directory in use by a server is not verified", async () => {
  const { code, out, error } = await run(["verify", app.dataDir]);
  assert.deepEqual([code, out], [1, ""]);
  assert.match(error, /is in use by process \d+.*verify a backup\n$/);
});

/** Everything below a directory, with its mode and the hash of its bytes. */
async function fingerprint(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const lines = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const bytes = entry.isFile() ? await readFile(path) : "";
    const { mode, mtimeMs } = await stat(path);
    return [path, mode, mtimeMs, createHash("sha256").update(bytes).digest("hex")].join(" ");
  });
  return (await Promise.all(lines)).sort();
}

test("an intact directory passes, and stays unchanged", async () => {
  await app.close();
  await writeFile(join(app.dataDir, "README.md"), "as in a clone"); // with any mode
  const before = await fingerprint(app.dataDir);
  const { code, out, error } = await run(["verify", app.dataDir]);
  assert.deepEqual([code, error], [0, ""]);
  assert.match(out, /^\d+ files of 2 organizations, 60 audit events: all is well\n$/);
  assert.deepEqual(await fingerprint(app.dataDir), before);
  const { out: json } = await run(["verify", "--json", app.dataDir]);
  assert.deepEqual(JSON.parse(json), {
    ...{ ok: true, problems: [], notes: [], organizations: 2, events: 60 },
    files: before.length - 6, // without README.md and the directories: organizations, two of them, audit and policies
  });
});

const FIRST = `${OWN}/audit/000000000001`;
const flip = async (path: string, at: number): Promise<void> => {
  const bytes = await readFile(path);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] as number) ^ 1;
  await writeFile(path, bytes);
};
const policyOf = async (root: string): Promise<string> => {
  const names = await readdir(join(root, OWN, "policies"));
  return `${OWN}/policies/${names.find((name) => /^v1-.*yaml$/.test(name))}`;
};

type Case = readonly [what: string, file: string, said: RegExp, damage: (root: string) => unknown];

const replaced =
  (file: string, before: RegExp | string, after: string) =>
  async (root: string): Promise<void> => {
    const text = await readFile(join(root, file), "utf8");
    const changed = text.replace(before, after);
    assert.notEqual(changed, text);
    await writeFile(join(root, file), changed);
  };

const WRONG: readonly Case[] = [
  ["a format of tomorrow", "format.json", /says format 2/, replaced("format.json", "1", "2")],
  ["no format", "format.json", /not JSON/, (root) => writeFile(join(root, "format.json"), "x")],
  [
    "a secret of zeros",
    "secret",
    /not text/,
    (root) => writeFile(join(root, "secret"), Buffer.alloc(9)),
  ],
  ...["organization", "users", "api-keys", "settings", "providers"].map((name): Case => [
    `half of ${name}.json`,
    `${OWN}/${name}.json`,
    /not JSON/,
    replaced(`${OWN}/${name}.json`, /\}\s*$/, ""),
  ]),
  [
    "an organization's id that is not its directory's",
    `${OWN}/organization.json`,
    /id: is "other"/,
    replaced(`${OWN}/organization.json`, '"id": "default"', '"id": "other"'),
  ],
  [
    "a user of another organization",
    `${OWN}/users.json`,
    /users\[0\]\.organization_id/,
    replaced(`${OWN}/users.json`, '"organization_id": "default"', '"organization_id": "acme"'),
  ],
  [
    "one email in two organizations",
    "organizations",
    /two users have one email/,
    replaced("organizations/acme/users.json", "admin@acme.example.com", ADMIN.email),
  ],
  [
    "an organization without its file",
    `${OWN}/organization.json`,
    /is missing/,
    (root) => rm(join(root, OWN, "organization.json")),
  ],
  [
    "another policy text",
    `${OWN}/policies/v1-`,
    /not the text that was published/,
    async (root) => appendFile(join(root, await policyOf(root)), "#"),
  ],
  [
    "no policy text",
    `${OWN}/policies/v1-`,
    /is missing/,
    async (root) => rm(join(root, await policyOf(root))),
  ],
  [
    "no record of a policy version",
    `${OWN}/policies/index.json`,
    /v1-\w+\.json is missing/,
    async (root) => rm(join(root, (await policyOf(root)).replace(/yaml$/, "json"))),
  ],
  [
    "a policy index without an active version",
    `${OWN}/policies/index.json`,
    /no version is active/,
    replaced(`${OWN}/policies/index.json`, '"active": "v2"', '"active": "v9"'),
  ],
  [
    "an empty policy index",
    `${OWN}/policies/index.json`,
    /^last: required$/,
    (root) => writeFile(join(root, `${OWN}/policies/index.json`), "{}"),
  ],
  [
    "words as the key of the logs",
    "log-key",
    /^expected an Ed25519 private key/,
    (root) => writeFile(join(root, "log-key"), "garbage", { mode: 0o600 }),
  ],
  [
    "a damaged event",
    `${FIRST}.jsonl`,
    /byte \d+: \d+ bytes are not a record/,
    replaced(`${FIRST}.jsonl`, '"timestamp":"2026', '"timestamp":"never'),
  ],
  [
    "an event of another organization",
    `${FIRST}.jsonl`,
    /not a record of this organization/,
    replaced(`${FIRST}.jsonl`, '_id":"default"', '_id":"acme"'),
  ],
  [
    "a hole in a log",
    `${OWN}/fleet.jsonl`,
    /byte \d+: 512 bytes are zeros/,
    async (root) =>
      writeFile(
        join(root, OWN, "fleet.jsonl"),
        Buffer.concat([
          await readFile(join(root, OWN, "fleet.jsonl")),
          Buffer.alloc(512),
          Buffer.from("\n"),
        ]),
      ),
  ],
  [
    "a damaged activity entry",
    `${OWN}/activity.jsonl`,
    /not a record/,
    replaced(`${OWN}/activity.jsonl`, '"action"', '"acting"'),
  ],
  [
    "a damaged index, in its columns",
    `${FIRST}.idx`,
    /only a cache/,
    (root) => flip(join(root, `${FIRST}.idx`), 1_000),
  ],
  [
    "a damaged index, in what is read on demand",
    `${FIRST}.idx`,
    /index of segment 1 is damaged/,
    (root) => flip(join(root, `${FIRST}.idx`), -20),
  ],
  [
    "a torn segment that is not the last",
    `${FIRST}.jsonl`,
    /half an append/,
    (root) => appendFile(join(root, `${FIRST}.jsonl`), '{"id"'),
  ],
  [
    "a file that others may read",
    "secret",
    /has mode 0644, expected 0600/,
    (root) => chmod(join(root, "secret"), 0o644),
  ],
  [
    "a directory that others may read",
    `${OWN}/audit`,
    /has mode 0755, expected 0700/,
    (root) => chmod(join(root, OWN, "audit"), 0o755),
  ],
  [
    "a file that does not belong there",
    `${OWN}/notes.txt`,
    /is not a file of Signalbox/,
    (root) => writeFile(join(root, OWN, "notes.txt"), "", { mode: 0o600 }),
  ],
  [
    "a segment under another name",
    `${OWN}/audit/1.jsonl`,
    /is not a file of Signalbox/,
    (root) => rename(join(root, `${FIRST}.jsonl`), join(root, OWN, "audit/1.jsonl")),
  ],
];

for (const [what, file, said, damage] of WRONG) {
  test(`${what} is found, and reported with its place`, async () => {
    const root = await newDirectory({ after });
    await cp(app.dataDir, root, { recursive: true });
    await damage(root);
    const before = await fingerprint(root);
    const { code, out } = await run(["verify", "--json", root]);
    const { ok, problems } = JSON.parse(out) as {
      ok: boolean;
      problems: { file: string; problem: string }[];
    };
    assert.deepEqual([code, ok], [1, false]);
    const found = problems.filter((one) => one.file.startsWith(file));
    assert.ok(
      found.some(({ problem }) => said.test(problem)),
      JSON.stringify(problems),
    );
    assert.deepEqual(await fingerprint(root), before);
  });
}

test("the leftovers of a killed server are mentioned, and are not faults", async () => {
  const root = await newDirectory({ after });
  await cp(app.dataDir, root, { recursive: true });
  const last = (await readdir(join(root, OWN, "audit")))
    .filter((name) => name.endsWith("l"))
    .sort();
  await appendFile(join(root, OWN, "audit", last.at(-1) ?? ""), '{"id":"torn');
  await writeFile(join(root, OWN, "users.json.7-7.tmp"), "x");
  await writeFile(join(root, OWN, "policies", `v3-${"0".repeat(32)}.yaml`), "a: 3", {
    mode: 0o600,
  });
  await writeFile(join(root, `${FIRST}.jsonl.damaged`), '{"lines":1}\n', { mode: 0o600 });
  const { code, out } = await run(["verify", root]);
  assert.equal(code, 0, out);
  const notes = out.split("\n").filter((line) => line.startsWith("note: "));
  assert.equal(notes.length, 4, out);
});

test("an organization whose creation was cut off anywhere is mentioned, and is not a fault", async () => {
  const root = await newDirectory({ after });
  await cp(app.dataDir, root, { recursive: true });
  const own = join(root, "organizations", "cut-off");
  await mkdir(own, { mode: 0o700 });
  for (const name of ["users.json.7-7.tmp", "users.json", "organization.json.7-8.tmp"]) {
    await writeFile(join(own, name), '{"users":[]}', { mode: 0o600 });
    const { code, out } = await run(["verify", root]);
    assert.equal(code, 0, out);
    assert.match(out, /cut-off: was being created when a server ended, and never came to be/);
  }
});

test("a backup is verified against its manifest too", async () => {
  const backup = join(folder, "backup");
  assert.equal((await run(["backup", app.dataDir, backup])).code, 0);
  const whole = await run(["verify", backup]);
  assert.deepEqual([whole.code, whole.error], [0, ""], whole.out);
  await appendFile(join(backup, OWN, "fleet.jsonl"), "\n"); // every line of this log is a record
  const { code, out } = await run(["verify", backup]);
  assert.equal(code, 1);
  assert.match(out, /manifest\.json: The backup is damaged: .*fleet\.jsonl has \d+ bytes/);
});
