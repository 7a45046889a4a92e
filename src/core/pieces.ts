/** Bytes that are read piece by piece. */
export interface Pieces extends AsyncIterable<Buffer> {
  /** Frees the source of the pieces. Reading to the end, or breaking off, frees it too. */
  close(): void;
}
