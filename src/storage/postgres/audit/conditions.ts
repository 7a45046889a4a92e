/** Filters as conditions of SQL, with their values as parameters. */
import { excluding } from "../../../audit/event-fields.ts";
import type { AuditFilter } from "../../../audit/store.ts";
import { partsOf } from "../../../audit/wildcards.ts";
import { slicesOf } from "../../../core/slices.ts";
import type { Values } from "../values.ts";
import { columnOf, searchForm, SEARCH_PARTS } from "./records.ts";

/** The filters that compare a column with a text. */
const COLUMNS = [
  ["decision", "decision"],
  ["consumer", "consumer"],
  ["provider", "provider"],
  ["executor", "executor"],
  ["capability", "capability"],
  ["status", "status"],
  ["runtime", "runtime_name"],
  ["policy", "policy"],
  ["reported_by", "reported_by"],
  ["observed", "observed_decision"],
  ["trace_id", "trace_id"],
] as const;

function excludedBy(filter: AuditFilter, name: (typeof COLUMNS)[number][0]): string | undefined {
  return name === "trace_id" ? undefined : filter[excluding(name)];
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
  for (const [name, column] of COLUMNS) {
    const wanted = filter[name];
    if (wanted !== undefined) conditions.push(equalText(column, values, columnOf(wanted)));
    const unwanted = excludedBy(filter, name);
    if (unwanted === undefined) continue;
    conditions.push(`${column} IS DISTINCT FROM ${values.add(columnOf(unwanted))}`);
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

/** The columns whose values are counted in `audit_values`. Each count is split by decision and consumer. */
const COUNTED = COLUMNS.filter(([name]) => !["decision", "consumer", "trace_id"].includes(name));
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
  return COUNTED.flatMap(([name, column]) => {
    const wanted = filter[name];
    const value = wanted === undefined ? undefined : columnOf(wanted);
    const isShort = value !== undefined && Buffer.byteLength(value) <= MOST_VALUE_BYTES;
    return isShort ? [[column, value] as const] : [];
  });
}

/** Whether texts are searched. */
export function isSearch(filter: AuditFilter): boolean {
  return SEARCHES.some(([name]) => (filter[name] ?? "") !== "");
}

/** Whether the counters have the number of events that match, for any range of time. */
export function isCounted(filter: AuditFilter): boolean {
  const exact = COLUMNS.filter(([name]) => name !== "decision" && name !== "consumer");
  if (filter.wildcards !== undefined) return false;
  if (COLUMNS.some(([name]) => excludedBy(filter, name) !== undefined)) return false;
  return !isSearch(filter) && exact.every(([name]) => filter[name] === undefined);
}
