import type { PolicyProblem } from "./schema.ts";

const MAX_PROBLEMS = 100;
const MAX_MESSAGE_LENGTH = 300;

/** Gathers what is wrong with a text, up to a hundred problems, and places each by line and column. */
export class Problems {
  readonly #text: string;
  readonly #found: { readonly offset: number; readonly message: string }[] = [];
  #lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get count(): number {
    return this.#found.length;
  }

  /** Notes a problem at an offset, counted in UTF-16 code units; a message is cut to one short line. */
  add(offset: number, message: string): void {
    if (this.#found.length >= MAX_PROBLEMS) return;
    const isLong = message.length > MAX_MESSAGE_LENGTH;
    const cut = isLong ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
    // Breaks of every kind, and the half of a surrogate pair that a cut may have left.
    const line = cut.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ");
    this.#found.push({ offset: Math.min(Math.max(offset, 0), this.#text.length), message: line });
  }

  /** The problems in the order of the text. Lines end at LF, CR LF or CR; columns count code units. */
  list(): readonly PolicyProblem[] {
    const ordered = this.#found.toSorted((a, b) => a.offset - b.offset);
    return ordered.map(({ offset, message }) => ({ message, ...this.#position(offset) }));
  }

  #position(offset: number): { readonly line: number; readonly column: number } {
    const starts = (this.#lineStarts ??= lineStarts(this.#text));
    let low = 0;
    for (let high = starts.length; high - low > 1;) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: Math.max(offset - (starts[low] as number), 0) + 1 };
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [text.startsWith("\uFEFF") ? 1 : 0]; // a byte order mark has no column
  for (const end of text.matchAll(/\r\n?|\n/g)) starts.push(end.index + end[0].length);
  return starts;
}
