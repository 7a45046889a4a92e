/** The parts of a text that are secret. */
import type { Work } from "../../core/scheduling/work.ts";
import type { Reach } from "./shapes.ts";
import { MARK } from "./values.ts";

/** A part of a text; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A part of a text to replace. */
export interface Secret extends Span {
  readonly rule: string;
  /** Whether it belongs to the secret before it. */
  readonly isRest: boolean;
  /** See `RedactionRule`. */
  readonly reach: Reach | undefined;
}

/** How often a rule has replaced a secret. */
export interface Redaction {
  readonly rule: string;
  readonly count: number;
}

/** A text without its secrets. */
export interface Redacted {
  readonly text: string;
  /** In the order of the first secret of each rule. */
  readonly redactions: readonly Redaction[];
}

/** Secrets after these become `*`, so that a text cannot grow without bound. */
const MOST_MARKS = 1000;

/** The secrets that are replaced in one part of the work: well below a millisecond. */
const SECRETS_OF_A_PART = 512;

/** Replaces the secrets of a text, which are in the order of the text and may overlap. */
export function* replaced(text: string, secrets: readonly Secret[]): Work<Redacted> {
  if (secrets.length === 0) return { text, redactions: [] };
  let done = "";
  let parts: string[] = [];
  const counts = new Map<string, number>();
  let copied = 0;
  let marks = 0;
  for (const [index, { start, end, rule, isRest }] of secrets.entries()) {
    if (index > 0 && index % SECRETS_OF_A_PART === 0) {
      done += parts.join("");
      parts = [];
      yield;
    }
    if (start >= copied) {
      parts.push(text.slice(copied, start));
      if (!isRest) {
        parts.push(marks++ < MOST_MARKS ? `${MARK}${rule}]` : "*");
        counts.set(rule, (counts.get(rule) ?? 0) + 1);
      }
    }
    copied = Math.max(copied, end);
  }
  parts.push(text.slice(copied));
  return {
    text: done + parts.join(""),
    redactions: Array.from(counts, ([rule, count]) => ({ rule, count })),
  };
}

/** Joins two lists that are in order. Of two at one place, the first list's is first. */
export function inOrder(first: readonly Secret[], second: readonly Secret[]): readonly Secret[] {
  if (first.length === 0) return second;
  const all: Secret[] = [];
  let index = 0;
  for (const secret of first) {
    for (; index < second.length; index++) {
      const other = second[index] as Secret;
      if (other.start >= secret.start) break;
      all.push(other);
    }
    all.push(secret);
  }
  return all.concat(second.slice(index));
}

/** The index of the last of the ascending numbers that is not above a number; -1 if there is none. */
export function lastBefore(numbers: readonly number[], most: number): number {
  let from = 0;
  let to = numbers.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] as number) <= most) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}
