import type { FileOperations } from "./file-operations.ts";
import { readExactly } from "./log-lines.ts";

/** A range of bytes in a segment. */
export interface Slice {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
}

/** Slices this near to each other are read in one go: a read costs more than some kilobytes. */
const NEAR_BYTES = 16 << 10;

/** Several slices that are read together. */
interface Run {
  readonly segment: number;
  readonly offset: number;
  end: number;
  readonly members: number[];
}

/** Reads slices of segments. Descriptors are opened on first use and kept. */
export class SegmentReader {
  readonly #files: FileOperations;
  readonly #pathOf: (segment: number) => string;
  readonly #descriptors = new Map<number, Promise<number>>();

  constructor(files: FileOperations, pathOf: (segment: number) => string) {
    this.#files = files;
    this.#pathOf = pathOf;
  }

  /** Reads slices; the answer is in the order asked for. */
  async read(slices: readonly Slice[]): Promise<Buffer[]> {
    const found = new Array<Buffer>(slices.length);
    await Promise.all(
      joinNeighbours(slices).map(async ({ segment, offset, end, members }) => {
        const descriptor = await this.#open(segment);
        const bytes = await readExactly(this.#files, descriptor, offset, end - offset);
        for (const member of members) {
          const slice = slices[member] as Slice;
          const start = slice.offset - offset;
          found[member] = bytes.subarray(start, start + slice.length);
        }
      }),
    );
    return found;
  }

  /** Closes the descriptor of a segment that nobody reads any more. */
  async forget(segment: number): Promise<void> {
    const opening = this.#descriptors.get(segment);
    this.#descriptors.delete(segment);
    const descriptor = await opening?.catch(() => undefined);
    if (descriptor !== undefined) await this.#files.close(descriptor);
  }

  async close(): Promise<void> {
    const descriptors = [...this.#descriptors.values()];
    this.#descriptors.clear();
    for (const opening of descriptors) {
      const descriptor = await opening.catch(() => undefined);
      if (descriptor !== undefined) await this.#files.close(descriptor);
    }
  }

  #open(segment: number): Promise<number> {
    let descriptor = this.#descriptors.get(segment);
    if (descriptor === undefined) {
      descriptor = this.#files.open(this.#pathOf(segment), "r");
      this.#descriptors.set(segment, descriptor);
      descriptor.catch(() => this.#descriptors.delete(segment)); // so that the next read tries again
    }
    return descriptor;
  }
}

function joinNeighbours(slices: readonly Slice[]): Run[] {
  const at = (index: number): Slice => slices[index] as Slice;
  const order = [...slices.keys()].sort(
    (a, b) => at(a).segment - at(b).segment || at(a).offset - at(b).offset,
  );
  const runs: Run[] = [];
  for (const index of order) {
    const { segment, offset, length } = at(index);
    const run = runs.at(-1);
    if (run !== undefined && run.segment === segment && offset - run.end <= NEAR_BYTES) {
      run.end = Math.max(run.end, offset + length);
      run.members.push(index);
    } else runs.push({ segment, offset, end: offset + length, members: [index] });
  }
  return runs;
}
