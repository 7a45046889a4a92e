/**
 * The doubts about a shell text. Allow rules apply only to texts in a plain part of the language, in which the commands
 * that were found are all that is run. Whatever reads something else raises a doubt, and the default decides.
 */
import { isHarmlessName } from "./harmless-variables.ts";

/** Whether there is a doubt about a text, or about a text nested in it. */
export class ShellDoubts {
  #any = false;

  get any(): boolean {
    return this.#any;
  }

  /** Records that the text may run more than what was found. */
  raise(): void {
    this.#any = true;
  }

  /**
   * Records that something other than an assignment sets a variable, such as a loop. No pattern of a rule can write
   * that, so only harmless variables may be set so.
   */
  set(name: string): void {
    if (!isHarmlessName(name, false)) this.raise();
  }
}
