/** The key that signs logs: given, changed, and refused. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  newPrivateKey,
  openNote,
  parseVkey,
  pemOf,
  privateKeyOf,
  signerOf,
  vkeyOf,
} from "../../src/proof/note.ts";
import { run } from "../support/command-line.ts";
import { newDirectory } from "../support/server-process.ts";
import { start, type App } from "../support/start.ts";

const V1 = "/api/v1";
const ON = { checkpointSeconds: 86_400 } as const;
const LOG = "signalbox/default/audit";

const folder = await newDirectory({ after });
const pem = pemOf(newPrivateKey());
const file = join(folder, "key.pem");
await writeFile(file, pem, { mode: 0o600 });

const vkeyIn = (text: string): string => vkeyOf(signerOf(LOG, privateKeyOf(text)));

async function report(app: App, count: number): Promise<void> {
  const events = Array.from({ length: count }, () => ({ command: "git push" }));
  assert.equal((await app.post(`${V1}/audit`, { events })).status, 202);
}

/** The number of keys among these that signed the last checkpoint. */
async function signersOf(app: App, ...texts: string[]): Promise<number> {
  const { text } = await app.get(`${V1}/audit/checkpoint`);
  return openNote(
    text,
    texts.map((key) => parseVkey(vkeyIn(key))),
  ).signers.length;
}

/** The findings of a check. Its notes are those about the audit log, since the activity log is empty. */
async function verify(app: App, ...texts: string[]) {
  const keys = texts.flatMap((text) => ["--key", vkeyIn(text)]);
  const { code, out } = await run(["verify", app.dataDir, ...keys, "--json"]);
  const { problems, notes: all, logs } = JSON.parse(out);
  const notes = all.filter(({ file }: { file: string }) => !file.includes("/activity-proof/"));
  return { code, problems, notes, covered: logs[0].covered };
}

for (const [what, given] of [
  ["text", pem],
  ["text in one line", pem.replaceAll("\n", "\\n")],
  ["the path of a file", file],
] as const) {
  test(`a key that is given as ${what} signs, and none is kept in the directory`, async (t) => {
    const app = await start(t, { ...ON, logSigningKey: given });
    await report(app, 1);
    assert.equal(await signersOf(app, pem), 1);
    assert.equal((await app.get(`${V1}/audit/verifier`)).text, `${vkeyIn(pem)}\n`);
    await assert.rejects(stat(join(app.dataDir, "log-key")), { code: "ENOENT" });
  });
}

test("log-key prints the public key of a given file", async () => {
  const { code, out } = await run(["log-key", LOG, "--private-key", file]);
  assert.deepEqual([code, out], [0, `${vkeyIn(pem)}\n`]);
  const both = await run(["log-key", LOG, "--private-key", file, "--data", folder]);
  assert.match(both.error, /--data: not with --private-key/);
  const missing = await run(["log-key", LOG, "--private-key", join(folder, "none")]);
  assert.match(missing.error, /--private-key: .*\(ENOENT\)/);
});

test("the first checkpoint of a new key is signed by the old one too, and later ones are not", async (t) => {
  const app = await start(t, ON);
  await report(app, 300);
  await app.restart();
  const old = await readFile(join(app.dataDir, "log-key"), "utf8");
  await app.restart({ logSigningKey: file });
  assert.equal(await signersOf(app, old, pem), 2);
  await report(app, 50);
  await app.close();
  for (const keys of [[old], [pem], [old, pem]]) {
    const { code, problems, notes, covered } = await verify(app, ...keys);
    assert.deepEqual([code, problems], [0, []]);
    assert.equal(covered, keys.includes(pem) ? 350 : 300);
    assert.equal(notes.length, keys.length === 2 ? 0 : 1);
  }
  await app.open();
  assert.equal(await signersOf(app, pem), 1);
  await assert.rejects(signersOf(app, old), /not signed by/);
});

test("verify-proof and prove take the old key and the new one", async (t) => {
  const app = await start(t, ON);
  await app.post(`${V1}/audit`, { id: "event-1", command: "git push" });
  await app.close();
  const old = await readFile(join(app.dataDir, "log-key"), "utf8");
  const proof = join(folder, "event.tlog-proof");
  const event = join(folder, "event.json");
  const files = ["--event", event, "--out", proof];
  const keys = ["--key", vkeyIn(pem), "--key", vkeyIn(old)];
  const proven = await run(["prove", "event-1", "--data", app.dataDir, ...keys, ...files]);
  assert.equal(proven.code, 0, proven.error);
  const accepted = await run(["verify-proof", proof, "--event", event, ...keys]);
  assert.equal(accepted.code, 0, accepted.error);
  const refused = await run(["verify-proof", proof, "--event", event, ...keys.slice(0, 2)]);
  assert.equal(refused.code, 1);
  assert.match(refused.error, /not signed by/);
});

test("LOG_SIGNING_KEY_PREVIOUS signs too where the directory does not have the old key", async (t) => {
  const newest = pemOf(newPrivateKey());
  const app = await start(t, { ...ON, logSigningKey: pem });
  await report(app, 3);
  await app.restart({ logSigningKey: newest, logSigningKeyPrevious: file });
  assert.equal(await signersOf(app, pem, newest), 2);
});

test("without the old key the new one signs alone, and verify tells", async (t) => {
  const app = await start(t, ON);
  await report(app, 3);
  await app.close();
  const old = await readFile(join(app.dataDir, "log-key"), "utf8");
  await rm(join(app.dataDir, "log-key"));
  await app.restart({ logSigningKey: pem });
  assert.equal(await signersOf(app, pem), 1);
  await app.close();
  const { code, notes } = await verify(app, pem);
  assert.equal(code, 0);
  assert.match(notes[0].problem, /1 checkpoints of another key were not checked/);
  assert.deepEqual((await verify(app, old, pem)).notes, []);
});

test("a checkpoint of the old key that was changed is a contradiction under the new key", async (t) => {
  const app = await start(t, ON);
  await report(app, 3);
  await app.close();
  const path = join(app.dataDir, "organizations/default/audit-proof/checkpoints.jsonl");
  const text = await readFile(path, "utf8");
  await writeFile(
    path,
    text.replace(/(?<=— \S+ .{20})./, (old) => (old === "A" ? "B" : "A")),
  );
  await app.restart({ logSigningKey: pem });
  await app.post(`${V1}/audit`, { id: "event-1", command: "git push" });
  assert.equal((await app.get(`${V1}/audit/event-1/proof`)).status, 409);
  assert.equal((await app.get("/health")).body.status, "degraded");
});

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const asPem = (key: { export(options: object): string | Buffer }): string =>
  key.export({ format: "pem", type: "pkcs8" }).toString();
const open = join(folder, "open.pem");
await writeFile(open, pem);
await chmod(open, 0o644);
await mkdir(join(folder, "directory"));

const NOT_ED25519 = "expected an Ed25519 private key as PKCS#8 PEM";
const NO_FILE = "expected PEM text that begins with -----BEGIN, or the path of a file";

for (const [what, given, said] of [
  ["an RSA key", asPem(rsa.privateKey), NOT_ED25519],
  ["a key of another curve", asPem(ec.privateKey), NOT_ED25519],
  ["half a PEM text", pem.slice(0, -50), NOT_ED25519],
  ["the body of a PEM text", pem.split("\n")[1] ?? "", `${NO_FILE} (ENOENT)`],
  ["a file that does not exist", join(folder, "none"), `${NO_FILE} (ENOENT)`],
  ["a directory", join(folder, "directory"), "expected a file, found something else"],
  [
    "a file that all users can read",
    open,
    "the file is open to other users (mode 644), expected mode 600, or 640 for a group that may read it",
  ],
] as const) {
  test(`${what} is refused at the start, in one line without a word of it`, async (t) => {
    const app = await start(t);
    for (const option of ["logSigningKey", "logSigningKeyPrevious"]) {
      await assert.rejects(app.restart({ ...ON, logSigningKey: pem, [option]: given }), {
        name: "ConfigError",
        message: `${option}: ${said}`,
      });
    }
    await assert.rejects(app.restart({ logSigningKey: pem, checkpointSeconds: 0 }), {
      message: "logSigningKey: needs checkpointSeconds above 0, or no checkpoint is made",
    });
  });
}
