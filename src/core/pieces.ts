/** Bytes that are read piece by piece. */
export interface Pieces extends AsyncIterable<Buffer> {
  /** Frees the source of the pieces. It is also freed when the reading ends or is stopped. */
  close(): void;
}

/**
 * Adds a function that frees the source of pieces. It is called once, when they are read, left or closed. Not an async
 * generator, which would keep its last piece in memory until the next one is asked for.
 */
export function closing(pieces: AsyncIterable<Buffer>, close: () => void): Pieces {
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
  return { [Symbol.asyncIterator]: read, close };
}
