/** Runs tasks one after another; a task that fails rejects its own caller and frees the next. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a task after all earlier ones. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when all added tasks have ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
