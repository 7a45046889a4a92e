import type { Awaitable } from "../core/caller.ts";
import type { ReadFiles } from "./read-files.ts";

/** A range of bytes in a segment. */
export interface Slice {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

/** Slices this near to each other are read in one go: a way through the pool costs more than the rest. */
const NEAR_BYTES = 16 << 10;
/** The same for what is at hand, where a read costs a microsecond or two. */
const NEAR_AT_HAND = 4 << 10;

/** Several slices that are read together. */
interface Run {
  readonly segment: number;
  readonly offset: number;
  end: number;
  readonly members: number[];
}

/** Reads slices of segments. */
export class SegmentReader {
  readonly #reads: ReadFiles;
  readonly #pathOf: (segment: number) => string;
  readonly #paths = new Map<number, string>(); // of the segments that were read

  constructor(reads: ReadFiles, pathOf: (segment: number) => string) {
    this.#reads = reads;
    this.#pathOf = pathOf;
  }

  /** Reads slices; the answer is in the order asked for. It comes at once for what is at hand. */
  read(slices: readonly Slice[]): Awaitable<Buffer[]> {
    const [first] = slices;
    const isAtHand =
      first !== undefined &&
      this.#reads.isAtHand(this.#path(first.segment), first.offset, first.length);
    const found = new Array<Buffer>(slices.length);
    const waiting: Promise<void>[] = [];
    for (const run of joinNeighbours(slices, isAtHand ? NEAR_AT_HAND : NEAR_BYTES)) {
      const { segment, offset, end, members } = run;
      const bytes = Buffer.allocUnsafe(end - offset);
      for (const member of members) {
        const slice = slices[member] as Slice;
        const start = slice.offset - offset;
        found[member] = bytes.subarray(start, start + slice.length);
      }
      const reading = this.#reads.read(this.#path(segment), bytes, offset);
      if (reading instanceof Promise) waiting.push(reading);
    }
    return waiting.length === 0 ? found : Promise.all(waiting).then(() => found);
  }

  /** Closes the file of a segment that nobody reads any more. */
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

function joinNeighbours(slices: readonly Slice[], near: number): Run[] {
  const at = (index: number): Slice => slices[index] as Slice;
  const order = [...slices.keys()].sort(
    (a, b) => at(a).segment - at(b).segment || at(a).offset - at(b).offset,
  );
  const runs: Run[] = [];
  for (const index of order) {
    const { segment, offset, length } = at(index);
    const run = runs.at(-1);
    if (run !== undefined && run.segment === segment && offset - run.end <= near) {
      run.end = Math.max(run.end, offset + length);
      run.members.push(index);
    } else runs.push({ segment, offset, end: offset + length, members: [index] });
  }
  return runs;
}
