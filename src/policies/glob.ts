/** Matches texts against patterns with stars, in their letter case, and counts the work. */
import { StarPattern } from "../core/star-pattern.ts";
import { COMPARISON_STEPS, type StepBudget } from "./step-budget.ts";

/** The steps of splitting and searching for each character. */
const SEARCH_STEPS = 4;

/** A pattern that was taken apart once, to be compared with many texts. */
export interface Glob {
  readonly length: number;
  readonly stars: StarPattern;
}

/** Takes a pattern apart. */
export function globOf(pattern: string): Glob {
  return { length: pattern.length, stars: new StarPattern(pattern) };
}

/**
 * Whether a whole text matches a pattern.
 *
 * @throws TooMuchWork when the comparison exceeds the limit of `work`
 */
export function matchesGlob({ length, stars }: Glob, text: string, work: StepBudget): boolean {
  work.spend(COMPARISON_STEPS + SEARCH_STEPS * length);
  if (!stars.fitsEnds(text)) return false;
  if (stars.hasInner) work.spend(SEARCH_STEPS * (length + text.length));
  return stars.fitsInner(text);
}
