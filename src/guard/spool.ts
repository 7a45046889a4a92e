/**
 * The events that wait to be sent: JSON Lines, one write for each event. Many processes append at once without a lock.
 * A sender takes the file by renaming it. A writer checks after its write whether the file was renamed, and then writes
 * the event again. So an event may be sent twice but is never lost, and the service stores each id once. Only the process
 * that makes a full file the older one takes a lock.
 */
import { closeSync, constants, fstatSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../core/clock.ts";
import { FileLock } from "./file-lock.ts";
import { openRegular, readRegular } from "./regular-file.ts";

/** An event in the form that the service takes; its `id` makes it safe to send twice. */
export type SpooledEvent = Readonly<Record<string, unknown>> & { readonly id: string };

/** Half of the limit of the spool: the size at which the newer file replaces the older one. */
export const HALF_SPOOL_BYTES = 32 << 20;
/** A file of the spool has at most its half and the event that filled it. A larger one is not of the guard. */
export const MAX_SPOOL_FILE_BYTES = 4 * HALF_SPOOL_BYTES;
/** The flags to add to a file of the guard, which must not be a link to another file. */
export const APPEND =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** The files of the spool, oldest events first: the file being sent, the full one, and the one that takes writes. */
export const SPOOL_FILES = ["spool.sending.jsonl", "spool.older.jsonl", "spool.jsonl"] as const;
const [, OLDER, CURRENT] = SPOOL_FILES;

/**
 * Adds an event. When the spool is full, the oldest events are dropped, and an event reports their number.
 *
 * @param dropped makes the event that reports dropped events
 */
export function spool(
  directory: string,
  event: SpooledEvent,
  dropped: (count: number) => SpooledEvent,
): void {
  const path = join(directory, CURRENT);
  if (append(path, event) > HALF_SPOOL_BYTES) replaceOlder(directory, path, dropped);
}

/**
 * Makes the full file the older one. A second process that did so at the same time would drop it, with one event in
 * its place.
 */
function replaceOlder(
  directory: string,
  path: string,
  dropped: (count: number) => SpooledEvent,
): void {
  const lock = FileLock.take(join(directory, "spool.lock"), systemClock());
  if (!lock) return; // another process is doing it
  let count = 0;
  try {
    const isFull = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > HALF_SPOOL_BYTES;
    if (!isFull) return;
    const older = join(directory, OLDER);
    count = linesIn(older);
    renameSync(path, older);
  } finally {
    lock.release();
  }
  if (count > 0) append(path, dropped(count));
}

/** Appends an event; returns the length of the file. */
function append(path: string, event: SpooledEvent): number {
  // The line feed at the start ends an incomplete line that a killed process may have left.
  const line = Buffer.from(`\n${JSON.stringify(event)}\n`);
  for (;;) {
    const file = openRegular(path, APPEND);
    try {
      if (writeSync(file, line) !== line.length) throw new Error("the disk is full");
      const { ino, size } = fstatSync(file);
      if (statSync(path, { throwIfNoEntry: false })?.ino === ino) return size;
    } finally {
      closeSync(file);
    }
  }
}

function linesIn(path: string): number {
  try {
    const lines = readRegular(path, MAX_SPOOL_FILE_BYTES).split("\n");
    return lines.filter((line) => line !== "").length;
  } catch {
    return 0;
  }
}
