import type { Word } from "./command.ts";

/** The most words, options and their values, that are left out behind a program. */
export const MAX_SKIPPED = 16;

/**
 * Leaves out the options in front of a command's arguments, as in `git -C dir push`. Whether an option takes a value is
 * not known, so each is left out with and without one.
 *
 * @returns the program with the remaining arguments, once for each number of words that are left out
 */
export function* withoutLeadingOptions(words: readonly Word[]): Generator<readonly Word[]> {
  const [program, ...rest] = words.slice(0, MAX_SKIPPED + 1);
  if (!program) return;
  let mayBeValue = false;
  for (const [at, { value }] of rest.entries()) {
    const isOption = value.startsWith("-");
    if (!isOption && !mayBeValue) return;
    const left = words.slice(at + 2);
    if (left.length === 0) return;
    yield [program, ...left];
    mayBeValue = isOption && !value.includes("=");
  }
}
