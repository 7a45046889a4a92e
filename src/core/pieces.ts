/** Bytes that are read piece by piece. */
export interface Pieces extends AsyncIterable<Buffer> {
  /** Frees the source of the pieces. It is also freed when the reading ends or is stopped. */
  close(): void;
  /** Fires when the source must be left early: a piece that waits for its reader is not sent. */
  readonly lost?: AbortSignal | undefined;
}

/**
 * Adds a function that frees the source of pieces. It is called once, when they are read, left or closed. Not an async
 * generator, which would keep its last piece in memory until the next one is asked for.
 */
export function closing(
  pieces: AsyncIterable<Buffer>,
  close: () => void,
  lost?: AbortSignal,
): Pieces {
  const read = (): AsyncIterator<Buffer> => {
    const source = pieces[Symbol.asyncIterator]();
    return {
      async next() {
        try {
          const step = await source.next();
          if (step.done === true) close();
          return step;
        } catch (error) {
          close();
          throw error;
        }
      },
      async return() {
        close();
        await source.return?.();
        return { done: true, value: undefined };
      },
    };
  };
  return { [Symbol.asyncIterator]: read, close, lost };
}

/**
 * Hands on pieces one after another. Keeps none while it waits for the next one, as a loop would: hundreds of answers may
 * wait, each with an event of some MiB.
 */
export async function eachPiece<T>(
  pieces: AsyncIterable<T>,
  take: (piece: T) => Promise<void>,
): Promise<void> {
  const source = pieces[Symbol.asyncIterator]();
  const takeNext = async (): Promise<boolean> => {
    const { done, value } = await source.next();
    if (done === true) return false;
    await take(value);
    return true;
  };
  try {
    while (await takeNext());
  } catch (error) {
    await source.return?.();
    throw error;
  }
}
