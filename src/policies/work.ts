/**
 * The work of examining and evaluating policies, counted in steps. A step is about what it takes to
 * compare one character, a few nanoseconds. Time depends on the machine and its load; steps do not,
 * so that a document is accepted or refused for the same reason everywhere.
 */

/** The most steps that one document's tests, or one decision, may take: some seconds of a thread. */
export const MAX_STEPS = 300_000_000;

/** What a comparison costs besides its characters. */
export const COMPARISON_STEPS = 50;

/** What reading one node that an alias stands for costs. */
export const NODE_STEPS = 200;

/** What reading one token of YAML costs: the library makes several objects of each. */
const TOKEN_STEPS = 1_000;
const CHARACTER_STEPS = 4;

/** Thrown by `Work.spend` when the limit is passed. */
export class TooMuchWork extends Error {
  constructor(limit: number) {
    super(`takes more than ${limit.toLocaleString("en")} steps (compared characters)`);
    this.name = "TooMuchWork";
  }
}

/** Counts steps against a limit. One per request: whatever is done for it spends from the same. */
export class Work {
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
   * Counts steps that are about to be taken.
   *
   * @throws TooMuchWork when they pass the limit
   */
  spend(steps: number): void {
    this.#spent += steps;
    if (this.#spent > this.limit) throw new TooMuchWork(this.limit);
  }
}

/** By character code: whether the character can begin or end a token of YAML. */
const isIndicator = new Uint8Array(128);
for (const char of "\n\r\t:,-?[]{}#&*!|>'\"%@`\\") isIndicator[char.charCodeAt(0)] = 1;

/**
 * Estimates, from above, the steps that parsing a YAML text takes. Looks at no more of the text than is
 * needed to know that they are above the limit.
 */
export function parsingSteps(yaml: string, limit: number): number {
  let steps = yaml.length * CHARACTER_STEPS;
  for (let at = 0; at < yaml.length && steps <= limit; at++) {
    const code = yaml.charCodeAt(at);
    if (code < 128) steps += (isIndicator[code] as number) * TOKEN_STEPS;
  }
  return steps;
}
