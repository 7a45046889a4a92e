/** The endings of names of secrets that an organization adds. */

/** Names in lower case, as a tree from their last letters to their first: by character code, the letters before it. */
export type Letters = ReadonlyMap<number, Letters>;

/** The end of a word that may end with a name. */
const WORD_END = /[^\w.-]/g;

/** The tree of names of which none ends with another one. */
export function lettersOf(names: Iterable<string>): Letters {
  type Growing = Map<number, Growing>;
  const last: Growing = new Map();
  for (const name of names) {
    let letters = last;
    for (let i = name.length - 1; i >= 0; i--) {
      const code = name.charCodeAt(i);
      const before = letters.get(code) ?? new Map();
      letters.set(code, before);
      letters = before;
    }
  }
  return last;
}

/**
 * Finds the words of one text that end with a name. Each word is compared once, from its end: otherwise a hundred names
 * that begin alike would be compared at every position. Positions must be asked for in rising order.
 */
export class NameEndings {
  readonly text: string;
  /** The number of letters that were compared. */
  steps = 0;
  readonly #last: Letters;
  /** The end of the word that was compared last. */
  #end = -1;
  /** The beginning of the name at the end of that word, if there is one. */
  #begin: number | undefined;

  constructor(last: Letters, text: string) {
    this.#last = last;
    this.text = text;
  }

  /** Whether the rest of the word at a position is a name. */
  hasAt(place: number): boolean {
    if (this.#end < place) {
      WORD_END.lastIndex = place;
      this.#end = WORD_END.exec(this.text)?.index ?? this.text.length;
      this.#begin = this.#beginOf(this.#end);
    }
    return place === this.#begin;
  }

  /** The beginning of the name that ends at a position, if one does. */
  #beginOf(end: number): number | undefined {
    let letters = this.#last;
    for (let place = end - 1; ; place--) {
      this.steps++;
      const before = letters.get(lowerCase(this.text.charCodeAt(place)));
      if (before === undefined) return undefined;
      if (before.size === 0) return place;
      letters = before;
    }
  }
}

/** The character code of an ASCII letter in lower case; any other code as it is. */
export function lowerCase(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
}
