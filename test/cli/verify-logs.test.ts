/** `signalbox verify --key` finds every change of a log that was signed. */
import assert from "node:assert/strict";
import { appendFile, cp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { readEvidence } from "../../src/cli/proof-evidence.ts";
import { newPrivateKey, signerOf, vkeyOf } from "../../src/proof/note.ts";
import { verifyDirectory } from "../../src/storage/files/verify/directory.ts";
import { Layout } from "../../src/storage/layout.ts";
import { run, type Ran } from "../support/command-line.ts";
import { newDirectory } from "../support/server-process.ts";
import { linesOfLog, noteAt, signerFor, signLog } from "../support/sign-logs.ts";
import { ADMIN, ADMIN_SETTINGS, start } from "../support/start.ts";

const OWN = "organizations/default";
const key = newPrivateKey();
const vkey = vkeyOf(signerFor("audit", key));

/** A data directory with 620 events in some segments, and entries of the activity log. */
async function largeDirectory(): Promise<string> {
  const app = await start({ after }, { ...ADMIN_SETTINGS, auditSegmentBytes: 64 << 10 });
  const admin = await app.asUser(ADMIN);
  await app.createKey("k", admin);
  for (let i = 0; i < 31; i++) {
    const events = Array.from({ length: 20 }, (_, j) => ({ command: `git push ${i} ${j}` }));
    await app.post("/api/v1/audit", { events }, admin);
  }
  await app.close();
  await signLog(app.dataDir, "audit", key, [20, 300, 400]);
  await signLog(app.dataDir, "activity", key);
  return app.dataDir;
}

const large = await largeDirectory();
const folder = await newDirectory({ after });

async function copy(root = large): Promise<string> {
  const target = await newDirectory({ after });
  await cp(root, target, { recursive: true });
  return target;
}

const verify = (root: string, ...more: string[]): Promise<Ran> =>
  run(["verify", root, "--key", vkey, ...more]);

async function problemsOf(root: string, ...more: string[]): Promise<readonly string[]> {
  const { code, out, error } = await verify(root, "--json", ...more);
  const { problems } = JSON.parse(out || error) as {
    problems: { file: string; problem: string }[];
  };
  assert.equal(code, problems.length > 0 ? 1 : 0);
  return problems.map(({ file, problem }) => `${file}: ${problem}`);
}

/** The notes of a check that finds no problem, without their places. */
async function notesOf(root: string, ...more: string[]): Promise<readonly string[]> {
  const { code, out } = await verify(root, "--json", ...more);
  assert.equal(code, 0);
  const { notes } = JSON.parse(out) as { notes: { problem: string }[] };
  return notes.map(({ problem }) => problem);
}

/** The segments that hold events. */
async function segmentsOf(root: string): Promise<readonly string[]> {
  const names = await readdir(join(root, OWN, "audit"));
  const paths = names.filter((name) => name.endsWith(".jsonl")).sort();
  const sizes = await Promise.all(
    paths.map(async (name) => (await readFile(join(root, OWN, "audit", name))).length),
  );
  return paths.filter((_, i) => sizes[i] !== 0).map((name) => `${OWN}/audit/${name}`);
}

/** Changes the lines of a file. */
async function edit(path: string, change: (lines: string[]) => unknown): Promise<void> {
  const lines = (await readFile(path, "utf8")).split("\n");
  change(lines);
  await writeFile(path, lines.join("\n"));
}

async function keep(text: string): Promise<string> {
  const file = join(folder, "kept");
  await writeFile(file, text);
  return file;
}

test("an intact directory passes, and says how far the checkpoints reach", async () => {
  const { code, out, error } = await verify(large);
  assert.deepEqual([code, error], [0, ""], out);
  assert.match(out, /^default audit: 620 events, 620 confirmed by checkpoints\n/m);
  const entries = (await linesOfLog(large, "activity")).length;
  const said = `default activity: ${entries} events, ${entries} confirmed by checkpoints\n`;
  assert.ok(out.includes(said), out);
  const { out: json } = await verify(large, "--json");
  assert.deepEqual(JSON.parse(json).logs[0], {
    ...{ organization: "default", log: "audit", first: 0, events: 620, covered: 620 },
  });
});

test("events after the last checkpoint are counted as not confirmed", async () => {
  const root = await copy();
  await signLog(root, "audit", key, [], (await linesOfLog(root, "audit")).slice(0, 600));
  assert.match((await verify(root)).out, /^default audit: 620 events, 600 confirmed/m);
});

test("the key of another log of the server serves as well, another key does not", async () => {
  const activity = vkeyOf(signerFor("activity", key));
  assert.equal((await run(["verify", large, "--key", activity])).code, 0);
  const other = vkeyOf(signerOf("signalbox.example.com/default/audit", newPrivateKey()));
  const { code, out } = await run(["verify", large, "--key", other]);
  assert.equal(code, 1);
  assert.match(out, /audit-proof\/checkpoints\.jsonl: line 1: not signed by signalbox\.example/);
});

type Damage = (root: string, segments: readonly string[]) => Promise<unknown>;
const inSecond =
  (change: (lines: string[]) => unknown): Damage =>
  (root, [, second = ""]) =>
    edit(join(root, second), change);

const TAMPERINGS: readonly (readonly [what: string, said: RegExp, damage: Damage])[] = [
  [
    "a changed word",
    /^[^:]*0002\.jsonl: line 5: is not event \d+: its leaf is [\w+/]{43}=, expected [\w+/]{43}=$/m,
    inSecond((lines) => (lines[4] = lines[4]?.replace("git push", "git pull") ?? "")),
  ],
  [
    "a removed line",
    /0002\.jsonl: before line 5: event \d+ is missing$/m,
    inSecond((lines) => lines.splice(4, 1)),
  ],
  [
    "an added line",
    /0002\.jsonl: line 5: was added$/m,
    inSecond((lines) => lines.splice(4, 0, lines[4]?.replace(/"id":"./, '"id":"_') ?? "")),
  ],
  [
    "a repeated line",
    /0002\.jsonl: line 6: repeats event \d+$/m,
    inSecond((lines) => lines.splice(4, 0, lines[4] ?? "")),
  ],
  [
    "two lines swapped",
    /0002\.jsonl: line 5: is event \d+, which was moved here$/m,
    inSecond((lines) => lines.splice(4, 2, lines[5] ?? "", lines[4] ?? "")),
  ],
  [
    "a removed segment",
    /0003\.jsonl: before line 1: events \d+ to \d+ are missing$/m,
    (root, [, second = ""]) => rm(join(root, second)),
  ],
  [
    "the first segment removed",
    /0002\.jsonl: before line 1: events 0 to \d+ are missing$/m,
    (root, [first = ""]) => rm(join(root, first)),
  ],
  [
    "two segments exchanged, with their indexes",
    /0001\.jsonl: /,
    async (root, [first = "", second = ""]) => {
      for (const suffix of ["jsonl", "idx"]) {
        const [one, two] = [first, second].map((name) => join(root, name.replace("jsonl", suffix)));
        await rename(one ?? "", `${one}.x`);
        await rename(two ?? "", one ?? "");
        await rename(`${one}.x`, two ?? "");
      }
    },
  ],
  [
    "a segment of another server, with its index",
    /0001\.jsonl: line 1: is not event 0/,
    async (root, [first = ""]) => {
      const other = await largeDirectory();
      for (const name of [first, first.replace("jsonl", "idx")]) {
        await cp(join(other, name), join(root, name));
      }
    },
  ],
  [
    "a cut end",
    /0003\.jsonl: after line 130: events 610 to 619 are missing/,
    (root, segments) =>
      edit(join(root, segments.at(-1) ?? ""), (lines) => {
        lines.splice(-11, 10);
        const last = lines.length - 2;
        lines[last] = lines[last]?.trimEnd() ?? "";
      }),
  ],
  [
    "a changed entry of the activity log",
    /activity\.jsonl: line 1: is not event 0: its leaf is/,
    (root) =>
      edit(join(root, OWN, "activity.jsonl"), (lines) => {
        lines[0] = lines[0]?.replace(/("id":".)./, "$1_") ?? "";
      }),
  ],
  [
    "a changed hash",
    /audit-proof\/hashes-0: tile 1: is not that of the events, which are as/,
    async (root) => {
      const path = join(root, OWN, "audit-proof/hashes-0");
      const hashes = await readFile(path);
      await writeFile(path, hashes.fill(0, 9_000, 9_001));
    },
  ],
  [
    "a changed checkpoint",
    /checkpoints\.jsonl: line 2: the signature of .* is wrong/,
    (root) =>
      edit(join(root, OWN, "audit-proof/checkpoints.jsonl"), (lines) => {
        lines[1] = lines[1]?.replace("\\n300\\n", "\\n301\\n") ?? "";
      }),
  ],
  [
    "a strange file among the hashes",
    /audit-proof\/readme: is not a file of Signalbox/,
    (root) => writeFile(join(root, OWN, "audit-proof/readme"), "", { mode: 0o600 }),
  ],
];

for (const [what, said, damage] of TAMPERINGS) {
  test(`${what} is found, with its place`, async () => {
    const root = await copy();
    await damage(root, await segmentsOf(root));
    const problems = (await problemsOf(root)).join("\n");
    assert.match(problems, said);
  });
}

const UNREADABLE: readonly (readonly [what: string, said: RegExp, damage: Damage])[] = [
  ...["null", "[]", "{}", ""].map(
    (text) =>
      [
        `"${text}" as the position`,
        /^[^\n]*audit-proof\/position\.json: it is not (?:a position in a log|JSON)$/m,
        (root: string) => writeFile(join(root, OWN, "audit-proof/position.json"), text),
      ] as const,
  ),
  [
    "no position",
    /activity-proof: its hashes are not those of its last checkpoint$/m,
    (root) => rm(join(root, OWN, "activity-proof/position.json")),
  ],
  [
    "an empty file of hashes",
    /activity-proof: its hashes are damaged$/m,
    (root) => writeFile(join(root, OWN, "activity-proof/hashes-0"), ""),
  ],
  [
    "a log that is shorter than its tree",
    /activity-proof: activity\.jsonl is shorter than when it was signed$/m,
    (root) => edit(join(root, OWN, "activity.jsonl"), (lines) => lines.splice(-2, 1)),
  ],
];

for (const [what, said, damage] of UNREADABLE) {
  test(`${what} is found, with and without a key`, async () => {
    const root = await copy();
    await damage(root, await segmentsOf(root));
    for (const args of [[], ["--key", vkey]]) {
      const { code, out } = await run(["verify", root, ...args]);
      assert.equal(code, 1, out);
      assert.match(out, said);
    }
  });
}

test("logs that are checked in a thread have the same findings", async () => {
  const changed = await copy();
  const [, second = ""] = await segmentsOf(changed);
  await edit(join(changed, second), (lines) => lines.splice(4, 1));
  const kept = noteAt(await linesOfLog(large, "audit"), 500, signerFor("audit", key));
  const evidence = await readEvidence([vkey], [await keep(kept)]);
  for (const root of [large, changed]) {
    const [inThread, here] = await Promise.all(
      [0, Infinity].map(async (bytes) => {
        const report = await verifyDirectory(new Layout(root), evidence, bytes);
        return [report.problems, report.notes, report.logs];
      }),
    );
    assert.deepEqual(inThread, here);
    assert.equal(here?.[0]?.length, root === large ? 0 : 2);
  }
});

test("a log that was rewound with its tree is found by a kept checkpoint alone", async () => {
  const lines = await linesOfLog(large, "audit");
  const kept = await keep(noteAt(lines, 620, signerFor("audit", key)));
  assert.deepEqual(await problemsOf(large, "--checkpoint", kept), []);
  const root = await copy();
  for (const name of (await segmentsOf(root)).slice(-1)) await rm(join(root, name));
  await rm(join(root, OWN, "audit-proof"), { recursive: true });
  await signLog(root, "audit", key);
  assert.deepEqual(await problemsOf(root), []);
  assert.match(
    (await problemsOf(root, "--checkpoint", kept)).join(),
    /log ends after \d+ events, and the checkpoint in .*kept is of 620/,
  );
});

test("a log that was written and signed anew is found by a kept checkpoint alone", async () => {
  const lines = await linesOfLog(large, "audit");
  const notes = [300, 400].map((size) => noteAt(lines, size, signerFor("audit", key)));
  const root = await copy();
  const [first = ""] = await segmentsOf(root);
  await edit(join(root, first), (own) => (own[0] = own[0]?.replace("push", "pull") ?? ""));
  await rm(join(root, first.replace("jsonl", "idx")));
  await signLog(root, "audit", key);
  assert.deepEqual(await problemsOf(root), []);
  const kept = await keep(notes.join(""));
  const said = (await problemsOf(root, "--checkpoint", kept)).join();
  assert.match(said, /lines? 1 to .*: events 0 to 299 are not those of the checkpoint in .*kept$/);
  await rm(join(root, OWN, "audit-proof"), { recursive: true });
  assert.match((await problemsOf(root, "--checkpoint", kept)).join(), /events 0 to 299 are not/);
});

test("a copy of the stored checkpoints serves as kept ones, and names a log that is gone", async () => {
  const stored = await readFile(join(large, OWN, "audit-proof/checkpoints.jsonl"), "utf8");
  const kept = await keep(stored);
  assert.deepEqual(await problemsOf(large, "--checkpoint", kept), []);
  const name = "signalbox.example.com/acme/audit";
  await appendFile(kept, `${JSON.stringify({ note: noteAt([], 0, signerOf(name, key)) })}\n`);
  assert.deepEqual(await problemsOf(large, "--checkpoint", kept), [
    `organizations: the log ${name}, of ${kept}, is missing`,
  ]);
});

test("events that retention removed are told apart from missing ones", async () => {
  const root = await copy();
  const [first = ""] = await segmentsOf(root);
  const lines = await linesOfLog(root, "audit");
  const removed = (await readFile(join(root, first), "utf8")).split("\n").length - 1;
  for (const suffix of ["jsonl", "idx"]) await rm(join(root, first.replace("jsonl", suffix)));
  assert.notDeepEqual(await problemsOf(root), []);
  const record = noteAt(lines, 620, signerFor("audit", key), [`first ${removed}`]);
  const path = join(root, OWN, "audit-proof/checkpoints.jsonl");
  await appendFile(path, `${JSON.stringify({ note: record })}\n`);
  const { code, out } = await verify(root);
  assert.equal(code, 0, out);
  const said = `620 events, ${removed} of them removed by retention, 620 confirmed by checkpoints`;
  assert.ok(out.includes(said), out);
});

test("events that no checkpoint of the key confirms are a problem, with the way out", async () => {
  const root = await copy();
  const [segment = ""] = await segmentsOf(root);
  await edit(
    join(root, segment),
    (lines) => (lines[3] = lines[3]?.replace("git push", "git pull") ?? ""),
  );
  await rm(join(root, OWN, "audit-proof"), { recursive: true });
  const [problem = "", ...others] = await problemsOf(root);
  assert.match(
    problem,
    /audit-proof\/checkpoints.jsonl: no checkpoint that the key signed confirms the 620 events of the audit log/,
  );
  assert.match(
    problem,
    /removed, or no server has signed .* CHECKPOINT_SECONDS .* verify without --key/,
  );
  assert.deepEqual(others, []);
  const kept = await keep(noteAt(await linesOfLog(root, "audit"), 620, signerFor("audit", key)));
  assert.deepEqual(await problemsOf(root, "--checkpoint", kept), []);
});

test("an empty log needs no checkpoint, and a note says that it proves nothing without one", async () => {
  const app = await start({ after });
  await app.close();
  assert.match(
    (await notesOf(app.dataDir)).join("\n"),
    /^the audit log is empty, which proves nothing .*\nthe activity log is empty, which .*$/,
  );
  assert.match((await verify(app.dataDir)).out, /^note: .*: the audit log is empty/m);
});

test("a log that was emptied with its tree is found by a kept checkpoint alone", async () => {
  const root = await copy();
  const kept = await keep(noteAt(await linesOfLog(root, "audit"), 400, signerFor("audit", key)));
  await rm(join(root, OWN, "audit"), { recursive: true });
  await rm(join(root, OWN, "audit-proof"), { recursive: true });
  const [note = "", ...others] = await notesOf(root);
  assert.match(note, /^the audit log is empty, which proves nothing without a checkpoint that was/);
  assert.deepEqual(others, []);
  assert.match(
    (await problemsOf(root, "--checkpoint", kept)).join(),
    /log ends after 0 events, and .* is of 400/,
  );
});

test("a kept line that is cut off is mentioned with its number", async () => {
  const stored = await readFile(join(large, OWN, "audit-proof/checkpoints.jsonl"), "utf8");
  assert.deepEqual(await notesOf(large, "--checkpoint", await keep(stored)), []);
  const kept = await keep(stored.slice(0, -9));
  const line = stored.trimEnd().split("\n").length;
  assert.deepEqual(await notesOf(large, "--checkpoint", kept), [
    `line ${line} of ${kept} is cut off: its checkpoint was not compared`,
  ]);
});

test("a stored checkpoint that is cut off is mentioned", async () => {
  const root = await copy();
  const file = join(root, OWN, "audit-proof/checkpoints.jsonl");
  await writeFile(file, (await readFile(file, "utf8")).slice(0, -9));
  assert.deepEqual(await notesOf(root), [
    "its last line is cut off: its checkpoint was not compared",
  ]);
});

test("each flipped byte of a small log is found", async () => {
  const app = await start({ after }, ADMIN_SETTINGS);
  const events = ["git log", "git push"].map((command) => ({ command }));
  await app.post("/api/v1/audit", { events }, await app.asUser(ADMIN));
  await app.close();
  await signLog(app.dataDir, "audit", key, [1]);
  await signLog(app.dataDir, "activity", key);
  const file = join(app.dataDir, (await segmentsOf(app.dataDir))[0] ?? "");
  const bytes = await readFile(file);
  for (let at = 0; at < bytes.length; at++) {
    const other = Buffer.from(bytes);
    other[at] = (other[at] as number) ^ 1;
    await writeFile(file, other);
    const problems = await problemsOf(app.dataDir);
    const about = problems.filter((problem) => /^organizations\/default\/audit[/:]/.test(problem));
    assert.ok(about.length > 0, `byte ${at}`);
  }
  await writeFile(file, bytes);
  assert.deepEqual(await problemsOf(app.dataDir), []);
});

for (const [what, args, said] of [
  ["a word as the key", ["--key", "x"], /--key: expected the key as NAME\+ID\+BASE64/],
  ["a checkpoint without a key", ["--checkpoint", "x"], /--checkpoint: needs --key/],
  ["a missing file", ["--key", vkey, "--checkpoint", "none"], /none: does not exist/],
  [
    "a directory beside a database",
    ["--key", vkey, "--database", "postgres://x/y"],
    /is not expected/,
  ],
] as const) {
  test(`${what} is exit code 2`, async () => {
    const { code, out, error } = await run(["verify", large, ...args]);
    assert.deepEqual([code, out], [2, ""]);
    assert.match(error, said);
  });
}

test("a kept checkpoint that the key did not sign is refused, and so is an empty file", async () => {
  const signer = signerOf("signalbox.example.com/default/audit", newPrivateKey());
  for (const text of [noteAt([], 0, signer), "", "{}\n", "words"]) {
    const { code, error } = await verify(large, "--checkpoint", await keep(text));
    assert.equal(code, 2);
    assert.match(error, /kept: (?:not signed by|has no checkpoint|a note has|key name)/);
  }
});
