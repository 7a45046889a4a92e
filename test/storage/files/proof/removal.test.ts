/** A server may be killed, or a backup begun, at any moment of a removal by retention: no event seems to be missing. */
import assert from "node:assert/strict";
import { appendFile, cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { createLog } from "../../../../src/core/log.ts";
import { newPrivateKey, vkeyOf } from "../../../../src/proof/note.ts";
import { writeBackup } from "../../../../src/storage/backup/backup.ts";
import { stageFiles } from "../../../../src/storage/backup/staging.ts";
import {
  systemFiles,
  type FileOperations,
  type OpenFlags,
} from "../../../../src/storage/file-operations.ts";
import { Notary } from "../../../../src/storage/files/proof/notary.ts";
import { Layout } from "../../../../src/storage/layout.ts";
import { FileAuditStore } from "../../../../src/storage/files/audit.ts";
import { run } from "../../../support/command-line.ts";
import { systemError } from "../../../support/forgetful-files.ts";
import { newDirectory } from "../../../support/server-process.ts";
import { signerFor } from "../../../support/sign-logs.ts";
import { start } from "../../../support/start.ts";

const AUDIT = { organization: "default", log: "audit" } as const;
const key = newPrivateKey();
const vkey = vkeyOf(signerFor("audit", key));

/** A directory with five segments of events, the last one active. */
async function directoryWithSegments(): Promise<string> {
  const app = await start({ after }, { auditSegmentBytes: 64 << 10 });
  for (let i = 0; i < 31; i++) {
    const events = Array.from({ length: 40 }, (_, j) => ({ command: `git push ${i} ${j}` }));
    await app.post("/api/v1/audit", { events });
  }
  await app.close();
  return app.dataDir;
}

const whole = await directoryWithSegments();

/** A copy of it that a server signs. */
async function signed(files: FileOperations = systemFiles) {
  const root = await newDirectory({ after });
  await cp(whole, root, { recursive: true });
  const layout = new Layout(root);
  const { audit } = layout.organization("default");
  const names = (await readdir(audit)).filter((name) => name.endsWith(".jsonl")).sort();
  assert.ok(names.length >= 4);
  const said: string[] = [];
  const open = () =>
    new Notary({
      ...{ files, layout, now: () => 0, keys: { key, earlier: [] }, host: "signalbox.example.com" },
      ...{ seconds: 86_400, writers: [{ committed: [] }] },
      log: createLog(
        "info",
        () => 0,
        (line) => void said.push(line),
      ),
    });
  const notary = open();
  await notary.signGrown();
  const remove = async (name: string): Promise<void> => {
    for (const end of [".jsonl", ".idx"]) {
      await rm(join(audit, name.replace(".jsonl", end)), { force: true });
    }
  };
  return { root, layout, audit, names, said, open, notary, remove };
}

async function assertRight(root: string, kept?: string): Promise<void> {
  const more = kept === undefined ? [] : ["--checkpoint", kept];
  const { code, out } = await run(["verify", root, "--key", vkey, ...more]);
  assert.equal(code, 0, out);
}

test("a removal that is killed before, between and after its files leaves a log that verifies", async () => {
  const { root, names, notary, remove } = await signed();
  const leaving = names.slice(0, 2);
  await notary.beforeRemoval(AUDIT, leaving);
  await assertRight(root);
  for (const name of leaving) {
    await remove(name);
    await assertRight(root);
  }
  await remove(names[2] as string); // which retention has not removed
  const { code, out } = await run(["verify", root, "--key", vkey]);
  assert.equal(code, 1);
  assert.match(out, /before line 1: events \d+ to \d+ are missing/);
});

test("a file in the middle may leave, when the clock was ahead as the ones before it were written", async () => {
  const { root, names, notary, remove, open, audit } = await signed();
  const [, middle] = names as [string, string];
  await notary.beforeRemoval(AUDIT, [middle]);
  await remove(middle);
  await assertRight(root);
  const next = open();
  await next.signGrown();
  await next.close();
  await assertRight(root);
  const oldest = join(audit, names[0] as string);
  const text = await readFile(oldest, "utf8");
  await writeFile(oldest, text.replace("git push 0 1", "git pull 0 1"));
  const { code, out } = await run(["verify", root, "--key", vkey]);
  assert.equal(code, 1);
  assert.match(out, /000000000001\.jsonl: line 2: is not the event that was signed/);
});

test("a checkpoint of the same events that was kept before a removal does not demand what has left", async () => {
  const { root, layout, names, notary, remove } = await signed();
  const { auditProof } = layout.organization("default");
  const kept = join(await newDirectory({ after }), "kept");
  await appendFile(kept, await readFile(join(auditProof, "checkpoints.jsonl")));
  await notary.beforeRemoval(AUDIT, names.slice(0, 1));
  await remove(names[0] as string);
  await assertRight(root, kept);
});

test("a backup during a removal has the events that its checkpoint demands", async () => {
  const { root, layout, audit, names, notary, remove } = await signed();
  const { auditProof } = layout.organization("default");
  let isRemoved = false;
  const files = Object.create(systemFiles, {
    link: {
      async value(from: string, to: string) {
        await systemFiles.link(from, to);
        if (isRemoved || from !== join(auditProof, "position.json")) return;
        isRemoved = true; // the backup has the checkpoints of before
        await notary.beforeRemoval(AUDIT, names.slice(0, 1));
        await remove(names[0] as string);
      },
    },
  }) as FileOperations;
  const staging = await stageFiles(files, layout, () => new Map());
  const backup = await newDirectory({ after });
  await writeBackup(files, { ...staging, created_at: "", version: "0" }, backup);
  await staging.release();
  assert.ok(isRemoved);
  assert.equal((await readdir(audit)).includes(names[0] as string), false);
  await assertRight(backup);
  await assertRight(root);
});

test("a log is signed also if a file leaves while its files are being read", async () => {
  const gone: { name?: string; remove?: (name: string) => Promise<void> } = {};
  const files = Object.create(systemFiles, {
    stat: {
      async value(path: string) {
        const found = await systemFiles.stat(path);
        if (gone.name !== undefined && path.endsWith(gone.name)) await gone.remove?.(gone.name);
        return found;
      },
    },
  }) as FileOperations;
  const { root, names, notary, remove, said } = await signed(files);
  await notary.beforeRemoval(AUDIT, names.slice(0, 1));
  Object.assign(gone, { name: names[0], remove });
  await notary.sign(AUDIT);
  assert.equal(notary.failure, undefined, said.join("\n"));
  await assertRight(root);
});

test("files whose lines cannot be hashed stay, since without them the log could never be signed again", async () => {
  let isFull = false;
  const files = Object.create(systemFiles, {
    open: {
      async value(path: string, flags: OpenFlags) {
        if (isFull && path.includes("hashes-") && flags !== "r") throw systemError("ENOSPC");
        return systemFiles.open(path, flags);
      },
    },
  }) as FileOperations;
  const { root, audit, names, notary, remove, said } = await signed(files);
  const last = names.at(-1) as string; // the tree goes on in it
  isFull = true;
  await appendFile(join(audit, last), await readFile(join(audit, names[0] as string)));
  await notary.beforeRemoval(AUDIT, names.slice(0, 1)); // its lines are leaves
  await remove(names[0] as string);
  const removing = notary.beforeRemoval(AUDIT, [names[1] as string, last]);
  void notary.sign(AUDIT); // opens the tree again meanwhile
  assert.deepEqual(await removing, [names[1]]);
  assert.match(said.join(), new RegExp(`stay until it is signed again.*"from":"${last}"`));
  isFull = false;
  await notary.beforeRemoval(AUDIT, names.slice(1, 2));
  await remove(names[1] as string);
  await assertRight(root);
});

test("a file whose first write failed, and which was removed, is not missing", async () => {
  const { root, audit, names, notary, remove } = await signed();
  const file = (number: number): string => `${String(number).padStart(12, "0")}.jsonl`;
  const next = names.length + 1;
  await writeFile(join(audit, file(next)), "");
  await notary.sign(AUDIT); // between the creation of the file and its first line
  await remove(file(next));
  await assertRight(root);
  await notary.sign(AUDIT);
  await cp(join(audit, names[0] as string), join(audit, file(next + 1)));
  await notary.sign(AUDIT);
  assert.equal(notary.failure, undefined);
  assert.deepEqual(Object.keys(notary.openTree(AUDIT)?.position?.starts ?? {}), [
    ...names,
    file(next + 1),
  ]);
  await assertRight(root);
});

test("a removal that failed is repeated by the next one, and stops no other organization's", async () => {
  const root = await newDirectory({ after });
  await cp(whole, root, { recursive: true });
  const layout = new Layout(root);
  const { audit } = layout.organization("default");
  const said: string[] = [];
  let failures = 1;
  const store = new FileAuditStore({
    ...{ files: systemFiles, layout, now: Date.now, durability: "sync", segmentBytes: 64 << 10 },
    log: createLog(
      "info",
      () => 0,
      (line) => void said.push(line),
    ),
    removing: () => {
      if (failures-- > 0) throw new Error("the disk is full");
    },
  });
  after(() => store.close());
  const segments = async () => (await readdir(audit)).filter((name) => name.endsWith(".jsonl"));
  const before = (await segments()).length;
  assert.deepEqual(await store.retain(undefined, Infinity), []);
  assert.match(said.join(), /audit retention failed.*"organization":"default".*the disk is full/);
  assert.equal((await segments()).length, before);
  await store.retain(undefined, Infinity);
  assert.equal((await segments()).length, 1);
});
