/** Filters as conditions of SQL, with their values as parameters. */
import {
  EXCLUDED_FIELDS,
  excluding,
  FILTERED_FIELDS,
  type EventFieldName,
} from "../../../audit/event-fields.ts";
import type { AuditFilter } from "../../../audit/store.ts";
import { partsOf } from "../../../audit/wildcards.ts";
import { slicesOf } from "../../../core/slices.ts";
import type { Values } from "../values.ts";
import { columnOf, searchForm, SEARCH_PARTS } from "./records.ts";

/** The column of `audit_events` that has a field. */
export function columnFor(field: EventFieldName): string {
  return field === "policy_decision" ? "decision" : field;
}

/** The filters that search one part of the column `search`. */
const SEARCHES = [
  ["q", SEARCH_PARTS.q],
  ["reason", SEARCH_PARTS.reason],
] as const;

/** The columns that are indexed once a day is over; `trace_id` is indexed at once. */
export const INDEXED = ["provider", "executor", "capability", "status", "runtime_name", "policy"];
/** An index contains only the beginning of a text, since a whole text may be too long for it. */
export const INDEXED_CHARACTERS = 64;

/** The most characters in a pattern of `LIKE`. */
const LONGEST_PATTERN = 100;

/** The condition that a column has a value, in a form that can use the index. */
function equalText(column: string, values: Values, wanted: string): string {
  const value = values.add(wanted);
  if (column !== "trace_id" && !INDEXED.includes(column)) return `${column} = ${value}`;
  const beginning = `left(${column}, ${INDEXED_CHARACTERS})`;
  // The beginning of a shorter text is the whole text.
  if (wanted.length < INDEXED_CHARACTERS) return `${beginning} = ${value}`;
  return `${beginning} = left(${value}, ${INDEXED_CHARACTERS}) AND ${column} = ${value}`;
}

/** The conditions of a filter. Each begins with `AND`, so that it can follow another condition. */
export function conditionsOf(filter: AuditFilter, values: Values): string {
  const { from, to } = filter;
  const conditions: string[] = [];
  if (from !== undefined) conditions.push(`time_ms >= ${values.add(from)}`);
  if (to !== undefined) conditions.push(`time_ms < ${values.add(to)}`);
  for (const { name, filter: parameter } of FILTERED_FIELDS) {
    const wanted = filter[parameter];
    if (wanted !== undefined) conditions.push(equalText(columnFor(name), values, columnOf(wanted)));
  }
  for (const { name, filter: parameter } of EXCLUDED_FIELDS) {
    const unwanted = filter[excluding(parameter)];
    if (unwanted === undefined) continue;
    conditions.push(`${columnFor(name)} IS DISTINCT FROM ${values.add(columnOf(unwanted))}`);
  }
  for (const { field, text, isExcluded } of filter.wildcards ?? []) {
    const parts = partsOf(text).map((part) => literal(columnOf(part)));
    // In the collation "C", which the columns have, only the letters A to Z have a lower case.
    const isMatch = `lower(${field} COLLATE "C") LIKE ${values.add(parts.join("%"))}`;
    conditions.push(isExcluded ? `(${isMatch}) IS NOT TRUE` : isMatch);
  }
  for (const [name, part] of SEARCHES) {
    const text = filter[name] ?? "";
    if (text === "") continue;
    const wanted = searchForm(text);
    const beginning = beginningOf(wanted);
    const pattern = values.add(`%${literal(beginning)}%`);
    const isWhole = beginning.length === wanted.length;
    const isMatch = isWhole
      ? `${part} LIKE ${pattern}`
      : `strpos(${part}, ${values.add(wanted)}) > 0`;
    // The first condition uses the trigram index of the whole column; the second checks the searched part.
    conditions.push(`search LIKE ${pattern} AND ${isMatch}`);
  }
  return conditions.map((condition) => ` AND ${condition}`).join("");
}

/** The filters that every counter knows. */
const FACETS: readonly string[] = ["decision", "consumer"];
/** The fields whose values are counted in `audit_values`. Each count is split by decision and consumer. */
const COUNTED = EXCLUDED_FIELDS.filter(({ filter }) => !FACETS.includes(filter));
/** Longer values are not counted. */
const MOST_VALUE_BYTES = 256;

/**
 * The beginning of a text that `LIKE` looks for. The database compares a pattern at each position of a text, and does
 * not look at the time limit meanwhile: where both repeat a letter, that takes 22 s for 15,000 characters in a MiB.
 * `strpos` skips many positions, and takes 5 s at the worst.
 */
function beginningOf(text: string): string {
  const [beginning = ""] = slicesOf(text, LONGEST_PATTERN);
  return beginning;
}

/** A text in a pattern of `LIKE`, where it matches only itself. */
function literal(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/** The columns and values of a filter that are counted. */
export function countedValuesOf(filter: AuditFilter): readonly (readonly [string, string])[] {
  return COUNTED.flatMap(({ name, filter: parameter }) => {
    const value = columnOf(filter[parameter]);
    const isShort = value !== undefined && Buffer.byteLength(value) <= MOST_VALUE_BYTES;
    return isShort ? [[name, value] as const] : [];
  });
}

/** Whether texts are searched. */
export function isSearch(filter: AuditFilter): boolean {
  return SEARCHES.some(([name]) => (filter[name] ?? "") !== "");
}

/** Whether the counters have the number of events that match, for any range of time. */
export function isCounted(filter: AuditFilter): boolean {
  const isExact = FILTERED_FIELDS.some(
    ({ filter: name }) => !FACETS.includes(name) && filter[name] !== undefined,
  );
  const isExcluding = EXCLUDED_FIELDS.some(
    ({ filter: name }) => filter[excluding(name)] !== undefined,
  );
  return !isSearch(filter) && !isExact && !isExcluding && filter.wildcards === undefined;
}
