import { closeSync, openSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { readRegular } from "./regular-file.ts";

/** A lock of this age was left by a killed process. */
const STALE_MS = 600_000;
const MAX_LOCK_BYTES = 1 << 10;

/** A lock of the processes of a machine: one at a time sends the spool, or replaces its older file. */
export class FileLock {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Takes the lock; returns `undefined` if a living process has it, or another process is taking it over. */
  static take(path: string, now: number): FileLock | undefined {
    for (let attempts = 0; attempts < 2; attempts++) {
      try {
        closeSync(openSync(path, "wx", 0o600));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        const state = stateOf(path, now);
        if (state === "held" || (state === "left" && !removeLeft(path, now))) return undefined;
        continue;
      }
      try {
        writeFileSync(path, String(process.pid));
      } catch {
        // The disk is full. The spool must be sent nevertheless: that frees space.
      }
      return new FileLock(path);
    }
    return undefined;
  }

  /**
   * Renews the lock, so that long sending does not make it old.
   *
   * @throws Error if another process has taken it over, as after a sleep of the machine; the spool is its own then
   */
  renew(now: number): void {
    if (!this.#isOwn()) throw new Error("another synchronisation has taken over");
    utimesSync(this.#path, now / 1_000, now / 1_000);
  }

  /** Removes the lock if it is still this process's. */
  release(): void {
    if (this.#isOwn()) rmSync(this.#path, { force: true });
  }

  #isOwn(): boolean {
    try {
      const holder = readRegular(this.#path, MAX_LOCK_BYTES);
      return holder === "" || holder === String(process.pid);
    } catch {
      return false;
    }
  }
}

/**
 * Removes a lock that was left. Of several processes that found it, one may do so, and looks again first: the others
 * would remove the lock that it has taken since. They are kept apart by a lock beside it, which can be left in turn.
 *
 * @returns whether the lock can be taken now, as far as this process knows
 */
function removeLeft(path: string, now: number): boolean {
  const takeover = FileLock.take(`${path}.takeover`, now);
  if (!takeover) return false;
  try {
    const state = stateOf(path, now);
    if (state === "left") rmSync(path, { force: true });
    return state !== "held";
  } finally {
    takeover.release();
  }
}

/**
 * Whether a lock is held by a living process, was left by a killed one, or has been released. A released lock is not
 * removed: by then it could be that of the next process.
 */
function stateOf(path: string, now: number): "held" | "left" | "released" {
  try {
    if (Math.abs(now - statSync(path).mtimeMs) > STALE_MS) return "left";
    const holder = readRegular(path, MAX_LOCK_BYTES);
    // An empty lock is about to be written, or its disk is full.
    if (holder !== "") process.kill(Number(holder) || NaN, 0);
    return "held";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EPERM") return "held";
    return code === "ENOENT" ? "released" : "left";
  }
}
