/** UTF-8 in lower case, by the byte where a text is ASCII, as nearly all are. */

const LOWER = Uint8Array.from({ length: 128 }, (_, byte) =>
  byte >= 65 && byte <= 90 ? byte + 32 : byte,
);

/** A lower-cased text takes at most this many times the bytes: `Ⱥ` takes two, `ⱥ` three. */
export const LOWER_CASE_GROWTH = 1.5;

/**
 * Writes what `toLowerCase()` makes of the text between two places.
 *
 * @param target has room for `LOWER_CASE_GROWTH` times the text from `at` on
 * @returns where the written text ends
 */
export function writeLowerCase(
  text: Buffer,
  from: number,
  to: number,
  target: Buffer,
  at: number,
): number {
  let end = at;
  for (let i = from; i < to; i++) {
    const byte = text[i] as number;
    // One letter may depend on those around it: a sigma at the end of a word.
    if (byte > 127) return at + target.write(text.toString("utf8", from, to).toLowerCase(), at);
    target[end++] = LOWER[byte] as number;
  }
  return end;
}
