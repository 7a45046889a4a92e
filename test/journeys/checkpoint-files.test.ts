/** Signed checkpoints in a data directory and its backups, and their copies. */
import assert from "node:assert/strict";
import { cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { newPrivateKey, privateKeyOf, signerOf, vkeyOf } from "../../src/proof/note.ts";
import { systemFiles } from "../../src/storage/file-operations.ts";
import { KeptCopies } from "../../src/signed-logs/kept-copies.ts";
import { Notary } from "../../src/storage/files/proof/notary.ts";
import { Layout } from "../../src/storage/layout.ts";
import { run } from "../support/command-line.ts";
import { newDirectory } from "../support/server-process.ts";
import { report, SETTINGS } from "../support/signing-app.ts";
import { start } from "../support/start.ts";
import { silent } from "../support/silent-log.ts";

async function vkeyIn(root: string): Promise<string> {
  const key = privateKeyOf(await readFile(join(root, "log-key"), "utf8"));
  return vkeyOf(signerOf("signalbox.example.com/default/audit", key));
}

async function verify(root: string, ...more: string[]) {
  const { code, out } = await run(["verify", root, "--key", await vkeyIn(root), ...more, "--json"]);
  const report = JSON.parse(out);
  return { code, problems: report.problems, audit: report.logs[0] };
}

test("a killed server's directory goes on without a contradiction", async (t) => {
  const app = await start(t, SETTINGS);
  await report(app, 300);
  await app.restart();
  assert.equal((await stat(join(app.dataDir, "log-key"))).mode & 0o777, 0o600);
  await report(app, 50);
  const copy = await newDirectory(t);
  await cp(app.dataDir, copy, { recursive: true, filter: (path) => !/lock$|socket$/.test(path) });
  assert.equal((await verify(copy)).audit.covered, 300);
  const { startSignalbox } = await import("../../src/index.ts");
  await (await startSignalbox({ ...SETTINGS, dataDir: copy })).close();
  const { problems, audit } = await verify(copy);
  assert.deepEqual([problems, audit.covered], [[], 350]);
});

test("a backup of a running server holds its checkpoints, and verifies with the server's key", async (t) => {
  const app = await start(t, SETTINGS);
  await report(app, 300);
  await app.restart();
  await report(app, 50);
  const target = join(await newDirectory(t), "backup");
  const { code, error } = await run(["backup", app.dataDir, target]);
  assert.equal(code, 0, error);
  const key = await vkeyIn(app.dataDir);
  const ran = await run(["verify", target, "--key", key]);
  assert.equal(ran.code, 0, ran.out);
  assert.match(ran.out, /default audit: 350 events, 300 confirmed by checkpoints/);
});

test("a restored directory signs with a key of its own, and goes on from its backup", async (t) => {
  const app = await start(t, SETTINGS);
  await report(app, 300);
  await app.restart();
  const [target, restored] = ["backup", "restored"].map((name) =>
    join(app.dataDir, "..", `${app.dataDir}-${name}`),
  );
  t.after(() => Promise.all([target, restored].map((path) => rm(path ?? "", { recursive: true }))));
  assert.equal((await run(["backup", app.dataDir, target ?? ""])).code, 0);
  await assert.rejects(stat(join(target ?? "", "log-key")));
  assert.equal((await run(["restore", target ?? "", restored ?? ""])).code, 0);
  const { startSignalbox } = await import("../../src/index.ts");
  await (await startSignalbox({ ...SETTINGS, dataDir: restored ?? "" })).close();
  assert.notEqual(await vkeyIn(restored ?? ""), await vkeyIn(app.dataDir));
  const own = await verify(restored ?? "");
  assert.deepEqual([own.problems, own.audit.covered], [[], 300]);
  const { code, out } = await run(["verify", restored ?? "", "--key", await vkeyIn(app.dataDir)]);
  assert.equal(code, 0, out);
  assert.match(out, /note: .*audit-proof\/checkpoints\.jsonl: 1 checkpoints of another key/);
});

test("a file for checkpoints that cannot be written degrades the service, and gets them later", async (t) => {
  const root = await newDirectory(t);
  const layout = new Layout(root);
  const { directory, activityLog } = layout.organization("acme");
  await mkdir(directory, { recursive: true });
  await writeFile(activityLog, "{}\n");
  const kept = join(root, "mount", "kept.jsonl");
  const notary = new Notary({
    ...{
      files: systemFiles,
      layout,
      now: () => 0,
      keys: { key: newPrivateKey(), earlier: [] },
      host: "h",
      seconds: 86_400,
      writers: [],
    },
    log: silent,
    copies: new KeptCopies(kept),
  });
  await notary.signGrown();
  assert.match(String(notary.failure), /ENOENT/);
  await mkdir(join(root, "mount"));
  await notary.close();
  assert.equal(notary.failure, undefined);
  assert.match(await readFile(kept, "utf8"), /^\{"note":"h\/acme\/activity\\n1\\n/);
});

test("a file for checkpoints is refused where none are made", async () => {
  const { configFromOptions } = await import("../../src/config.ts");
  assert.throws(
    () => configFromOptions({ dataDir: "x", checkpointFile: "y" }),
    /checkpointFile: needs checkpointSeconds above 0/,
  );
});
