/** The texts of an organization's own rules. */
import type { Work } from "../../core/work.ts";
import type { RedactionRule } from "./shapes.ts";

/**
 * The positions of literals in one text, found by `indexOf`. Comparing each literal at each position would be slow:
 * where texts and a hundred literals repeat one letter, it takes 25,000 steps for each character.
 */
export class Literals {
  /** The first remaining position of any literal. */
  next = Infinity;
  readonly #text: string;
  readonly #found: { readonly rule: RedactionRule; at: number }[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  *find(rules: readonly RedactionRule[]): Work<void> {
    for (const rule of rules) {
      const at = this.#placeOf(rule, 0);
      if (at !== Infinity) this.#found.push({ rule, at });
      this.next = Math.min(this.next, at);
      yield;
    }
  }

  /** The rules whose literal is at `next`. */
  rules(): readonly RedactionRule[] {
    return this.#found.filter(({ at }) => at === this.next).map(({ rule }) => rule);
  }

  /** Skips the positions before this one. */
  passTo(place: number): void {
    if (this.next >= place) return;
    this.next = Infinity;
    for (const found of this.#found) {
      if (found.at < place) found.at = this.#placeOf(found.rule, place);
      this.next = Math.min(this.next, found.at);
    }
  }

  #placeOf({ literal = "" }: RedactionRule, from: number): number {
    const at = this.#text.indexOf(literal, from);
    return at === -1 ? Infinity : at;
  }
}
