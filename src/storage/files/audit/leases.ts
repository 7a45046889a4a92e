import { closing, type Pieces } from "../../../core/pieces.ts";

/** Readers in progress. Removed files stay on disk until every reader that may need them is done. */
export class Leases {
  readonly #open = new Set<Promise<void>>();

  /** Whether no reader is in progress. */
  get areNone(): boolean {
    return this.#open.size === 0;
  }

  /** Adds a reader. The reader calls the returned function when it is done. */
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

  /** Resolves when all readers of this moment are done. */
  async ended(): Promise<void> {
    await Promise.all(this.#open);
  }
}

/** Takes a lease on the segment files, and returns the function that ends it. */
export type Lease = () => () => void;

/** Reads pieces under a lease. The lease is taken now, since retention may run before the first piece is read. */
export function underLease(pieces: AsyncIterable<Buffer>, lease: Lease): Pieces {
  return closing(pieces, lease());
}
