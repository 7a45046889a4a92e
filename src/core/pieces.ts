/** Bytes that are read piece by piece. */
export interface Pieces extends AsyncIterable<Buffer> {
  /** Frees the source of the pieces. Reading to the end, or breaking off, frees it too. */
  close(): void;
}

/** Pieces with a function that frees their source; it is called once they are read, left, or closed. */
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
