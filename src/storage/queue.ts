/** Runs tasks one after another; a task that fails rejects its own caller and frees the next. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a task when all earlier ones have ended. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when everything that was given so far has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
