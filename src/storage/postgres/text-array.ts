/** The type of the elements, in the catalog of every PostgreSQL. */
const TEXT = 25;
const HEADER_BYTES = 20;
/** To count the bytes of a shorter text takes longer than to write it. */
const SHORT_LENGTH = 256;

/**
 * Encodes texts as a parameter of the type `text[]`, in PostgreSQL's binary format. The database reads it several
 * times as fast as JSON or the text format of an array, since it contains no quotes and escapes.
 */
export function textArray(texts: readonly (string | undefined)[]): Buffer {
  const most = texts.reduce((sum, text) => sum + 4 + mostBytes(text), HEADER_BYTES);
  const array = Buffer.allocUnsafe(most);
  array.writeInt32BE(1, 0); // dimensions
  array.writeInt32BE(1, 4); // there may be NULLs
  array.writeInt32BE(TEXT, 8);
  array.writeInt32BE(texts.length, 12);
  array.writeInt32BE(1, 16); // the first index
  let at = HEADER_BYTES;
  for (const text of texts) {
    const start = at + 4;
    const bytes = text === undefined ? 0 : array.write(text, start);
    array.writeInt32BE(text === undefined ? -1 : bytes, at);
    at = start + bytes;
  }
  return array.subarray(0, at);
}

function mostBytes(text = ""): number {
  return text.length < SHORT_LENGTH ? 3 * text.length : Buffer.byteLength(text); // a code unit takes at most three bytes
}
