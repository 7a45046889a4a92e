import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { startSignalbox } from "../../src/index.ts";
import { run } from "../support/command-line.ts";
import { newDirectory } from "../support/server-process.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const app = await start({ after }, { ...ADMIN_SETTINGS, requireAuth: true });
const admin = await app.asUser(ADMIN);

const POLICY = ["validate", "test", "diff", "replay", "publish", "activate", "list", "pull"].map(
  (name) => `policy ${name}`,
);
const ROLLOUT = ["start", "status", "advance", "pause", "resume", "roll-back"].map(
  (name) => `policy rollout ${name}`,
);
const COMMANDS = [
  "serve",
  "verify",
  "backup",
  "restore",
  "move",
  "user add",
  "key create",
  "log-key",
  "prove",
  "verify-proof",
  ...POLICY,
  ...ROLLOUT,
];

test("help lists every command, and each command has its own help", async () => {
  const { code, out, error } = await run(["--help"]);
  assert.deepEqual([code, error], [0, ""]);
  for (const name of COMMANDS) {
    assert.match(out, new RegExp(`^ {2}${name} `, "m"));
    const own = await run([...name.split(" "), "--help"]);
    assert.deepEqual([own.code, own.error], [0, ""]);
    assert.ok(own.out.startsWith(`Usage: signalbox ${name}`), own.out);
  }
  assert.match((await run(["--version"])).out, /^signalbox \d+\.\d+\.\d+\n$/);
});

for (const [words, names] of [
  ["policy", [...POLICY, ...ROLLOUT]],
  ["policy rollout", ROLLOUT],
  ["policy rollout retreat", ROLLOUT],
  ["user", ["user add"]],
] as const) {
  test(`"signalbox ${words} --help" lists the commands of the group, and no others`, async () => {
    const { code, out, error } = await run([...words.split(" "), "--help"]);
    assert.deepEqual([code, error], [0, ""]);
    const listed = out.split("\n").flatMap((line) => /^ {2}(\S.*?) {2}/.exec(line)?.[1] ?? []);
    assert.deepEqual(listed, names);
    const group = words.replace(" retreat", "");
    assert.ok(out.startsWith(`Usage: signalbox ${group} COMMAND `), out);
  });
}

for (const [args, said] of [
  [[], "signalbox: No command; see signalbox --help\n"],
  [["frobnicate"], 'signalbox: No command "frobnicate"; see signalbox --help\n'],
  [
    ["policy", "publisch", "FILE"],
    'signalbox: No command "policy publisch"; see signalbox policy --help\n',
  ],
  [
    ["policy", "rollout"],
    "signalbox: policy rollout: expected start, status, advance, pause, resume or roll-back after it; see signalbox policy rollout --help\n",
  ],
  [["key"], "signalbox: key: expected create after it; see signalbox key --help\n"],
  [
    ["policy", "publish", "p.yaml", "--notes", "x"],
    "signalbox policy publish: --notes: unknown option, did you mean --note?; see signalbox policy publish --help\n",
  ],
  [
    ["policy", "publish", "p.yaml", "--colour"],
    "signalbox policy publish: --colour: unknown option; see signalbox policy publish --help\n",
  ],
  [
    ["key", "create", "--name", "ci", "--scopes", "polcy"],
    'signalbox key create: --scopes: expected runtime, report or policy instead of "polcy"; see signalbox key create --help\n',
  ],
  [["verify"], "signalbox verify: DIR is missing; see signalbox verify --help\n"],
  [["backup", "a"], "signalbox backup: TARGET is missing; see signalbox backup --help\n"],
  [
    ["restore", "a", "b", "c"],
    'signalbox restore: "c" is not expected; see signalbox restore --help\n',
  ],
  [
    ["verify", ""],
    "signalbox verify: DIR: was empty, expected a directory; see signalbox verify --help\n",
  ],
  [
    ["backup", "a", ""],
    "signalbox backup: TARGET: was empty, expected a directory; see signalbox backup --help\n",
  ],
  [
    ["restore", "a", ""],
    "signalbox restore: DIR: was empty, expected a directory; see signalbox restore --help\n",
  ],
  [
    ["key", "create", "--name", "k", "--name=z"],
    "signalbox key create: --name: given twice, expected it once; see signalbox key create --help\n",
  ],
  [["key", "create"], "signalbox key create: --name is missing; see signalbox key create --help\n"],
  [
    ["user", "add", "--email", "a@b.c"],
    "signalbox user add: --role is missing; see signalbox user add --help\n",
  ],
  [
    ["user", "add", "--email", "a@b.c", "--role", "king"],
    'signalbox user add: --role: expected admin, operator or viewer instead of "king"; see signalbox user add --help\n',
  ],
  ...["0", "3651", "never", "1.5"].map(
    (days) =>
      [
        ["key", "create", "--name", "k", "--expires", days],
        `signalbox key create: --expires: expected 1 to 3650 days instead of "${days}"; see signalbox key create --help\n`,
      ] as const,
  ),
] as const) {
  test(`"signalbox ${args.join(" ")}" is a usage error`, async () => {
    assert.deepEqual(await run(args), { code: 2, out: "", error: said });
  });
}

test("an unknown option is one line, and exit code 2", async () => {
  const { code, error } = await run(["verify", "--frob", "."]);
  assert.equal(code, 2);
  assert.match(error, /^signalbox verify: [^\n]*--frob[^\n]*\n$/);
});

test("a directory without data is reported, and stays unchanged", async (t) => {
  const directory = await newDirectory(t);
  for (const args of [
    ["verify", directory],
    ["backup", directory, `${directory}/b`],
  ]) {
    const { code, error } = await run(args);
    assert.equal(code, 1);
    assert.match(error, /is not a data directory[^\n]*\n$/);
  }
  assert.deepEqual(await readdir(directory), []);
});

test("an unusable directory is reported in a sentence, with a way out", async (t) => {
  const directory = await newDirectory(t);
  const file = join(directory, "file");
  await writeFile(file, "");
  const long = join(directory, "x".repeat(300));
  for (const [args, said] of [
    [
      ["verify", file],
      'file/format.json" is a file, or is inside a file (ENOTDIR): choose a directory',
    ],
    [["backup", file, directory], "is a file, or is inside a file (ENOTDIR)"],
    [["backup", app.dataDir, file], `"${file}" is a file, or is inside a file (ENOTDIR)`],
    [["backup", app.dataDir, long], "has too long a name (ENAMETOOLONG): choose another path"],
    [["restore", file, join(directory, "new")], "is a file, or is inside a file (ENOTDIR)"],
    [
      ["restore", join(directory, "b"), join(file, "new")],
      "is a file, or is inside a file (ENOTDIR)",
    ],
    [["key", "create", "--name", "k", "--data", file], "is a file, or is inside a file (ENOTDIR)"],
  ] as const) {
    const { code, out, error } = await run(args);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(error, /^signalbox [a-z ]+: "[^\n]+\n$/);
    assert.ok(error.includes(said), error);
  }
});

/** Runs a change while the server runs, and again while it does not. */
async function inBothWays(args: readonly string[][], password?: string) {
  const running = await run([...(args[0] ?? []), "--data", app.dataDir], password);
  assert.deepEqual([running.code, running.error.includes("failed")], [0, false], running.error);
  await app.close();
  const stopped = await run([...(args[1] ?? []), "--data", app.dataDir], password);
  await app.open();
  assert.equal(stopped.code, 0, stopped.error);
  return [running, stopped] as const;
}

async function commandEntries(action: string): Promise<readonly { target: { name: string } }[]> {
  const answer = await app.get(`/api/v1/activity?actor=command&action=${action}`, admin);
  return answer.body.entries;
}

test("user add creates a user who can sign in, and leaves an entry, server or not", async () => {
  const password = "a password to remember";
  const added = (email: string) => ["user", "add", "--email", email, "--role", "operator"];
  const ran = await inBothWays([added("one@example.com"), added("two@example.com")], password);
  for (const { out, error } of ran) {
    assert.match(out, /^Created operator (one|two)@example\.com \(\w+\)\n$/);
    assert.ok(!(out + error).includes(password));
  }
  for (const email of ["one@example.com", "two@example.com"]) await app.asUser({ email, password });
  const entries = await commandEntries("user.create");
  assert.deepEqual(entries.map(({ target }) => target.name).sort(), [
    "one@example.com",
    "two@example.com",
  ]);
  assert.ok(!JSON.stringify(entries).includes(password));
});

test("key create prints a key that works, and leaves an entry, server or not", async () => {
  const ran = await inBothWays([
    ["key", "create", "--name", "one"],
    ["key", "create", "--name", "two", "--expires", "30"],
  ]);
  assert.doesNotMatch(ran[0].error, /expires/);
  assert.match(ran[1].error, /, which expires at 2026-12-20T20:30:00\.000Z\. Store this key now/);
  for (const { out } of ran) {
    assert.match(out, /^sbx_[A-Za-z0-9_-]{43}\n$/);
    const answer = await app.get("/api/v1/audit", { "x-api-key": out.trim() });
    assert.equal(answer.status, 200);
  }
  const entries = await commandEntries("key.create");
  assert.deepEqual(entries.map(({ target }) => target.name).sort(), ["one", "two"]);
  assert.ok(!JSON.stringify(entries).includes(ran[0].out.trim()));
});

test("key create does not create a mistyped directory", async (t) => {
  const missing = join(await newDirectory(t), "no-such-data");
  const { code, out, error } = await run(["key", "create", "--name", "k", "--data", missing]);
  assert.deepEqual([code, out], [1, ""]);
  assert.match(error, /no-such-data" is not a data directory: it has no format\.json\n$/);
  assert.equal(existsSync(missing), false);
});

test("key create limits a key to its scope", async () => {
  const ran = await inBothWays([
    ["key", "create", "--name", "reporter", "--scopes", "report"],
    ["key", "create", "--name", "runtimes", "--scopes", "runtime"],
  ]);
  const [limited, runtime] = ran.map(({ out }) => ({ "x-api-key": out.trim() }));
  assert.equal((await app.post("/api/v1/audit", { command: "git push" }, limited)).status, 202);
  assert.equal((await app.get("/api/v1/audit", limited)).status, 403);
  assert.equal((await app.get("/api/v1/audit", runtime)).status, 200);
});

for (const [what, args, password, said] of [
  ["an email that is taken", ["--email", ADMIN.email], "long enough 1", /exists already/],
  ["a short password", ["--email", "x@example.com"], "short", /password: expected 10/],
  [
    "an unknown organization",
    ["--email", "x@example.com", "--organization", "nope"],
    "long enough 1",
    /organization: there is none/,
  ],
] as const) {
  test(`user add refuses ${what} in one line`, async () => {
    const asked = ["user", "add", "--role", "viewer", ...args, "--data", app.dataDir];
    const { code, out, error } = await run(asked, password);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(error, said);
    assert.match(error, /^signalbox user add: [^\n]+\n$/);
  });
}

test("only the owner can open the socket; it is removed with the server, and replaced after a kill", async () => {
  const socket = join(app.dataDir, "socket");
  const found = await stat(socket);
  assert.deepEqual([found.isSocket(), found.mode & 0o777], [true, 0o600]);
  await app.close();
  assert.ok(!(await readdir(app.dataDir)).includes("socket"));
  await writeFile(socket, "");
  await app.open();
  assert.ok((await stat(socket)).isSocket());
});

test("a directory with a path too long for a socket is served, with a warning in the log", async (t) => {
  const folder = await newDirectory(t);
  const dataDir = join(folder, "d".repeat(120));
  const lines: string[] = [];
  const writeLog = (line: string) => void lines.push(line);
  const service = await startSignalbox({ dataDir, logLevel: "warn", writeLog });
  assert.equal((await fetch(`${service.url}/health`)).status, 200);
  assert.match(lines.join(""), /commands cannot reach this server.*longer than 100 bytes/);
  const refused = await run(["key", "create", "--name", "k", "--data", dataDir]);
  assert.equal(refused.code, 1);
  assert.match(refused.error, /in use by process/);
  await service.close();
});

test("names are printed without terminal escape sequences", async () => {
  const { code, error } = await run([
    "key",
    "create",
    "--name",
    "\u001b[31mx",
    "--data",
    app.dataDir,
  ]);
  assert.equal(code, 0);
  assert.ok(error.startsWith('Created the key "\\u001b[31mx" ('), error);
});
