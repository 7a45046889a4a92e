/** The type of the elements, in the catalog of every PostgreSQL. */
const TEXT = 25;
const HEADER_BYTES = 20;

/**
 * Encodes texts as a parameter of the type `text[]`, in PostgreSQL's binary format. The database reads it several
 * times as fast as JSON or the text format of an array, since it contains no quotes and escapes.
 */
export function textArray(texts: readonly (string | undefined)[]): Buffer {
  const sizes = texts.map((text) => (text === undefined ? 0 : Buffer.byteLength(text)));
  const size = sizes.reduce((sum, bytes) => sum + 4 + bytes, HEADER_BYTES);
  const array = Buffer.allocUnsafe(size);
  array.writeInt32BE(1, 0); // dimensions
  array.writeInt32BE(1, 4); // there may be NULLs
  array.writeInt32BE(TEXT, 8);
  array.writeInt32BE(texts.length, 12);
  array.writeInt32BE(1, 16); // the first index
  let at = HEADER_BYTES;
  for (const [i, text] of texts.entries()) {
    at = array.writeInt32BE(text === undefined ? -1 : (sizes[i] as number), at);
    if (text !== undefined) at += array.write(text, at);
  }
  return array;
}
