/** Checkpoints that a running server posts to another machine. */
import assert from "node:assert/strict";
import { cp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { configFromOptions } from "../../src/config.ts";
import { SECOND_MS } from "../../src/core/clock.ts";
import { newPrivateKey, openNote, parseVkey, signerOf, signNote } from "../../src/proof/note.ts";
import { verifyProof } from "../../src/proof/tlog-proof.ts";
import { run } from "../support/command-line.ts";
import { NoteReceiver } from "../support/note-receiver.ts";
import { newDirectory } from "../support/server-process.ts";
import { start, type App } from "../support/start.ts";
import { TestWitness } from "../support/test-witness.ts";

const V1 = "/api/v1";
const WITNESS = signerOf("witness.example.com", newPrivateKey());

const settingsFor = ({ url }: NoteReceiver) =>
  ({ checkpointSeconds: 60, checkpointUrl: url, metrics: "open" }) as const;

async function report(app: App, id: string): Promise<string> {
  assert.equal((await app.post(`${V1}/audit`, { id, command: "git push" })).status, 202);
  return (await app.get(`${V1}/audit/${id}`)).text;
}

async function lag(app: App): Promise<number> {
  const { text } = await app.get("/metrics");
  return Number(/^signalbox_checkpoint_delivery_lag_seconds (.*)$/m.exec(text)?.[1]);
}

test("CHECKPOINT_URL is an http or https URL, and a refusal does not show it", () => {
  const read = (checkpointUrl: string, checkpointSeconds = 60) =>
    configFromOptions({ dataDir: "d", checkpointSeconds, checkpointUrl }).checkpointUrl;
  for (const url of ["http://[::1]:8080", "https://u:p%40@w.example/hook?key=s3cret"]) {
    assert.equal(read(url), url);
  }
  for (const url of [
    "w.example",
    "ftp://w",
    "https://u:s3cret%@w",
    "https://w/#s3cret",
    "http://",
  ]) {
    assert.throws(() => read(url), {
      message:
        "checkpointUrl: the value given is not understood, expected an http or https URL without fragment, such as https://witness.example.com/checkpoints",
    });
  }
  assert.throws(() => read("http://w", 0), {
    message: "checkpointUrl: needs checkpointSeconds above 0, or no checkpoint is made",
  });
});

test("the signatures of a witness are kept, and part of the proofs that are made later", async (t) => {
  const receiver = await NoteReceiver.start(t);
  receiver.reply = (note) => {
    const text = note.slice(0, note.lastIndexOf("\n\n") + 1);
    return [200, signNote(text, [WITNESS]).slice(text.length + 1)];
  };
  const app = await start(t, settingsFor(receiver));
  const line = await report(app, "event-0");
  const served = (await app.get(`${V1}/audit/checkpoint`)).text;
  await app.restart(); // the delivery of what waits ends with the stop
  assert.deepEqual(receiver.notes, [served]);
  const key = parseVkey((await app.get(`${V1}/audit/verifier`)).text.trim());
  const kept = (await app.get(`${V1}/audit/checkpoint`)).text;
  assert.equal(openNote(kept, [key, WITNESS]).signers.length, 2);
  const { text: proof } = await app.get(`${V1}/audit/event-0/proof`);
  assert.equal(verifyProof(proof, Buffer.from(line), key).checkpoint.size, 1);
  assert.match(proof, /^— witness\.example\.com /m);
  await app.close();
  const own = [
    "verify",
    app.dataDir,
    "--key",
    (await run(["log-key", "x", "--data", app.dataDir])).out.trim(),
  ];
  const { code, out } = await run(own);
  assert.equal(code, 0, out);
  assert.match(out, /default audit: 1 event, 1 confirmed by checkpoints/);
});

/** A service whose audit log a witness signs, over a receiver that counts the requests. */
async function startWitnessed(t: TestContext) {
  const receiver = await NoteReceiver.start(t);
  const witness = new TestWitness();
  receiver.reply = (request) => witness.answer(request);
  const lines: string[] = [];
  const app = await start(t, {
    ...{ ...settingsFor(receiver), checkpointUrl: `${receiver.url}/w/add-checkpoint` },
    ...{ logLevel: "error", writeLog: (line: string) => void lines.push(line) },
  });
  witness.key = parseVkey((await app.get(`${V1}/audit/verifier`)).text.trim());
  const asked = (): readonly string[] => receiver.notes.map((note) => note.split("\n")[0] ?? "");
  return { app, receiver, witness, lines, asked };
}

test("a witness of C2SP tlog-witness gets a proof with each checkpoint, and signs it", async (t) => {
  const { app, receiver, witness, asked, lines } = await startWitnessed(t);
  for (const [from, to] of [
    [0, 3],
    [3, 300],
    [300, 301],
  ] as const) {
    const events = Array.from({ length: to - from }, (_, i) => ({ id: `event-${from + i}` }));
    assert.equal((await app.post(`${V1}/audit`, { events })).status, 202);
    app.advance(SECOND_MS);
    assert.equal((await app.get(`${V1}/audit/event-${from}/proof`)).status, 200);
    await receiver.got(to === 3 ? 1 : to - 298);
  }
  assert.deepEqual(
    [receiver.received[0]?.request.url, witness.seen?.size],
    ["/w/add-checkpoint", 301],
  );
  await app.restart(); // the server does not remember what the witness has
  await app.close();
  assert.deepEqual(asked(), ["old 0", "old 3", "old 300", "old 0", "old 301"]);
  assert.deepEqual(lines, []);
  await app.open();
  const { text } = await app.get(`${V1}/audit/checkpoint`);
  assert.equal(openNote(text, [witness.key ?? assert.fail(), witness.signer]).signers.length, 2);
});

test("a witness refuses a log that was reset, and the service tells which", async (t) => {
  const { app, witness, lines } = await startWitnessed(t);
  await report(app, "event-0");
  await app.close();
  const copy = join(await newDirectory(t), "copy");
  await cp(app.dataDir, copy, { recursive: true });
  await app.open();
  await report(app, "event-1");
  await app.close();
  assert.equal(witness.seen?.size, 2);
  await rm(app.dataDir, { recursive: true });
  await cp(copy, app.dataDir, { recursive: true });
  await app.open();
  await app.close();
  assert.match(
    lines[0] ?? "",
    /it has signed 2 events of the log, which has 1: the log was reset to an earlier state/,
  );
  await app.open();
  await report(app, "event-2"); // as many as before, but others
  await app.close();
  assert.match(lines[1] ?? "", /refuses the checkpoints of a log.*default\/audit.*status 409/);
});

test("a start sends the last checkpoint of each log again, since it may not have arrived", async (t) => {
  const receiver = await NoteReceiver.start(t);
  const app = await start(t, { checkpointSeconds: 60 });
  await report(app, "event-0");
  await app.restart(settingsFor(receiver));
  await app.close();
  assert.deepEqual(receiver.sizes, ["signalbox/default/audit 1"]);
});

test("a receiver that fails degrades the service after a while, and gets the last checkpoint", async (t) => {
  const receiver = await NoteReceiver.start(t);
  receiver.reply = () => [500];
  const app = await start(t, settingsFor(receiver));
  assert.equal(await lag(app), 0);
  await report(app, "event-0");
  await app.get(`${V1}/audit/checkpoint`);
  await receiver.got(1);
  app.advance(300 * SECOND_MS);
  assert.equal(await lag(app), 300);
  assert.equal((await app.get("/health")).body.status, "ok");
  app.advance(SECOND_MS);
  assert.equal((await app.get("/health")).body.status, "degraded");
  assert.equal((await app.get("/ready")).status, 200);
  await report(app, "event-1");
  receiver.reply = () => [200];
  await app.close();
  assert.equal(receiver.sizes.at(-1), "signalbox/default/audit 2");
});

test("a receiver that does not answer holds up neither requests nor proofs", async (t) => {
  const receiver = await NoteReceiver.start(t);
  receiver.reply = () => undefined;
  const app = await start(t, settingsFor(receiver));
  await report(app, "event-0");
  assert.equal((await app.get(`${V1}/audit/event-0/proof`)).status, 200);
  await receiver.got(1);
  await report(app, "event-1");
  app.advance(SECOND_MS);
  assert.equal((await app.get(`${V1}/audit/event-1/proof`)).status, 200);
  receiver.close();
  await app.close();
  const file = join(app.dataDir, "organizations/default/audit-proof/checkpoints.jsonl");
  assert.equal((await readFile(file, "utf8")).trim().split("\n").length, 2);
});
