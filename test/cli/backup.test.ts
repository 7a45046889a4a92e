import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { after, test, type TestContext } from "node:test";
import { askForBackup } from "../../src/control/client.ts";
import { openBackup, writeBackup } from "../../src/storage/backup/backup.ts";
import { MANIFEST, manifestText, readManifest } from "../../src/storage/backup/manifest.ts";
import { systemFiles } from "../../src/storage/file-operations.ts";
import { run } from "../support/command-line.ts";
import { newDirectory } from "../support/server-process.ts";
import { ADMIN, ADMIN_SETTINGS, App, START_TIME, start } from "../support/start.ts";

const folder = await newDirectory({ after });
const app = await start({ after }, { ...ADMIN_SETTINGS, auditSegmentBytes: 64 << 10 });
const admin = await app.asUser(ADMIN);
await app.post("/api/v1/policies", { version: "v1", yaml: "a: 1 # é\n" }, admin);
const { key } = await app.createKey("k", admin);

/** Serves a restored directory with the clock of the original one. */
async function serving(dataDir: string, use: (restored: App) => Promise<void>): Promise<void> {
  const restored = new App(dataDir, { requireAuth: true });
  await restored.open();
  try {
    await use(restored);
  } finally {
    await restored.close();
  }
}

async function idsOf(from: App): Promise<Set<string>> {
  const { text } = await from.get("/api/v1/audit/export?format=ndjson", admin);
  const lines = text.split("\n").filter((line) => line !== "");
  return new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
}

test("a backup under load contains everything acknowledged before, and no torn record", async () => {
  const acknowledged: string[] = [];
  const sent = new Set<string>();
  let isOver = false;
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let n = 0; !isOver; n++) {
      const events = Array.from({ length: 1 + (n % 5) }, (_, i) => ({
        ...{ id: `${writer}-${n}-${i}`, command: "x".repeat(50 * (n % 7)) },
      }));
      for (const { id } of events) sent.add(id);
      assert.equal((await app.post("/api/v1/audit", { events }, key)).status, 202);
      acknowledged.push(...events.map(({ id }) => id));
      await app.post("/api/v1/fleet/heartbeat", { name: `r${writer}-${n}` }, key);
    }
  });
  while (acknowledged.length < 300) await app.get("/health");
  const before = [...acknowledged];
  const target = join(folder, "loaded");
  const { code, out, error } = await run(["backup", app.dataDir, target]);
  assert.deepEqual([code, error], [0, ""]);
  assert.match(out, /^Copied \d+ files, \d+ bytes, to /);
  isOver = true;
  await Promise.all(writers);
  assert.ok(acknowledged.length > before.length, "ingest stood still");

  const dataDir = join(folder, "restored");
  assert.equal((await run(["restore", target, dataDir])).code, 0);
  assert.deepEqual(await run(["verify", dataDir]).then(({ code: ok, error: no }) => [ok, no]), [
    0,
    "",
  ]);
  await serving(dataDir, async (restored) => {
    const ids = await idsOf(restored); // an earlier token is still valid
    assert.deepEqual(
      before.filter((id) => !ids.has(id)),
      [],
    );
    assert.deepEqual(
      [...ids].filter((id) => !sent.has(id)),
      [],
    );
    const policy = await restored.get("/api/v1/policies?active=true", key);
    assert.deepEqual([policy.status, policy.body.yaml], [200, "a: 1 # é\n"]);
    assert.equal((await restored.get("/health")).body.status, "ok");
  });
});

test("a restored backup gives the same answers, also about an open rollout", async () => {
  const yaml = "a: 2";
  await app.post("/api/v1/policies", { version: "next", yaml, activate: false }, admin);
  const stages = [{ percent: 10 }, { percent: 100 }];
  const draft = { version: "next", stages };
  assert.equal((await app.post("/api/v1/rollouts", draft, admin)).status, 201);
  await app.put("/api/v1/settings", { settings: [{ key: "a", value: "1" }] }, admin);
  await app.put("/api/v1/providers/git", { status: "degraded" }, admin);
  const answersOf = async (from: App): Promise<string[]> => {
    const paths = ["policies", "rollouts", "audit", "fleet", "providers", "users", "activity"];
    const answers = paths.map((path) => from.get(`/api/v1/${path}`, admin));
    const { body } = await from.get("/api/v1/settings", admin);
    return [...(await Promise.all(answers)).map(({ text }) => text), JSON.stringify(body.settings)];
  };
  const target = join(folder, "all-kinds");
  assert.equal((await run(["backup", app.dataDir, target])).code, 0);
  const dataDir = join(folder, "all-kinds-restored");
  assert.equal((await run(["restore", target, dataDir])).code, 0);
  await serving(dataDir, async (restored) => {
    assert.deepEqual(await answersOf(restored), await answersOf(app));
  });
});

test("a restore names what a killed restore to the same directory left beside it", async () => {
  const [target, dataDir] = [join(folder, "named"), join(folder, "named-restored")];
  assert.equal((await run(["backup", app.dataDir, target])).code, 0);
  const left = join(folder, ".named-restored-0123456789ab.tmp");
  for (const path of [left, join(folder, ".other-0123456789ab.tmp")]) await mkdir(path);
  const { code, out } = await run(["restore", target, dataDir]);
  assert.equal(code, 0);
  const lines = out.split("\n").slice(1, -1);
  assert.deepEqual(lines, [
    `Left by another restore: ${left}. Remove it, unless that restore is still running`,
  ]);
});

/** Ends a wait for what never comes. */
const IN_TIME = { timeout: 60_000 };

/** Resolves when the server has removed its staged files: it begins when it sees that their reader has left. */
async function stagedFilesAreGone({ signal }: TestContext): Promise<void> {
  while ((await readdir(app.dataDir)).some((name) => name.startsWith("backup-"))) {
    signal.throwIfAborted();
  }
}

test(
  "changes during a backup are not in it, and its staged files are removed at the end",
  IN_TIME,
  async (t) => {
    const held = await askForBackup(join(app.dataDir, "socket"));
    assert.ok(held);
    await app.post("/api/v1/policies", { version: "v2", yaml: "a: 2" }, admin);
    await app.createUser({ email: "late@example.com" }, admin);
    await app.post("/api/v1/audit", { id: "late", command: "ls" }, key);
    const target = join(folder, "held");
    await writeBackup(systemFiles, { ...held, created_at: START_TIME, version: "0" }, target);
    held.release();
    const dataDir = join(folder, "before");
    assert.equal((await run(["restore", target, dataDir])).code, 0);
    await serving(dataDir, async (restored) => {
      assert.ok(!(await idsOf(restored)).has("late"));
      const { body } = await restored.get("/api/v1/policies", key);
      assert.deepEqual([body.active, body.policies.length], ["v1", 2]);
      assert.equal((await restored.get("/api/v1/users", admin)).body.users.length, 1);
    });
    await stagedFilesAreGone(t);
  },
);

test("escape sequences in the manifest of a backup do not reach the terminal", async () => {
  const target = join(folder, "hostile");
  await mkdir(target);
  const created_at = "\u001b]0;title\u0007\u001b[2J";
  await writeFile(join(target, MANIFEST), manifestText({ created_at, version: "0", files: [] }));
  const { code, out } = await run(["restore", target, join(folder, "hostile-restored")]);
  assert.equal(code, 0);
  assert.ok(!out.includes("\u001b"), out);
});

test("a server that stops ends its backup, and removes the staged files", async () => {
  const held = await askForBackup(join(app.dataDir, "socket"));
  assert.ok(held);
  await app.restart();
  assert.throws(() => held.release(), /The server stopped/);
  const names = await readdir(app.dataDir);
  assert.deepEqual(
    names.filter((name) => name.startsWith("backup-")),
    [],
  );
});

for (const [spelling, spelled] of [
  ["a relative path that begins with ./", (path: string) => `./${relative(process.cwd(), path)}`],
  ["a path that ends with a slash", (path: string) => `${path}/`],
] as const) {
  test(`a backup has every file under its own name if DATA_DIR is ${spelling}`, async () => {
    const own = await newDirectory({ after });
    const running = new App(spelled(join(own, "data")), {});
    await running.open();
    await running.post("/api/public/policies", { version: "v1", yaml: "a: 1" });
    const targets = [join(own, "running"), join(own, "stopped")] as const;
    assert.equal((await run(["backup", join(own, "data"), targets[0]])).code, 0);
    await running.close();
    assert.equal((await run(["backup", spelled(join(own, "data")), targets[1]])).code, 0);
    for (const target of targets) {
      assert.deepEqual(await run(["verify", target]).then(({ code, error }) => [code, error]), [
        0,
        "",
      ]);
    }
  });
}

test("a stopped server's directory is copied, and stays unchanged", async () => {
  await app.close();
  const before = await readdir(app.dataDir, { recursive: true });
  const target = join(folder, "stopped");
  assert.equal((await run(["backup", app.dataDir, target])).code, 0);
  assert.deepEqual(await readdir(app.dataDir, { recursive: true }), before);
  await app.open();
  const dataDir = join(folder, "again");
  assert.equal((await run(["restore", target, dataDir])).code, 0);
  for (const root of [target, dataDir]) {
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      assert.equal(mode & 0o777, entry.isDirectory() ? 0o700 : 0o600, entry.name);
    }
  }
  await serving(dataDir, async (restored) =>
    assert.deepEqual(await idsOf(restored), await idsOf(app)),
  );
});

/** A backup that each test may damage in its own way. */
async function damaged(name: string, damage: (backup: string) => Promise<void>): Promise<string> {
  const backup = join(folder, name);
  await cp(join(folder, "held"), backup, { recursive: true });
  await damage(backup);
  return backup;
}

test("a backup with any changed byte is refused, and the attempt leaves no files", async () => {
  const names = (await openBackup(systemFiles, join(folder, "held"))).files.map(({ path }) => path);
  const dataDir = join(folder, "refused");
  for (const name of [...names, "manifest.json"]) {
    const { size } = await stat(join(folder, "held", name));
    for (const at of new Set([size >> 1, size - 1].filter((place) => place >= 0))) {
      const backup = await damaged("flipped", async (copy) => {
        const bytes = await readFile(join(copy, name));
        bytes[at] = (bytes[at] as number) ^ 1;
        await writeFile(join(copy, name), bytes);
      });
      const { code, error } = await run(["restore", backup, dataDir]);
      assert.equal(code, 1, `${name} at ${at}`);
      assert.match(error, /^signalbox restore: The backup is damaged: [^\n]+\n$/);
      assert.ok(error.includes(name), error);
      await rm(backup, { recursive: true });
    }
  }
  const left = await readdir(folder);
  assert.deepEqual(
    left.filter((name) => name.includes("refused")),
    [],
  );
});

test("every byte of a manifest counts", async () => {
  const path = join(folder, "held", "manifest.json");
  const bytes = await readFile(path);
  assert.ok(readManifest(bytes).files.length > 5);
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ 1;
    assert.throws(() => readManifest(changed), `byte ${at}`);
    assert.throws(() => readManifest(bytes.subarray(0, at)), `cut at ${at}`);
  }
});

for (const [what, damage, said] of [
  ["a missing file", (at: string) => rm(join(at, "secret")), /secret is missing/],
  [
    "a file too many",
    (at: string) => writeFile(join(at, "notes"), ""),
    /notes is not in its manifest/,
  ],
  [
    "a file that is too short",
    (at: string) => truncate(join(at, "secret"), 3),
    /secret has 3 bytes/,
  ],
  [
    "a link in the place of a file",
    async (at: string) => {
      await rename(join(at, "secret"), join(folder, "outside"));
      await symlink(join(folder, "outside"), join(at, "secret"));
    },
    /secret is a symbolic link\n$/,
  ],
  [
    "a link in the place of a directory",
    async (at: string) => {
      await rm(join(folder, "outside"), { recursive: true, force: true });
      await rename(join(at, "organizations"), join(folder, "outside"));
      await symlink(join(folder, "outside"), join(at, "organizations"));
    },
    /organizations is a symbolic link\n$/,
  ],
  [
    "a pipe in the place of a file",
    async (at: string) => {
      await rm(join(at, "secret"));
      execFileSync("mkfifo", [join(at, "secret")]);
    },
    /secret is a pipe\n$/,
  ],
  [
    "a pipe as its manifest",
    async (at: string) => {
      await rm(join(at, "manifest.json"));
      execFileSync("mkfifo", [join(at, "manifest.json")]);
    },
    /manifest\.json" is a pipe\n$/,
  ],
  [
    "a huge file as its manifest",
    (at: string) => truncate(join(at, "manifest.json"), 2 ** 31),
    /manifest\.json" has more than 2 GiB\n$/,
  ],
  ["no manifest", (at: string) => rm(join(at, "manifest.json")), /is not a backup/],
] as const) {
  test(`a backup with ${what} is refused`, async () => {
    const backup = await damaged("odd", damage);
    const { code, error } = await run(["restore", backup, join(folder, "odd-restored")]);
    assert.equal(code, 1);
    assert.match(error, said);
    await rm(backup, { recursive: true });
  });
}

test("neither a backup nor a restore writes into a non-empty directory", async () => {
  const full = join(folder, "held");
  for (const args of [
    ["backup", app.dataDir, full],
    ["restore", full, app.dataDir],
  ]) {
    const { code, error } = await run(args);
    assert.equal(code, 1);
    assert.match(error, /is not empty/);
  }
});

test("a backup inside its data directory is refused, and so is a restore inside its backup", async () => {
  const backup = join(folder, "held");
  await symlink(join(app.dataDir, "organizations"), join(folder, "inner-link"));
  const within = `${app.dataDir}/organizations/y`;
  for (const [args, said] of [
    [["backup", app.dataDir, within], `"${within}" lies in "${app.dataDir}"`],
    [["backup", app.dataDir, join(folder, "inner-link", "y")], `inner-link/y" lies in "`],
    [["backup", app.dataDir, `${app.dataDir}/../${basename(app.dataDir)}/b`], "choose a TARGET"],
    [["restore", backup, `${backup}/in`], `in" lies in "${backup}": choose a DIR outside of it`],
    [["restore", backup, dirname(backup)], `"${backup}" lies in "${folder}"`],
  ] as const) {
    const { code, out, error } = await run(args);
    assert.deepEqual([code, out], [1, ""]);
    assert.ok(error.includes(said), error);
  }
  assert.ok(!(await readdir(join(app.dataDir, "organizations"))).includes("y"));
  await openBackup(systemFiles, backup); // contains no new file
  assert.equal((await run(["backup", app.dataDir, `${app.dataDir}-2`])).code, 0);
  await rm(`${app.dataDir}-2`, { recursive: true });
});

test("after a failed backup the server removes the staged files", IN_TIME, async (t) => {
  assert.equal((await run(["backup", app.dataDir, join(folder, "held")])).code, 1);
  await stagedFilesAreGone(t);
});

test("a restore does not follow a link, and names the path to use instead", async () => {
  await mkdir(join(folder, "meant"));
  await symlink(join(folder, "meant"), join(folder, "link"));
  const { code, error } = await run(["restore", join(folder, "held"), join(folder, "link")]);
  assert.equal(code, 1);
  assert.match(error, /link" cannot be replaced \(ENOTDIR\): name the directory itself/);
  assert.deepEqual(await readdir(join(folder, "meant")), []);
  const left = (await readdir(folder)).filter((name) => name.includes(".link-"));
  assert.deepEqual(left, []);
});
