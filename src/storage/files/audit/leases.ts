/** Readers in progress. Removed files stay on disk until every reader that may need them is done. */
export class Leases {
  readonly #open = new Set<Promise<void>>();

  /** Whether no reader is in progress. */
  get areNone(): boolean {
    return this.#open.size === 0;
  }

  /**
   * Adds a reader, before it reads anything: retention may run before a client takes the first piece of an answer. The
   * reader calls the returned function when it is done.
   */
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
