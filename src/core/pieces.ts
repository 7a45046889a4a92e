/** Bytes that are read piece by piece. */
export interface Pieces extends AsyncIterable<Buffer> {
  /** Frees what the pieces are read from. Reading to the end does so too, and so does leaving off. */
  close(): void;
}
