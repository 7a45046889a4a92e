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
