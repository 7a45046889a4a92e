import type { Pieces } from "../../../core/pieces.ts";

/** Who is reading: files that are removed stay until everybody who may know of them is done. */
export class Leases {
  readonly #open = new Set<Promise<void>>();

  /** Whether nobody is reading. */
  get areNone(): boolean {
    return this.#open.size === 0;
  }

  /** Enters a reader, who calls what is returned when it is done. */
  take(): () => void {
    let done = (): void => {};
    const lease = new Promise<void>((resolve) => {
      done = () => {
        this.#open.delete(lease);
        resolve();
      };
    });
    this.#open.add(lease);
    return done;
  }

  /** Resolves when those who are reading now are done. */
  async ended(): Promise<void> {
    await Promise.all(this.#open);
  }
}

/** Keeps the files of the segments until what it returns is called. */
export type Lease = () => () => void;

/** Takes the lease now: retention may come before the first piece is asked for. */
export function underLease(pieces: AsyncIterable<Buffer>, lease: Lease): Pieces {
  const close = lease();
  const read = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* pieces;
    } finally {
      close();
    }
  };
  return { [Symbol.asyncIterator]: read, close };
}
