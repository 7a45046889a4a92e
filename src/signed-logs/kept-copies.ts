import { open } from "node:fs/promises";
import { describeError, type Log } from "../core/log.ts";
import { noteLine } from "../proof/checkpoint-lines.ts";

const NEWLINE = 0x0a;
/** The most checkpoints that wait for the file; a newer one vouches for the events of an older one too. */
const MAX_WAITING = 1_000;

/**
 * Appends every signed checkpoint to a file, which should be on another machine's disk. What could not be written
 * is tried again with the next checkpoint.
 */
export class KeptCopies {
  readonly #path: string;
  readonly #waiting: string[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** Takes a checkpoint, to be written by `write`. */
  add(note: string): void {
    this.#waiting.push(noteLine(note));
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
  }

  /** Writes and syncs all checkpoints that wait. */
  async write(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const file = await open(this.#path, "a+", 0o600);
    try {
      const { size } = await file.stat();
      const last = Buffer.alloc(1, NEWLINE);
      if (size > 0) await file.read(last, 0, 1, size - 1);
      // Half a line that a crash has left stays, since the file may only be appended to.
      const start = last[0] === NEWLINE ? "" : "\n";
      await file.appendFile(start + this.#waiting.join(""));
      await file.sync();
    } finally {
      await file.close();
    }
    this.#waiting.length = 0;
  }
}

/** Writes the copies that wait; never rejects. Returns the failure, which is logged. */
export async function writeCopies(copies: KeptCopies | undefined, log: Log): Promise<unknown> {
  try {
    await copies?.write();
    return undefined;
  } catch (error) {
    const parts = { error: describeError(error) };
    log.error("checkpoints could not be copied to CHECKPOINT_FILE", parts);
    return error;
  }
}
