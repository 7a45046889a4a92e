/**
 * Matches texts against patterns in which `*` stands for zero or more characters. Every other character
 * stands for itself, in its letter case. Patterns do not become regular expressions, and there is no
 * backtracking: the pieces between the stars are found from left to right, long ones by the
 * Knuth-Morris-Pratt algorithm. So a match always takes time linear in the sum of both lengths.
 */
import { COMPARISON_STEPS, type StepBudget } from "./step-budget.ts";

/** The steps of splitting and searching for each character. */
const SEARCH_STEPS = 4;
/** The longest piece that `indexOf` finds: faster, but its worst case is the product of both lengths. */
const SHORT_PIECE = 16;

/** A pattern that was taken apart once, to be compared with many texts. */
export interface Glob {
  readonly pattern: string;
  /** The texts around the stars; one of them for a pattern without stars. */
  readonly pieces: readonly Piece[];
}

interface Piece {
  readonly text: string;
  /** For each prefix of a long text, the length of its longest proper prefix that is also its suffix. */
  readonly borders: Uint32Array | undefined;
}

/** Takes a pattern apart. */
export function globOf(pattern: string): Glob {
  const pieces = pattern.split("*").map((text) => {
    return { text, borders: text.length > SHORT_PIECE ? bordersOf(text) : undefined };
  });
  return { pattern, pieces };
}

/**
 * Whether a whole text matches a pattern.
 *
 * @throws TooMuchWork when the comparison exceeds the limit of `work`
 */
export function matchesGlob({ pattern, pieces }: Glob, text: string, work: StepBudget): boolean {
  work.spend(COMPARISON_STEPS + SEARCH_STEPS * pattern.length);
  if (pieces.length === 1) return text === pattern;
  const { text: first } = pieces[0] as Piece;
  const { text: last } = pieces[pieces.length - 1] as Piece;
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  if (pieces.length > 2) work.spend(SEARCH_STEPS * (pattern.length + text.length));
  let at = first.length;
  for (let i = 1; i < pieces.length - 1; i++) {
    // The earliest position leaves the most room for the pieces that follow.
    at = endOfFirst(pieces[i] as Piece, text, at, end);
    if (at === -1) return false;
  }
  return true;
}

/** Finds the first `piece` in `text` between `start` and `end`; returns the position after it, or -1. */
function endOfFirst(
  { text: piece, borders }: Piece,
  text: string,
  start: number,
  end: number,
): number {
  if (borders === undefined) return endOfShort(piece, text, start, end);
  let matched = 0;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && code !== piece.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (code === piece.charCodeAt(matched)) matched++;
    if (matched === piece.length) return at + 1;
  }
  return -1;
}

function endOfShort(piece: string, text: string, start: number, end: number): number {
  const at = text.indexOf(piece, start);
  return at === -1 || at + piece.length > end ? -1 : at + piece.length;
}

function bordersOf(piece: string): Uint32Array {
  const borders = new Uint32Array(piece.length);
  let length = 0;
  for (let at = 1; at < piece.length; at++) {
    const code = piece.charCodeAt(at);
    while (length > 0 && code !== piece.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (code === piece.charCodeAt(length)) length++;
    borders[at] = length;
  }
  return borders;
}
