/**
 * Filters in whose values `*` stands for any text, also for none. Letters from A to Z match in either case, other
 * characters only themselves: every storage engine can tell these letters alike, while each has its own rules for others.
 */
import { BadInput } from "../core/errors.ts";
import { StarPattern } from "../core/star-pattern.ts";
import {
  excluding,
  type ExactFilter,
  type ExcludingFilter,
  TEXT_FILTERS,
  type TextField,
} from "./event-fields.ts";

/** A filter that matches a part of a field. */
export interface Wildcard {
  readonly parameter: ExactFilter | ExcludingFilter;
  readonly field: TextField;
  /** The value with its asterisks. */
  readonly text: string;
  /** Whether it leaves out the events that it matches. */
  readonly isExcluded: boolean;
}

/** The most asterisks in a value: each may cost a search in every value that it is compared with. */
export const MOST_ASTERISKS = 64;

/** The filters whose values may have asterisks. */
export const WILDCARD_FILTERS = TEXT_FILTERS.map(({ filter }) => filter);

const NAME = `\\s*(?:not_)?(?:${WILDCARD_FILTERS.join("|")})\\s*`;
/** The form of the names of filters, as `wildcardsOf` reads them. */
export const WILDCARD_NAMES = { pattern: `^${NAME}(?:,${NAME})*$` } as const;

const PARAMETERS: ReadonlyMap<string, Omit<Wildcard, "text">> = new Map(
  TEXT_FILTERS.flatMap(({ filter, name: field }) => {
    return ([filter, excluding(filter)] as const).map((parameter) => {
      return [parameter, { parameter, field, isExcluded: parameter !== filter }] as const;
    });
  }),
);

/**
 * Reads the names of filters, in their order; `undefined` if none of them has a value.
 *
 * @throws BadInput for a name of another parameter, and for a value with too many asterisks
 */
export function wildcardsOf(
  names: string | undefined,
  given: { readonly [Name in ExactFilter | ExcludingFilter]?: string | undefined },
): readonly Wildcard[] | undefined {
  if (names === undefined) return undefined;
  const wanted = new Set(names.split(",").map((name) => name.trim()));
  for (const name of wanted) {
    if (PARAMETERS.has(name)) continue;
    const known = WILDCARD_FILTERS.join(", ");
    throw new BadInput(
      `wildcards: ${JSON.stringify(name)} is not one of ${known}, or not_ and one`,
    );
  }
  const found = [...PARAMETERS.values()].flatMap((wildcard) => {
    const text = wanted.has(wildcard.parameter) ? given[wildcard.parameter] : undefined;
    return text === undefined ? [] : [{ ...wildcard, text: withFewAsterisks(wildcard, text) }];
  });
  return found.length === 0 ? undefined : found;
}

function withFewAsterisks({ parameter }: Pick<Wildcard, "parameter">, text: string): string {
  const pieces = text.split("*", MOST_ASTERISKS + 2); // no more: a body may have millions
  if (pieces.length <= MOST_ASTERISKS + 1) return text;
  throw new BadInput(
    `${parameter}: has more than ${MOST_ASTERISKS} asterisks: leave out text between two, since one stands for any text`,
  );
}

/** The texts between the asterisks of a value, which a match contains in this order. */
export function partsOf(text: string): readonly string[] {
  return inLowerCase(text).split("*");
}

/** Makes the test whether a value matches. */
export function wildcardTest(text: string): (value: string | undefined) => boolean {
  const pattern = new StarPattern(inLowerCase(text.toWellFormed()));
  return (value) => value !== undefined && pattern.matches(inLowerCase(value.toWellFormed()));
}

/** Makes A to Z lower-case. A call for each run of them took 6 ms for 64 KiB in which every second letter is one. */
function inLowerCase(text: string): string {
  if (!/[^\0-\x7f]/.test(text)) return text.toLowerCase();
  const units = Buffer.from(text, "utf16le");
  for (let at = 0; at < units.length; at += 2) {
    const unit = units[at] as number;
    if (unit >= 0x41 && unit <= 0x5a && units[at + 1] === 0) units[at] = unit + 0x20;
  }
  return units.toString("utf16le");
}
