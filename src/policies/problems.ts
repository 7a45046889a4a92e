import type { PolicyProblem } from "./schema.ts";
import { placesIn } from "./text-places.ts";

const MAX_PROBLEMS = 100;
const MAX_MESSAGE_LENGTH = 300;

/** Collects up to a hundred problems of a text, and finds the line and column of each. */
export class Problems {
  readonly #text: string;
  readonly #found: { readonly offset: number; readonly message: string }[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  get count(): number {
    return this.#found.length;
  }

  /** Whether further problems are dropped. */
  get isFull(): boolean {
    return this.#found.length >= MAX_PROBLEMS;
  }

  /** Adds a problem at an offset, counted in UTF-16 code units; the message is cut to one short line. */
  add(offset: number, message: string): void {
    if (this.isFull) return;
    const isLong = message.length > MAX_MESSAGE_LENGTH;
    const cut = isLong ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
    // Line breaks of every kind, and an unpaired surrogate that the cut may have left.
    const line = cut.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ");
    this.#found.push({ offset: Math.min(Math.max(offset, 0), this.#text.length), message: line });
  }

  /** The problems in the order of the text. */
  list(): readonly PolicyProblem[] {
    const placeOf = placesIn(this.#text);
    return this.#found
      .toSorted((a, b) => a.offset - b.offset)
      .map(({ offset, message }) => ({ message, ...placeOf(offset) }));
  }
}
