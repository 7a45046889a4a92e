import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Unavailable } from "../../src/core/errors.ts";
import { MAX_HELD } from "../../src/storage/append-log.ts";
import type { Appended } from "../../src/storage/log-block.ts";
import type { TornTail } from "../../src/storage/log-file.ts";
import { systemError } from "../support/forgetful-files.ts";
import { append, disk, FIRST, hold, open, SECOND, settle, startAppends } from "./log-on-disk.ts";

test("answers come in the order of the appends, with the place of each text in bytes", async () => {
  const files = await disk();
  const log = await open(files);
  const places = await Promise.all(
    ["a\n", "grün\n", "😀\n", "z\n"].map((text) => append(log, text)),
  );
  await log.close();
  assert.equal(files.text(FIRST), "a\ngrün\n😀\nz\n");
  assert.deepEqual(places, [
    { sequence: 1, offset: 0, length: 2 },
    { sequence: 1, offset: 2, length: 6 },
    { sequence: 1, offset: 8, length: 5 },
    { sequence: 1, offset: 13, length: 2 },
  ]);
});

test("bytes are appended like text: in their own block, and unchanged", async () => {
  const files = await disk();
  const log = await open(files);
  const operations: string[] = [];
  files.before = (operation) => void operations.push(operation);
  const long = Buffer.from("ü€ \nlong\n");
  const answers = await Promise.all(
    ["a\n", long, "ü\n", "c\n"].map(
      (one) =>
        new Promise<Parameters<Appended>>((resolve) =>
          log.append(one, "sync", (...answer) => resolve(answer)),
        ),
    ),
  );
  assert.deepEqual(
    answers.map(([, , offset, length]) => [offset, length]),
    [
      [0, 2],
      [2, long.length],
      [2 + long.length, 3],
      [5 + long.length, 2],
    ],
  );
  assert.equal(operations.filter((operation) => operation === "writeSync").length, 3);
  const written = answers.map(([, , , , bytes]) => bytes ?? Buffer.alloc(0));
  assert.equal(written[1]?.buffer, long.buffer, "nothing is copied");
  assert.equal(written[1]?.byteOffset, long.byteOffset);
  assert.equal(Buffer.concat(written).toString(), `a\n${long.toString()}ü\nc\n`);
  assert.equal(files.text(FIRST), `a\n${long.toString()}ü\nc\n`);
  await log.close();
});

test("appends that arrive together are written once and synced once", async () => {
  const files = await disk();
  const log = await open(files);
  const operations: string[] = [];
  files.before = (operation) => void operations.push(operation);
  await Promise.all(Array.from({ length: 100 }, (_, i) => append(log, `${i}\n`)));
  assert.deepEqual(operations, ["writeSync", "fdatasync"]);
  await log.close();
});

test("a quiet log holds one descriptor, and a busy one a descriptor for each of four syncs", async () => {
  const files = await disk();
  const log = await open(files);
  for (const text of ["a\n", "b\n", "c\n"]) await append(log, text);
  assert.equal(files.descriptors, 1);
  const held = hold(files);
  const ended = await startAppends(log, ["d", "e", "f", "g", "h"]);
  assert.equal(files.descriptors, 4);
  assert.equal(held.length, 4);
  for (const sync of held.splice(0)) sync.end();
  await settle();
  for (const sync of held.splice(0)) sync.end();
  await settle();
  assert.equal(ended.length, 5);
  files.held = undefined;
  await log.close();
  assert.equal(files.descriptors, 0);
});

test("a log continues with its descriptors if no more can be opened", async () => {
  const files = await disk();
  const log = await open(files);
  files.before = (operation) => {
    if (operation === "open") throw systemError("EMFILE");
  };
  const held = hold(files);
  const ended = await startAppends(log, ["a", "b"]);
  assert.equal(held.length, 1);
  held.shift()?.end();
  await settle();
  held.shift()?.end();
  await settle();
  assert.deepEqual(ended, ["a stored", "b stored"]);
  assert.equal(log.failure, undefined);
});

test("an append is not answered before its sync has ended", async () => {
  const files = await disk();
  const log = await open(files);
  const held = hold(files);
  const ended = await startAppends(log, ["a"]);
  assert.deepEqual(ended, []);
  held[0]?.end();
  await settle();
  assert.deepEqual(ended, ["a stored"]);
});

test("at most four syncs are in flight, each on its own descriptor", async () => {
  const files = await disk();
  const log = await open(files);
  const held = hold(files);
  await startAppends(log, ["a", "b", "c", "d", "e", "f"]);
  assert.equal(new Set(held.map((sync) => sync.descriptor)).size, 4);
  assert.equal(held.length, 4);
  held[2]?.end();
  await settle();
  assert.equal(held.length, 5, "what waited goes out as one write when a sync has ended");
  assert.equal(files.text(FIRST), "a\nb\nc\nd\ne\nf\n");
});

test("an answer waits for all earlier syncs", async () => {
  const files = await disk();
  const log = await open(files);
  const held = hold(files);
  const ended = await startAppends(log, ["a", "b", "c"]);
  held[2]?.end();
  held[1]?.end();
  await settle();
  assert.deepEqual(ended, []);
  held[0]?.end();
  await settle();
  assert.deepEqual(ended, ["a stored", "b stored", "c stored"]);
});

test("short writes are completed", async () => {
  const files = await disk();
  const log = await open(files);
  files.maxWrite = 3;
  await append(log, "a long line\n");
  assert.equal(files.text(FIRST), "a long line\n");
  await log.close();
});

test("a write that a full disk cuts short leaves nothing behind", async () => {
  const files = await disk();
  const log = await open(files);
  await append(log, "kept\n");
  files.maxWrite = 4;
  let writes = 0;
  files.before = (operation) => {
    if (operation === "writeSync" && ++writes === 2) throw systemError("ENOSPC");
  };
  await assert.rejects(append(log, "refused\n"), { code: "ENOSPC" });
  await settle();
  assert.equal(files.text(FIRST), "kept\n");
  assert.deepEqual(await append(log, "later\n"), { sequence: 2, offset: 0, length: 6 });
  await log.close();
});

test("a failed sync fails the later ones, and not the earlier ones", async () => {
  const files = await disk();
  const log = await open(files);
  const held = hold(files);
  const ended = await startAppends(log, ["a", "b", "c"]);
  held[0]?.end();
  held[1]?.end(systemError("EIO"));
  await settle();
  assert.deepEqual(ended, ["a stored"], "a descriptor is not closed under a sync");
  held[2]?.end();
  await settle();
  assert.deepEqual(ended, ["a stored", "b EIO", "c EIO"]);
  assert.equal(files.text(FIRST), "a\n");
  files.held = undefined;
  assert.equal((await append(log, "d\n")).sequence, 2);
  assert.equal(files.powerCut(() => 0).text(FIRST), "a\n");
});

test("a failed write waits for the syncs before it, which may still succeed", async () => {
  const files = await disk();
  const log = await open(files);
  const held = hold(files);
  const ended = await startAppends(log, ["a", "b"]);
  files.before = (operation) => {
    if (operation === "writeSync") throw systemError("ENOSPC");
  };
  const late = await startAppends(log, ["c"]);
  held[0]?.end();
  held[1]?.end();
  await assert.rejects(append(log, "d\n"), { code: "ENOSPC" });
  assert.deepEqual(ended, ["a stored", "b stored"]);
  assert.deepEqual(late, ["c ENOSPC"]);
  assert.equal(files.text(FIRST), "a\nb\n");
});

test("a sync that succeeds on its own descriptor is not trusted after an earlier one failed", async () => {
  const files = await disk();
  const log = await open(files);
  const held = hold(files);
  const ended = await startAppends(log, ["a", "b"]);
  held[1]?.end();
  held[0]?.end(systemError("EIO"));
  await settle();
  assert.deepEqual(ended, ["a EIO", "b EIO"]);
  await assert.rejects(files.readFile(FIRST), { code: "ENOENT" }, "nothing in it ever counted");
  assert.equal(files.text(SECOND), "");
});

test("text that arrives while a sync fails is written to the new file", async () => {
  const files = await disk();
  const log = await open(files);
  const held = hold(files);
  await startAppends(log, ["a", "b", "c", "d"]);
  const waiting = append(log, "e\n");
  await settle();
  files.held = undefined;
  held[0]?.end(systemError("EIO"));
  for (const sync of held.slice(1)) sync.end();
  assert.deepEqual(await waiting, { sequence: 2, offset: 0, length: 2 });
  await log.close();
});

test("a new file and its directory are synced before the first answer from it", async () => {
  const files = await disk();
  const log = await open(files, undefined, { full: (size) => size > 0 });
  await append(log, "a\n");
  const operations: string[] = [];
  files.before = (operation, path) => void operations.push(`${operation} ${path}`);
  await append(log, "b\n");
  assert.deepEqual(
    operations.filter((entry) => /sync|write/i.test(entry)),
    [`fsync ${SECOND}`, "fsync /log", `writeSync ${SECOND}`, `fdatasync ${SECOND}`],
  );
  await log.close();
});

test("a full file is followed by a new one only when that is allowed; appends wait as long", async () => {
  const files = await disk();
  let allow = (): void => {};
  const mayRoll = () => new Promise<void>((resolve) => void (allow = resolve));
  const log = await open(files, undefined, { full: (size) => size > 0, mayRoll });
  await append(log, "a\n");
  let isAnswered = false;
  const second = append(log, "b\n").finally(() => (isAnswered = true));
  for (let i = 0; i < 20; i++) await turn();
  assert.equal(isAnswered, false);
  allow();
  assert.deepEqual(await second, { sequence: 2, offset: 0, length: 2 });
  await log.close();
});

test("without a new file appends fail, and the log tries to create one once a second", async () => {
  const files = await disk();
  let now = 5_000;
  const stops: string[] = [];
  const failed = (error: unknown, file: string): void => {
    stops.push(`${file} ${error === undefined ? "goes on" : "stopped"}`);
  };
  const log = await open(files, undefined, { now: () => now, failed });
  await append(log, "kept\n");
  let attempts = 0;
  let isBroken = true;
  files.before = (operation, path) => {
    if (isBroken && operation === "fdatasync") throw systemError("EIO");
    if (isBroken && operation === "open" && path === SECOND && ++attempts)
      throw systemError("EROFS");
  };
  await assert.rejects(append(log, "a\n"), { code: "EIO" });
  await settle();
  await assert.rejects(append(log, "b\n"), { code: "EROFS" });
  assert.equal(attempts, 1);
  now += 999;
  await assert.rejects(append(log, "c\n"), { code: "EROFS" });
  assert.equal(attempts, 1);
  now += 1;
  await assert.rejects(append(log, "d\n"), { code: "EROFS" });
  assert.equal(attempts, 2);
  assert.notEqual(log.failure, undefined);
  isBroken = false;
  now += 1_000;
  await append(log, "e\n");
  assert.equal(log.failure, undefined);
  assert.deepEqual(stops, [`${FIRST} stopped`, `${SECOND} goes on`]);
  assert.deepEqual([files.text(FIRST), files.text(SECOND)], ["kept\n", "e\n"]);
  await log.close();
  assert.equal(files.descriptors, 0);
});

test("a disk that stays full does not fill its directory with files", async () => {
  const files = await disk();
  let now = 0;
  const log = await open(files, undefined, { now: () => now });
  files.before = (operation) => {
    if (operation === "writeSync") throw systemError("ENOSPC");
  };
  for (let i = 0; i < 20; i++) {
    await assert.rejects(append(log, "a\n"), { code: "ENOSPC" });
    await settle();
    now += 1_000;
  }
  assert.equal((await files.readDirectory("/log")).length, 1);
  await log.close();
});

test("stopped writing can be retried without an append, at most once a second", async () => {
  const files = await disk();
  let now = 5_000;
  const log = await open(files, undefined, { now: () => now });
  await append(log, "kept\n");
  let isBroken = true;
  let attempts = 0;
  files.before = (operation, path) => {
    if (isBroken && operation === "fdatasync") throw systemError("EIO");
    if (isBroken && operation === "open" && path === SECOND && ++attempts)
      throw systemError("EROFS");
  };
  await assert.rejects(append(log, "a\n"), { code: "EIO" });
  await settle();
  for (let i = 0; i < 3; i++) log.recover();
  await settle();
  assert.equal(attempts, 1);
  now += 1_000;
  for (let i = 0; i < 3; i++) log.recover();
  await settle();
  assert.equal(attempts, 2);
  isBroken = false;
  now += 1_000;
  log.recover();
  await settle();
  now += 1_000;
  log.recover(); // the file can be opened again, but it is unknown whether it can be written
  await settle();
  assert.equal(log.failure, undefined);
  assert.deepEqual([files.text(FIRST), files.text(SECOND)], ["kept\n", "\n"]);
  await log.close();
  log.recover();
  assert.equal(files.descriptors, 0);
});

test("a full disk is a failure until something is written, if only an empty line", async () => {
  const files = await disk();
  let now = 5_000;
  const log = await open(files, undefined, { now: () => now });
  let isFull = true;
  files.before = (operation) => {
    if (isFull && operation === "writeSync") throw systemError("ENOSPC");
  };
  await assert.rejects(append(log, "a\n"), { code: "ENOSPC" });
  for (let i = 0; i < 3; i++) {
    await settle();
    assert.equal((log.failure as NodeJS.ErrnoException).code, "ENOSPC");
    now += 1_000;
    log.recover();
  }
  await settle();
  isFull = false;
  now += 1_000;
  log.recover();
  await settle();
  assert.equal(log.failure, undefined);
  assert.equal(files.text(`/log/${log.sequence}`), "\n");
  assert.equal((await append(log, "b\n")).offset, 1);
  await log.close();
});

test("a failed attempt to create a file does not block the next one", async () => {
  const files = await disk();
  let now = 0;
  const log = await open(files, undefined, { now: () => now });
  await append(log, "a\n");
  const faults = ["fdatasync", "fsync", "remove"]; // the last leaves the new file behind
  files.before = (operation, path) => {
    if (operation === "fsync" && path === FIRST) return;
    if (faults[0] === operation && faults.shift()) throw systemError("EIO");
  };
  await assert.rejects(append(log, "b\n"), { code: "EIO" });
  await settle();
  now += 1_000;
  assert.equal((await append(log, "c\n")).sequence, 3);
  assert.deepEqual(faults, []);
  await log.close();
});

test("a torn tail is cut off and reported", async () => {
  const files = await disk('{"a":1}\n{"b":2}\n{"c":');
  const tails: TornTail[] = [];
  const log = await open(files, 1, { torn: (tail) => tails.push(tail) });
  assert.deepEqual(tails, [{ file: FIRST, offset: 16, bytes: 5 }]);
  assert.equal((await append(log, "d\n")).offset, 16);
  assert.equal(files.text(FIRST), '{"a":1}\n{"b":2}\nd\n');
  await log.close();
});

test("a torn append of several lines is removed as a whole", async () => {
  const files = await disk('{"a":1}\n{"b":2} \n{"c":3} \n{"d"');
  const log = await open(files, 1);
  assert.equal(files.text(FIRST), '{"a":1}\n');
  await log.close();
});

test("a file with only a torn append becomes empty", async () => {
  const files = await disk(`${'{"b":2} \n'.repeat(20_000)}{"c`);
  const log = await open(files, 1);
  assert.equal(files.text(FIRST), "");
  await log.close();
});

test("existing text is synced at start, before the first append", async () => {
  const files = await disk("found\n");
  await open(files, 1);
  assert.equal(files.powerCut(() => 0).text(FIRST), "found\n");
});

test("a full file is synced before the log rolls", async () => {
  const files = await disk();
  const log = await open(files, undefined, { full: (size) => size > 0 });
  await append(log, "a\n", "write");
  await append(log, "b\n", "write");
  const after = files.powerCut(() => 0);
  assert.equal(after.text(FIRST), "a\n");
  assert.equal(after.text(SECOND), "");
});

test("closing answers the pending appends, and refuses later ones", async () => {
  const files = await disk();
  const log = await open(files);
  const given = append(log, "a\n");
  const closing = log.close();
  await assert.rejects(append(log, "b\n"), Unavailable);
  assert.equal((await given).sequence, 1);
  await closing;
  assert.equal(files.text(FIRST), "a\n");
  assert.equal(files.descriptors, 0);
});

test("closing takes back refused text that could not be taken back before", async () => {
  const files = await disk();
  const log = await open(files);
  await append(log, "kept\n");
  let isBroken = true;
  files.before = (operation) => {
    if (isBroken && (operation === "fdatasync" || operation === "truncate"))
      throw systemError("EIO");
  };
  await assert.rejects(append(log, "refused\n"), { code: "EIO" });
  await settle();
  isBroken = false;
  await log.close();
  assert.equal(files.powerCut(() => 0).text(FIRST), "kept\n");
});

test("text beyond the bound is refused until some is answered", async () => {
  const files = await disk();
  const log = await open(files);
  const held = hold(files);
  const large = `${"x".repeat(MAX_HELD - 2)}\n`;
  const first = append(log, large);
  await settle();
  const last = append(log, "\n");
  await assert.rejects(append(log, "\n"), Unavailable);
  held[0]?.end();
  await first;
  await settle();
  held[1]?.end();
  await last;
  files.held = undefined;
  await append(log, "\n");
  await log.close();
});
