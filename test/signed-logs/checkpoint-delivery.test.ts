import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { SECOND_MS } from "../../src/core/clock.ts";
import { createLog } from "../../src/core/log.ts";
import { newPrivateKey, openNote, signerOf, signNote } from "../../src/proof/note.ts";
import { CheckpointDelivery } from "../../src/signed-logs/checkpoint-delivery.ts";
import { NoteReceiver } from "../support/note-receiver.ts";

const KEY = newPrivateKey();
const ANSWER_MS = 10 * SECOND_MS;
const ROOT = Buffer.alloc(32, 7).toString("base64");

const noteOf = (log: string, size: number): string =>
  signNote(`h/${log}/audit\n${size}\n${ROOT}\n`, [signerOf(`h/${log}/audit`, KEY)]);

/** A delivery whose time stands still, and whose timers the test runs. */
async function open(t: TestContext, urlOf = (url: string): string => url) {
  const receiver = await NoteReceiver.start(t);
  const lines: string[] = [];
  const kept: string[] = [];
  const timers = new Set<{ readonly work: () => void; readonly at: number; readonly ms: number }>();
  let time = 0;
  let signed = 0;
  const delivery = new CheckpointDelivery({
    url: urlOf(receiver.url),
    now: () => time,
    stopwatch: () => time,
    log: createLog(
      "info",
      () => time,
      (line) => void lines.push(line),
    ),
    host: "h",
    logs: {
      keep: async (_, note) => void kept.push(note),
      prove: async (_, __, to) => (to <= signed ? [Buffer.alloc(32)] : undefined),
    },
    later(work, ms) {
      const timer = { work, at: time + ms, ms };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  });
  t.after(() => delivery.close());
  return {
    ...{ receiver, delivery, lines, kept },
    /** Another server signs the logs at this size. */
    signElsewhere: (size: number) => void (signed = size),
    /** Moves the time on, and runs the timers of that span. */
    advance(seconds: number): void {
      time += seconds * SECOND_MS;
      for (const timer of timers) if (timer.at <= time && timers.delete(timer)) timer.work();
    },
    /** Resolves when the attempt has failed, and the timer of the next one is set. */
    paused: () => until(() => [...timers].some(({ ms }) => ms !== ANSWER_MS)),
    /** Resolves when all checkpoints are delivered. */
    delivered: () => until(() => timers.size === 0),
  };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => void setImmediate(resolve));
}

test("a checkpoint is posted as plain text, byte for byte", async (t) => {
  const { receiver, delivery, delivered } = await open(t);
  delivery.add(noteOf("a", 1));
  await delivered();
  assert.deepEqual(receiver.notes, [noteOf("a", 1)]);
  const { method, url, headers } = receiver.received[0]?.request ?? assert.fail();
  assert.deepEqual([method, url], ["POST", "/"]);
  assert.equal(headers["content-type"], "text/plain; charset=utf-8");
});

test("a newer checkpoint replaces the one of its log that waits, whose age stays", async (t) => {
  const { receiver, delivery, advance, paused, delivered, lines } = await open(t);
  receiver.reply = () => [500];
  delivery.add(noteOf("a", 1));
  await paused();
  advance(0.5);
  for (const size of [2, 3]) delivery.add(noteOf("a", size));
  delivery.add(noteOf("b", 1));
  assert.equal(delivery.lagSeconds, 0.5);
  receiver.reply = () => [200];
  advance(0.5);
  await delivered();
  assert.deepEqual(receiver.sizes, ["h/a/audit 1", "h/a/audit 3", "h/b/audit 1"]);
  assert.equal(delivery.lagSeconds, 0);
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? "", /"error".*cannot be delivered.*it answered with status 500/);
  assert.match(lines[1] ?? "", /"info".*CHECKPOINT_URL answers again/);
});

test("a checkpoint that is signed during an attempt is sent after it", async (t) => {
  const { receiver, delivery, delivered } = await open(t);
  receiver.reply = (note) => {
    if (note === noteOf("a", 1)) delivery.add(noteOf("a", 2));
    return [200];
  };
  delivery.add(noteOf("a", 1));
  await delivered();
  assert.deepEqual(receiver.sizes, ["h/a/audit 1", "h/a/audit 2"]);
});

test("the pauses grow to a minute, all logs share the attempts, and a long wait is late", async (t) => {
  const { receiver, delivery, advance, paused } = await open(t);
  receiver.reply = () => [503];
  for (const log of ["a", "b", "c"]) delivery.add(noteOf(log, 1));
  for (const [attempts, pause] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
    await paused();
    assert.equal(receiver.received.length, attempts + 1);
    advance(pause - 0.5);
    assert.equal(receiver.received.length, attempts + 1);
    advance(0.5);
  }
  await paused();
  assert.equal(receiver.sizes.map((size) => size[2]).join(""), "abcabcabc");
  assert.equal(delivery.lagSeconds, 183);
  assert.equal(delivery.isLate, false);
  advance(118);
  assert.equal(delivery.isLate, true);
});

test("a log that the receiver refuses holds up no other", async (t) => {
  const { receiver, delivery, advance, paused, lines } = await open(t);
  receiver.reply = (note) => (note.startsWith("h/a/") ? [404] : [200]);
  for (const log of ["a", "b"]) delivery.add(noteOf(log, 1));
  await paused();
  delivery.add(noteOf("b", 2));
  await receiver.got(3);
  await paused();
  advance(1);
  await receiver.got(4);
  assert.deepEqual(
    receiver.sizes.map((size) => size.replace("/audit", "")),
    ["h/a 1", "h/b 1", "h/b 2", "h/a 1"],
  );
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /refuses the checkpoints of a log.*h\/a\/audit.*status 404/);
});

test("a receiver that does not answer is left after ten seconds", async (t) => {
  const { receiver, delivery, advance, paused, delivered, lines } = await open(t);
  receiver.reply = () => undefined;
  delivery.add(noteOf("a", 1));
  await receiver.got(1);
  advance(10);
  await paused();
  assert.match(lines[0] ?? "", /no answer in 10 seconds/);
  receiver.reply = () => [200];
  advance(1);
  await delivered();
});

test("a redirect is not followed", async (t) => {
  const { receiver, delivery, paused, lines } = await open(t);
  const elsewhere = await NoteReceiver.start(t);
  receiver.reply = () => [307, "", { location: elsewhere.url }];
  delivery.add(noteOf("a", 1));
  await paused();
  assert.match(lines[0] ?? "", /it answered with status 307/);
  assert.deepEqual(elsewhere.received, []);
});

test("the credentials of the URL are sent, and no log line has a part of the URL", async (t) => {
  const withSecrets = (url: string): string =>
    `${url.replace("//", "//auditor:pa%20ss@")}/hook?token=s3cret`;
  const { receiver, delivery, advance, paused, lines } = await open(t, withSecrets);
  receiver.reply = () => [401];
  delivery.add(noteOf("a", 1));
  await paused();
  const { url, headers } = receiver.received[0]?.request ?? assert.fail();
  assert.equal(url, "/hook?token=s3cret");
  assert.equal(headers.authorization, `Basic ${Buffer.from("auditor:pa ss").toString("base64")}`);
  receiver.reply = () => [200, "", { "content-length": "-1" }]; // not HTTP
  advance(1);
  await until(() => lines.length === 2);
  assert.doesNotMatch(lines.join(), /auditor|pa%20ss|pa ss|s3cret|127\.0\.0\.1/);
});

test("signatures in the answer are kept with the checkpoint, in place of earlier ones", async (t) => {
  const { receiver, delivery, delivered, kept } = await open(t);
  const own = noteOf("a", 1);
  const text = own.slice(0, own.lastIndexOf("\n\n") + 1);
  const witnesses = ["w.example", "v.example"].map((name) => signerOf(name, newPrivateKey()));
  const [one = "", two = ""] = witnesses.map((signer) => signNote(text, [signer]).split("\n\n")[1]);
  receiver.reply = () => [200, one];
  delivery.add(own);
  await delivered();
  assert.deepEqual(kept, [own + one]);
  assert.equal(
    openNote(kept[0] ?? "", [...witnesses, signerOf("h/a/audit", KEY)]).signers.length,
    2,
  );
  receiver.reply = () => [200, two];
  delivery.add(own + one);
  await delivered();
  assert.deepEqual(kept.slice(1), [own + two]);
  receiver.reply = () => [200, two.repeat(15)];
  delivery.add(own);
  await delivered();
  assert.deepEqual(kept.slice(2), [own + two.repeat(15)]); // 16 signatures with the log's own
});

test("a witness that has a newer checkpoint of another server needs the older one no more", async (t) => {
  const { receiver, delivery, paused, delivered, advance, signElsewhere, lines } = await open(
    t,
    (url) => `${url}/add-checkpoint`,
  );
  receiver.reply = () => [409, "5\n"];
  delivery.add(noteOf("a", 3));
  await paused();
  assert.match(
    lines[0] ?? "",
    /it has signed 5 events of the log, which has 3: the log was reset to an earlier state/,
  );
  signElsewhere(5);
  advance(1);
  await delivered();
  assert.deepEqual(receiver.sizes, ["old 0 ", "old 0 "]);
  assert.equal(delivery.lagSeconds, 0);
});

test("a witness that named a wrong size once is asked again", async (t) => {
  const { receiver, delivery, paused, delivered, advance } = await open(
    t,
    (url) => `${url}/add-checkpoint`,
  );
  receiver.reply = () => [409, `${Number.MAX_SAFE_INTEGER}\n`];
  delivery.add(noteOf("a", 3));
  await paused();
  receiver.reply = () => [200, ""];
  advance(1);
  await delivered();
  assert.deepEqual(receiver.sizes, ["old 0 ", "old 0 "]);
});

for (const [what, answer] of [
  ["an empty answer", ""],
  ["a page", "<p>Thank you</p>\n"],
  ["half a line", "— w.example AAAAAAAAAAAA"],
  ["a wrong signature under the name of the log", "— h/a/audit AAAAAAAAAAAA\n"],
  ["a signature too many beside the log's own", "— w.example AAAAAAAAAAAA\n".repeat(16)],
  ["too many signatures", "— w.example AAAAAAAAAAAA\n".repeat(17)],
  ["a long answer", `— w.example ${"A".repeat(1 << 20)}\n`],
] as const) {
  test(`${what} counts as delivered, and changes no checkpoint`, async (t) => {
    const { receiver, delivery, delivered, kept, lines } = await open(t);
    receiver.reply = () => [200, answer];
    delivery.add(noteOf("a", 1));
    await delivered();
    assert.deepEqual([kept, lines], [[], []]);
  });
}

test("a stop tries once more, and leaves a receiver that does not answer after seconds", async (t) => {
  const { receiver, delivery, advance, paused, lines } = await open(t);
  receiver.reply = () => [404];
  for (const log of ["a", "b"]) delivery.add(noteOf(log, 1));
  await paused();
  receiver.reply = (note) => (note.startsWith("h/a/") ? [200] : undefined);
  const closed = delivery.close();
  await receiver.got(4);
  advance(3);
  await closed;
  assert.deepEqual(receiver.sizes.slice(2), ["h/a/audit 1", "h/b/audit 1"]);
  assert.match(lines.at(-1) ?? "", /not delivered at the stop.*"logs":1/);
});
