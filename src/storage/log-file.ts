/**
 * One file of a log, open for appending. Linux reports a failed write-back once per open descriptor and then
 * counts the pages as clean, so a sync is reliable only on a descriptor that was opened before the write and
 * is used for nothing else meanwhile. So each sync under way has its own descriptor, from a small pool of
 * long-lived ones. The pool begins with one descriptor and grows when a sync is needed while all are busy: the many
 * quiet logs need only one each.
 */
import { dirname } from "node:path";
import type { FileOperations } from "./file-operations.ts";
import { readExactly, withFile, writeAll } from "./file-ranges.ts";
import { ENDS, endOfLastAppend } from "./log-lines.ts";
import { syncDirectory } from "./snapshot.ts";

/** The most syncs under way. More were not faster; with fewer, a slow disk delays writes. */
const SYNCS_IN_FLIGHT = 4;
const PAGE_BYTES = 4096;
const COPY_BYTES = 1 << 20;

/** The torn tail that was cut off a file at start: a crash in the middle of an append, never acknowledged. */
export interface TornTail {
  readonly file: string;
  /** The offset of the cut, which is the new size of the file. */
  readonly offset: number;
  readonly bytes: number;
}

/** Bytes of a file from `start` up to `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A file that only grows, its size, and its syncs. */
export class LogFile {
  readonly path: string;
  readonly sequence: number;
  readonly #files: FileOperations;
  readonly #descriptors: number[];
  readonly #free: number[];
  #growing: Promise<void> | undefined;
  #size: number;
  #closed = false;

  private constructor(
    files: FileOperations,
    path: string,
    sequence: number,
    descriptor: number,
    size: number,
  ) {
    this.#files = files;
    this.path = path;
    this.sequence = sequence;
    this.#descriptors = [descriptor];
    this.#free = [descriptor];
    this.#size = size;
  }

  /** Creates a file, and syncs it and its directory, so that its later content survives a power cut. */
  static async create(files: FileOperations, path: string, sequence: number): Promise<LogFile> {
    const descriptor = await files.open(path, "wx");
    try {
      try {
        await files.fsync(descriptor);
      } finally {
        await files.close(descriptor);
      }
      await syncDirectory(files, dirname(path));
      return new LogFile(files, path, sequence, await files.open(path, "r+"), 0);
    } catch (error) {
      await files.remove(path).catch(() => {}); // the first failure is reported
      throw error;
    }
  }

  /**
   * Opens an existing file. A torn tail is cut off and passed to `torn`; the rest is synced, since a killed
   * server may have left it in the page cache only.
   */
  static async open(
    files: FileOperations,
    path: string,
    sequence: number,
    torn: (tail: TornTail) => void,
  ): Promise<LogFile> {
    const end = await repairEnd(files, path, torn);
    return new LogFile(files, path, sequence, await files.open(path, "r+"), end);
  }

  /** Bytes written so far, synced or not. */
  get size(): number {
    return this.#size;
  }

  /** Whether a sync can start now. If not, the pool grows if it may, and then calls `grown`. */
  wantSync(grown: () => void): boolean {
    if (this.#free.length > 0) return true;
    if (this.#descriptors.length < SYNCS_IN_FLIGHT) this.#growing ??= this.#grow(grown);
    return false;
  }

  /** Whether a sync is under way. */
  get syncing(): boolean {
    return this.#free.length < this.#descriptors.length;
  }

  /** Writes to the page cache, which takes microseconds. After an error the end of the file is undefined. */
  write(bytes: Uint8Array): void {
    const descriptor = this.#descriptors[0] as number;
    for (let written = 0; written < bytes.length;) {
      const rest = written === 0 ? bytes : bytes.subarray(written);
      const count = this.#files.writeSync(descriptor, rest, this.#size);
      if (count === 0) throw new Error(`Nothing could be written to ${this.path}`);
      written += count;
      this.#size += count;
    }
  }

  /** Calls back when all earlier writes are on disk. Call it only after `wantSync` has returned true. */
  sync(done: (error: Error | null) => void): void {
    const descriptor = this.#free.pop();
    if (descriptor === undefined) throw new Error("No descriptor is free to sync on");
    this.#files.fdatasync(descriptor, (error) => {
      this.#free.push(descriptor);
      done(error);
    });
  }

  /** Closes the descriptors. Not to be called while `syncing`. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#growing;
    for (const descriptor of this.#descriptors) await this.#files.close(descriptor);
  }

  /** If no further descriptor can be opened, syncs wait for the existing ones. */
  async #grow(grown: () => void): Promise<void> {
    try {
      const descriptor = await this.#files.open(this.path, "r+");
      this.#descriptors.push(descriptor);
      this.#free.push(descriptor);
      grown();
    } catch {
      return;
    } finally {
      this.#growing = undefined;
    }
  }
}

/**
 * Cuts a file whose write or sync failed back to its acknowledged part. The page at the end, and all bytes that were
 * acknowledged without a sync, are written again: a failed write-back left those pages clean, so a sync alone would
 * report success and write nothing.
 *
 * @param holes refused text before the last acknowledged byte, none of it synced: becomes empty lines, which
 *   readers skip
 */
export async function cutBack(
  files: FileOperations,
  path: string,
  synced: number,
  acknowledged: number,
  holes: readonly Range[],
): Promise<void> {
  await withFile(files, path, "r+", async (descriptor) => {
    await files.truncate(path, acknowledged);
    for (let at = synced - (synced % PAGE_BYTES); at < acknowledged;) {
      const length = Math.min(COPY_BYTES, acknowledged - at);
      const bytes = await readExactly(files, descriptor, at, length);
      for (const { start, end } of holes) {
        bytes.fill(ENDS, Math.max(0, start - at), Math.max(0, Math.min(length, end - at)));
      }
      await writeAll(files, descriptor, bytes, at, path);
      at += length;
    }
    await files.fsync(descriptor);
  });
}

/**
 * Cuts a torn tail off a file that is not open for writing. A file without a torn tail is only synced: the lines that
 * a killed server left are visible from now on, and must not be lost again.
 */
export async function cutTornEnd(
  files: FileOperations,
  path: string,
  torn: (tail: TornTail) => void,
): Promise<void> {
  const { size } = await files.stat(path);
  const end = await withFile(files, path, "r", async (descriptor) => {
    await files.fsync(descriptor);
    return endOfLastAppend(files, descriptor, size);
  });
  if (end < size) await repairEnd(files, path, torn);
}

async function repairEnd(
  files: FileOperations,
  path: string,
  torn: (tail: TornTail) => void,
): Promise<number> {
  const { size } = await files.stat(path);
  const end = await withFile(files, path, "r+", async (descriptor) => {
    const whole = await endOfLastAppend(files, descriptor, size);
    if (whole < size) await files.truncate(path, whole);
    await files.fsync(descriptor);
    return whole;
  });
  await syncDirectory(files, dirname(path));
  if (end < size) torn({ file: path, offset: end, bytes: size - end });
  return end;
}
