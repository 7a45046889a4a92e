/** The texts of an organization's own rules. */
import type { Work } from "../../core/scheduling/work.ts";
import type { RedactionRule } from "./shapes.ts";

/** The literals that begin with one of them, and their rules in the order in which they are tried. */
export interface LiteralFamily {
  readonly text: string;
  readonly rules: readonly RedactionRule[];
}

/** The families of the literals of rules. Two of them are never at one position. */
export function literalFamilies(rules: readonly RedactionRule[]): readonly LiteralFamily[] {
  const texts = [...new Set(rules.flatMap(({ literal }) => literal ?? []))];
  const shortest = texts.filter(
    (text) => !texts.some((start) => start !== text && text.startsWith(start)),
  );
  return shortest.map((text) => ({
    text,
    rules: rules.filter(({ literal }) => literal?.startsWith(text)),
  }));
}

/** A family that a text has, or one of its rules. */
interface Found<Of> {
  readonly of: Of;
  readonly text: string;
  /** A position without another one between it and the position that was asked for. */
  at: number;
}

/**
 * The positions of literals in one text, found by `indexOf`. Comparing each literal at each position would be slow:
 * where texts and a hundred literals repeat one letter, it takes 25,000 steps for each character. There the next position
 * of all literals is the same too, so a family is searched as one: the others are searched where its shortest one is.
 */
export class Literals {
  /** The first remaining position of any literal. */
  next = Infinity;
  /** The number of searches. */
  steps = 0;
  readonly #text: string;
  readonly #found: Found<readonly Found<RedactionRule>[]>[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  *find(families: readonly LiteralFamily[]): Work<void> {
    for (const { text, rules } of families) {
      const at = this.#placeOf(text, 0);
      yield;
      if (at === Infinity) continue;
      const found: Found<RedactionRule>[] = [];
      for (const rule of rules) {
        const { literal = "" } = rule;
        const place = this.#placeOf(literal, at);
        if (place !== Infinity) found.push({ of: rule, text: literal, at: place });
        yield;
      }
      this.#found.push({ of: found, text, at });
      this.next = Math.min(this.next, at);
    }
  }

  /** The rules whose literal is at `next`. */
  *rules(): Iterable<RedactionRule> {
    const family = this.#found.find(({ at }) => at === this.next);
    for (const found of family?.of ?? []) {
      if (this.#placeFrom(found, this.next) === this.next) yield found.of;
    }
  }

  /** Skips the positions before this one. */
  passTo(place: number): void {
    if (this.next >= place) return;
    this.next = Infinity;
    for (const family of this.#found) {
      this.next = Math.min(this.next, this.#placeFrom(family, place));
    }
  }

  #placeFrom(found: Found<unknown>, place: number): number {
    if (found.at < place) found.at = this.#placeOf(found.text, place);
    return found.at;
  }

  #placeOf(text: string, from: number): number {
    this.steps++;
    const at = this.#text.indexOf(text, from);
    return at === -1 ? Infinity : at;
  }
}
