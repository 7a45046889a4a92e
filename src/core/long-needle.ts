/**
 * Finds a long text in linear time. The native search compares up to half of the needle at each position of a hostile
 * text: looking for 7 KB in 40 MB took 20 seconds. So it only finds the beginning of the needle; from there each
 * character is read once, as Knuth, Morris and Pratt do.
 */
const BEGINNING = 32;
/** In hostile texts the native search is slow for longer needles. */
export const LONG_NEEDLE = 250;

/** A `Buffer`, as far as a search needs it: pages search texts in browsers, which have none. */
type Bytes = Uint8Array & { indexOf(bytes: string, from: number): number };

/** A text or bytes, more than 32, that are looked for in others of their kind. */
export class LongNeedle<Text extends string | Bytes> {
  readonly #beginning: Text;
  readonly #codes: Uint16Array;
  /** For each number of matching characters: how many of them still match when the next one does not. */
  readonly #kept: Uint32Array;

  constructor(needle: Text) {
    this.#beginning = needle.slice(0, BEGINNING) as Text;
    const codeAt = codesOf(needle);
    const codes = Uint16Array.from({ length: needle.length }, (_, at) => codeAt(at));
    this.#codes = codes;
    this.#kept = new Uint32Array(codes.length);
    for (let at = 1, matching = 0; at < codes.length; at++) {
      this.#kept[at] = matching;
      while (matching > 0 && codes[at] !== codes[matching]) {
        matching = this.#kept[matching] as number;
      }
      if (codes[at] === codes[matching]) matching++;
    }
  }

  get length(): number {
    return this.#codes.length;
  }

  /** The first position from `from` on; -1 if there is none. */
  indexIn(text: Text, from: number): number {
    const codes = this.#codes;
    const kept = this.#kept;
    const codeAt = codesOf(text);
    for (let next = from; ;) {
      const start = text.indexOf(this.#beginning as string, next);
      if (start === -1) return -1;
      let matching = this.#beginning.length;
      for (next = start + matching; matching > 0;) {
        if (matching === codes.length) return next - matching;
        if (next === text.length) return -1;
        if (codeAt(next) === codes[matching]) {
          matching++;
          next++;
        } else matching = kept[matching] as number;
      }
    }
  }
}

/** Makes the search for a text of any length: the first position from `from` on, or -1, in linear time. */
export function finderOf<Text extends string | Bytes>(
  needle: Text,
): (text: Text, from: number) => number {
  if (needle.length <= LONG_NEEDLE) return (text, from) => text.indexOf(needle as string, from);
  const long = new LongNeedle(needle);
  return (text, from) => long.indexIn(text, from);
}

/** Makes the test whether a text contains another one, in linear time. */
export function containing(needle: string): (text: string) => boolean {
  const find = finderOf(needle);
  return (text) => find(text, 0) !== -1;
}

function codesOf(text: string | Bytes): (at: number) => number {
  return typeof text === "string" ? (at) => text.charCodeAt(at) : (at) => text[at] as number;
}
