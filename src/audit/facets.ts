/** Facets: how many of the matching events have each value of a field. */
import { compareTexts } from "../core/compare-texts.ts";
import { FILTERED_FIELDS, type EventFieldName } from "./event-fields.ts";

/** The fields that are counted, by the names of their filters. */
export const FACETS = [
  "decision",
  "reason",
  "executor",
  "provider",
  "runtime",
  "policy",
  "consumer",
  "capability",
  "status",
  "reported_by",
  "observed",
] as const;
export type FacetName = (typeof FACETS)[number];

/** Each facet, and the field of events that it counts. */
export const FACET_FIELDS: readonly (readonly [FacetName, EventFieldName])[] = FACETS.map(
  (facet) => [facet, FILTERED_FIELDS.find(({ filter }) => filter === facet)?.name ?? "reason"],
);

/** The longest value that is listed, in characters: runtimes send texts of up to 64 KiB. */
export const LONGEST_LISTED = 256;

/** Whether facets, counts and suggestions list a value of a field. */
export function isListed(value: string): boolean {
  return value.length <= LONGEST_LISTED;
}

/** A value of a field, and the number of events that have it. */
export type ValueCount = readonly [value: string, events: number];

/** Sorts values by their events, then by the value in lower case, and takes the first ones. */
export function mostFrequent(counts: Iterable<ValueCount>, most: number): readonly ValueCount[] {
  const listed = [...counts].filter(([value]) => value !== "" && isListed(value));
  // Most values have too few events, so that only few texts are compared.
  const least =
    Float64Array.from(listed, ([, events]) => events)
      .sort()
      .at(-most) ?? 0;
  return listed
    .filter(([, events]) => events >= least)
    .map((count) => ({ count, key: count[0].toLowerCase() }))
    .sort(
      ({ count: [a, m], key }, { count: [b, n], key: other }) =>
        n - m || compareTexts(key, other) || compareTexts(a, b),
    )
    .slice(0, most)
    .map(({ count }) => count);
}
