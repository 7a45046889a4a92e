import type { Awaitable } from "../core/caller.ts";
import type { ReadFiles } from "./read-files.ts";

/** A range of bytes in a segment. */
export interface Slice {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

/** Slices with smaller gaps are read together: a read through the pool costs more than the gap. */
const NEAR_BYTES = 16 << 10;
/** The same limit for cached ranges, for which a read costs a microsecond or two. */
const NEAR_AT_HAND = 4 << 10;

const NO_ROOM = Buffer.alloc(0);

/** Slices that follow one another in the list, and are read together. */
interface Run {
  readonly segment: number;
  /** Its first slice, and the one after its last. */
  readonly first: number;
  next: number;
  offset: number;
  end: number;
}

/** Reads slices of segments. */
export class SegmentReader {
  readonly #reads: ReadFiles;
  readonly #pathOf: (segment: number) => string;
  readonly #paths = new Map<number, string>(); // the segments that were read

  constructor(reads: ReadFiles, pathOf: (segment: number) => string) {
    this.#reads = reads;
    this.#pathOf = pathOf;
  }

  /**
   * Reads slices in the given order; synchronously if they are at hand.
   *
   * @param room memory for the slices, which the caller's next read overwrites. New memory for each of many reads makes
   *   the garbage collector pause the event loop.
   */
  read(slices: readonly Slice[], room: Buffer = NO_ROOM): Awaitable<Buffer[]> {
    const [first] = slices;
    const isAtHand =
      first !== undefined &&
      this.#reads.isAtHand(this.#path(first.segment), first.offset, first.length);
    const found = new Array<Buffer>(slices.length);
    const waiting: Promise<void>[] = [];
    let free = room;
    for (const run of joinNeighbours(slices, isAtHand ? NEAR_AT_HAND : NEAR_BYTES)) {
      const { segment, offset, end, first, next } = run;
      const isRoom = end - offset <= free.length;
      const bytes = isRoom ? free.subarray(0, end - offset) : Buffer.allocUnsafe(end - offset);
      if (isRoom) free = free.subarray(end - offset);
      for (let i = first; i < next; i++) {
        const slice = slices[i] as Slice;
        const start = slice.offset - offset;
        found[i] = bytes.subarray(start, start + slice.length);
      }
      const reading = this.#reads.read(this.#path(segment), bytes, offset);
      if (reading instanceof Promise) waiting.push(reading);
    }
    return waiting.length === 0 ? found : Promise.all(waiting).then(() => found);
  }

  /** Closes the file of a segment that is not read any more. */
  async forget(segment: number): Promise<void> {
    const path = this.#path(segment);
    this.#paths.delete(segment);
    await this.#reads.forget(path);
  }

  async close(): Promise<void> {
    for (const segment of [...this.#paths.keys()]) await this.forget(segment);
  }

  #path(segment: number): string {
    let path = this.#paths.get(segment);
    if (path === undefined) this.#paths.set(segment, (path = this.#pathOf(segment)));
    return path;
  }
}

/** Joins slices to runs. A list goes forward or backward through the log, not quite in order, so runs grow at both ends. */
function joinNeighbours(slices: readonly Slice[], near: number): Run[] {
  const runs: Run[] = [];
  let run: Run | undefined;
  for (let i = 0; i < slices.length; i++) {
    const { segment, offset, length } = slices[i] as Slice;
    const end = offset + length;
    const gap = run === undefined ? Infinity : Math.max(offset - run.end, run.offset - end);
    if (run?.segment === segment && gap <= near) {
      run.offset = Math.min(run.offset, offset);
      run.end = Math.max(run.end, end);
      run.next = i + 1;
    } else runs.push((run = { segment, first: i, next: i + 1, offset, end }));
  }
  return runs;
}

/** Cuts a list of slices into portions of at most `most` bytes; each has at least one slice. */
export function* portionsOf(slices: readonly Slice[], most: number): Generator<readonly Slice[]> {
  let first = 0;
  let bytes = 0;
  for (const [index, { length }] of slices.entries()) {
    if (index > first && bytes + length > most) {
      yield slices.slice(first, index);
      first = index;
      bytes = 0;
    }
    bytes += length;
  }
  yield slices.slice(first);
}
