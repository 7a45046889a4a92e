/** Steps that close parts, run in the reverse order of opening. */
export class CloseStack {
  readonly #steps: (() => unknown)[] = [];
  #closing: Promise<void> | undefined;

  /** Adds a step, which runs before all earlier ones and may return a promise. */
  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Adds a step that closes a part, and returns the part. */
  keep<T extends { close(): unknown }>(part: T): T {
    this.add(() => part.close());
    return part;
  }

  /**
   * Runs every step once. A failing step does not stop the others: the last step releases the lock.
   *
   * @throws the error of the failed step; an `AggregateError` if several failed
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#run());
  }

  async #run(): Promise<void> {
    const errors: unknown[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        errors.push(error);
      }
    }
    throwAll(errors);
  }
}

/**
 * Opens several parts. If one cannot be opened, the parts opened before are closed again.
 *
 * @returns the open parts, and a function that closes all of them
 */
export async function openParts<T extends object>(
  open: (opened: CloseStack) => Promise<T>,
): Promise<T & { close(): Promise<void> }> {
  const opened = new CloseStack();
  try {
    return { ...(await open(opened)), close: () => opened.close() };
  } catch (error) {
    const errors = [error];
    await opened.close().catch((also: unknown) => errors.push(also));
    throwAll(errors);
    throw error;
  }
}

function throwAll(errors: readonly unknown[]): void {
  const [first] = errors;
  if (errors.length > 1) {
    throw new AggregateError(errors, first instanceof Error ? first.message : String(first));
  }
  if (errors.length === 1) throw first;
}
