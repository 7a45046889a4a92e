/**
 * The work of examining and evaluating policies, counted in steps. A step is about the cost of comparing
 * one character, a few nanoseconds. Unlike time, steps do not depend on the machine and its load, so a
 * document is accepted or refused for the same reason everywhere.
 */

/**
 * The most steps for one document's tests, for one decision, or for one draft, which parses the document again for each
 * change: some seconds of a thread, and others wait for them.
 */
export const MAX_STEPS = 300_000_000;

/** The cost of a comparison, besides its characters. */
export const COMPARISON_STEPS = 50;

/** The cost of reading one node that an alias refers to. */
export const NODE_STEPS = 200;

/** The cost of reading one token of YAML: the library makes several objects of each. */
const TOKEN_STEPS = 1_000;
const CHARACTER_STEPS = 4;

/** Thrown by `spend` when the limit is exceeded. */
export class TooMuchWork extends Error {
  constructor(limit: number) {
    super(`takes more than ${limit.toLocaleString("en")} steps (compared characters)`);
    this.name = "TooMuchWork";
  }
}

/** Counts steps against a limit. All work of one request shares one budget. */
export class StepBudget {
  readonly limit: number;
  #spent = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** The steps spent so far. */
  get spent(): number {
    return this.#spent;
  }

  /**
   * Counts steps before they are taken.
   *
   * @throws TooMuchWork when they exceed the limit
   */
  spend(steps: number): void {
    this.#spent += steps;
    if (this.#spent > this.limit) throw new TooMuchWork(this.limit);
  }
}

/** By character code: 1 if the character can begin or end a token of YAML. */
const isIndicator = new Uint8Array(128);
for (const char of "\n\r\t:,-?[]{}#&*!|>'\"%@`\\") isIndicator[char.charCodeAt(0)] = 1;

/** An upper estimate of the steps of parsing a YAML text. Stops reading the text when the limit is exceeded. */
export function parsingSteps(yaml: string, limit: number): number {
  let steps = yaml.length * CHARACTER_STEPS;
  for (let at = 0; at < yaml.length && steps <= limit; at++) {
    const code = yaml.charCodeAt(at);
    if (code < 128) steps += (isIndicator[code] as number) * TOKEN_STEPS;
  }
  return steps;
}
