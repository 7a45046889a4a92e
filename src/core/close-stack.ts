/** Steps that close what was opened, run in the opposite order of opening. */
export class CloseStack {
  readonly #steps: (() => unknown)[] = [];
  #closing: Promise<void> | undefined;

  /** Adds a step, which runs before all earlier ones and may return a promise. */
  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Adds the closing of a part, and returns the part. */
  keep<T extends { close(): unknown }>(part: T): T {
    this.add(() => part.close());
    return part;
  }

  /**
   * Runs every step, once. A step that fails does not stop the others: the last one frees the lock.
   *
   * @throws the error of the step that failed; an `AggregateError` when several did
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
 * Opens part after part. When one cannot be opened, those before it are closed again.
 *
 * @returns what was opened, with the function that closes all of it
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
