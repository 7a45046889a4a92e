/**
 * Reads files at random positions. Two things make such reads cheap:
 *
 * A range that was read a moment ago is still in the page cache. Copying it from there takes a microsecond, a
 * fiftieth of a read through the thread pool, whose threads may all be waiting for syncs. So a range that was read
 * before is read synchronously. Any other range may have to come from the disk, and is read through the pool. If a
 * synchronous read is slow, it had to wait for the disk or for other programs, and its range counts as not read. A
 * second slow read in a row shows that the cache has dropped the file: then all of its ranges count as not read.
 *
 * Descriptors stay open from one read to the next, up to a limit: the least recently read file is closed
 * first.
 */
import type { Awaitable } from "../core/caller.ts";
import { systemStopwatch } from "../core/timers.ts";
import type { FileOperations } from "./file-operations.ts";
import { checkedCount, readInto } from "./file-ranges.ts";

const MAX_OPEN = 256;
/** The size of the blocks that are marked as read: a page of the system's cache. */
const BLOCK_BYTES = 4 << 10;
/** The most bytes of a synchronous read. */
const MAX_AT_ONCE = 1 << 20;
const SLOW_MS = 2;

/** A file that is open, or being opened. */
interface OpenFile {
  readonly opening: Promise<number>;
  descriptor: number | undefined;
  /** A byte for each block, 1 when it was read. */
  known: Uint8Array;
  /** Whether the last synchronous read was slow. */
  wasSlow: boolean;
  /** The number of reads under way, which need the descriptor. */
  readers: number;
  isForgotten: boolean;
}

/** Reads ranges of files. */
export class ReadFiles {
  readonly #files: FileOperations;
  readonly #limit: number;
  readonly #stopwatch: () => number;
  readonly #open = new Map<string, OpenFile>(); // the file that was read last comes last

  /** @param stopwatch returns milliseconds since any fixed moment */
  constructor(files: FileOperations, limit = MAX_OPEN, stopwatch: () => number = systemStopwatch) {
    this.#files = files;
    this.#limit = limit;
    this.#stopwatch = stopwatch;
  }

  /** Whether a range would be read without leaving the event loop. */
  isAtHand(path: string, position: number, length: number): boolean {
    const file = this.#open.get(path);
    if (file?.descriptor === undefined || length > MAX_AT_ONCE) return false;
    const end = position + length;
    for (let block = Math.floor(position / BLOCK_BYTES); block * BLOCK_BYTES < end; block++) {
      if (file.known[block] !== 1) return false;
    }
    return true;
  }

  /**
   * Fills a target from a position of a file on; synchronously if the range is at hand.
   *
   * @throws Error when the file ends before the target is full
   */
  read(path: string, target: Uint8Array, position: number): Awaitable<void> {
    if (!this.isAtHand(path, position, target.length)) {
      return this.#readThroughPool(this.#use(path), target, position);
    }
    const file = this.#use(path);
    const start = this.#stopwatch();
    for (let filled = 0; filled < target.length;) {
      const rest = filled === 0 ? target : target.subarray(filled);
      const count = this.#files.readSync(file.descriptor as number, rest, position + filled);
      filled += checkedCount(count, position + filled);
    }
    const isSlow = this.#stopwatch() - start > SLOW_MS;
    if (isSlow && file.wasSlow) file.known.fill(0);
    else if (isSlow) mark(file, position, position + target.length, 0);
    file.wasSlow = isSlow;
  }

  /** Closes a file that is removed or replaced. */
  async forget(path: string): Promise<void> {
    const file = this.#open.get(path);
    if (file === undefined) return;
    this.#open.delete(path);
    await this.#leave(file);
  }

  /** Closes all files. */
  async close(): Promise<void> {
    for (const path of [...this.#open.keys()]) await this.forget(path);
  }

  async #readThroughPool(file: OpenFile, target: Uint8Array, position: number): Promise<void> {
    file.readers++;
    try {
      const descriptor = await file.opening;
      await readInto(this.#files, descriptor, target, position);
      remember(file, position, position + target.length);
    } finally {
      file.readers--;
      if (file.isForgotten) await this.#leave(file);
    }
  }

  #use(path: string): OpenFile {
    let file = this.#open.get(path);
    if (file === undefined) file = this.#start(path);
    else this.#open.delete(path);
    this.#open.set(path, file);
    this.#closeOldest();
    return file;
  }

  #start(path: string): OpenFile {
    const opening = this.#files.open(path, "r");
    const file: OpenFile = {
      opening,
      descriptor: undefined,
      known: new Uint8Array(0),
      wasSlow: false,
      readers: 0,
      isForgotten: false,
    };
    opening.then(
      (descriptor) => (file.descriptor = descriptor),
      () => {
        if (this.#open.get(path) === file) this.#open.delete(path); // so that the next read tries again
      },
    );
    return file;
  }

  #closeOldest(): void {
    for (const [path, file] of this.#open) {
      if (this.#open.size <= this.#limit) return;
      this.#open.delete(path);
      this.#leave(file).catch(() => {}); // nothing was written, so nothing is lost
    }
  }

  /** Closes a file that was removed from the list, once no read needs it. */
  async #leave(file: OpenFile): Promise<void> {
    file.isForgotten = true;
    if (file.readers > 0) return;
    const descriptor = await file.opening.catch(() => undefined);
    if (descriptor === undefined || file.descriptor === undefined) return;
    file.descriptor = undefined; // a second call finds it closed
    await this.#files.close(descriptor);
  }
}

/** Marks the blocks of a range as read, including those at its ends, which the system reads whole. */
function remember(file: OpenFile, from: number, to: number): void {
  const end = Math.ceil(to / BLOCK_BYTES);
  if (end > file.known.length) {
    const longer = new Uint8Array(Math.max(end, file.known.length * 2));
    longer.set(file.known);
    file.known = longer;
  }
  mark(file, from, to, 1);
}

function mark(file: OpenFile, from: number, to: number, known: 0 | 1): void {
  file.known.fill(known, Math.floor(from / BLOCK_BYTES), Math.ceil(to / BLOCK_BYTES));
}
