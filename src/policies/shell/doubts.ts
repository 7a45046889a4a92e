/**
 * The doubts about a shell text. Allow rules apply only to texts in a plain part of the language, in which the commands
 * that were found are all that is run. Whatever reads something else raises a doubt, and the default decides.
 */
import { isHarmlessName } from "./harmless-variables.ts";

/** The doubt about `$((…))` with names, and about `((`. */
export const ARITHMETIC = "arithmetic with more than numbers";

/** The first doubt about a text, or about a text nested in it. */
export class ShellDoubts {
  #first: string | undefined;

  /** The part of the text that is not plain, as in "an array"; `undefined` if there is no doubt. */
  get first(): string | undefined {
    return this.#first;
  }

  /**
   * Records that the text may run more than what was found.
   *
   * @param what the part of the text that is not plain, as in "an array"
   */
  raise(what: string): void {
    this.#first ??= what;
  }

  /**
   * Records that something other than an assignment sets a variable, such as a loop. No pattern of a rule can write
   * that, so only harmless variables may be set so.
   */
  set(name: string): void {
    if (!isHarmlessName(name, false)) this.raise("a variable that programs read");
  }
}
