/** Bytes that are read piece by piece. */
export interface Pieces extends AsyncIterable<Buffer> {
  /** Frees the source of the pieces. It is also freed when the reading ends or is stopped. */
  close(): void;
}

/** Adds a function that frees the source of pieces. It is called once, when they are read, left or closed. */
export function closing(pieces: AsyncIterable<Buffer>, close: () => void): Pieces {
  const read = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* pieces;
    } finally {
      close();
    }
  };
  return { [Symbol.asyncIterator]: read, close };
}
