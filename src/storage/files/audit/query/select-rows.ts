/**
 * Which rows of one segment match a filter. Cheap answers come first: a value that the segment's
 * dictionary does not know rules out the whole segment, and counts give the number of matches for
 * most filters. Where rows are needed, the value with the fewest has a list of them; only those rows
 * are looked up in the columns of the other fields, and what is left is put in the order of time.
 */
import type { Awaitable } from "../../../../core/caller.ts";
import { matchingCount } from "../index/facet-counts.ts";
import { keepCode, keepWanted, rowsWanted, rowsWith } from "../index/columns.ts";
import { POLICY, STATUS, type Column } from "../index/fields.ts";
import { decisionOfFacets, PACKED_FACETS } from "../index/packed-facets.ts";
import type { Yielder } from "../../../../core/yielder.ts";
import { isFacet, type SegmentQuery, type TextQuery } from "./segment-query.ts";
import type { RowSet } from "./row-set.ts";
import { globalRow, rowOf, segmentOf, type SegmentIndex } from "../index/segment-index.ts";
import { rowsHolding } from "./text-search.ts";

/** A segment as it was at one moment, although it may take more rows meanwhile. */
export interface SegmentView {
  readonly index: SegmentIndex;
  readonly rows: number;
  readonly oldest: number;
  readonly newest: number;
  /** Rows by time; `undefined` when they came in that order. */
  readonly order: Uint32Array | undefined;
}

/** Takes a view of a segment as it is now. */
export function viewOf(index: SegmentIndex): SegmentView {
  const { rows, oldest, newest } = index;
  return { index, rows, oldest, newest, order: index.order() };
}

/** Rows that match by time, oldest first: `rows[start]` and so on, or `start` itself and so on. */
export interface RowIds {
  readonly rows: Uint32Array | undefined;
  readonly start: number;
  readonly length: number;
}

/** The row at a place of a selection, 0 being the oldest. */
export function rowAt({ rows, start }: RowIds, k: number): number {
  return rows === undefined ? start + k : (rows[start + k] as number);
}

/** How many selected rows stand before a place of the list, `row` being global. */
export function rankOf(
  { index }: SegmentView,
  selection: RowIds,
  timestamp: number,
  row: number,
): number {
  const segment = segmentOf(row);
  // Among equal times the segments decide first; infinite rows belong to no segment.
  const least = segment === index.segment ? rowOf(row) : segment > index.segment ? Infinity : 0;
  let low = 0;
  let high = selection.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = rowAt(selection, middle);
    const time = index.times[at] as number;
    if (time < timestamp || (time === timestamp && at < least)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A query in the codes of one segment. */
interface Plan {
  readonly tests: readonly Test[];
  /** Whether some rows may be too old or too new. */
  readonly isPartial: boolean;
}

/** A field and the code that it must have. */
interface Test {
  readonly field: number;
  readonly code: number;
}

/** The query's equalities in the codes of a segment; `undefined` when no row can match. */
export function planOf(
  { index, rows, oldest, newest }: SegmentView,
  query: SegmentQuery,
): Plan | undefined {
  const { from, to, wanted } = query;
  if (rows === 0 || newest < from || oldest >= to) return undefined;
  const tests: Test[] = [];
  for (const { field, value } of wanted) {
    const code = index.dictionaries[field]?.codeOf(value);
    if (code === undefined) return undefined;
    tests.push({ field, code });
  }
  return { tests, isPartial: oldest < from || newest >= to };
}

/** The number of rows that match where counts tell it; `undefined` where rows have to be compared. */
export function knownCount(view: SegmentView, query: SegmentQuery): number | undefined {
  const plan = planOf(view, query);
  if (plan === undefined) return 0;
  if (plan.isPartial || query.text !== undefined || query.trace !== undefined) {
    return undefined;
  }
  const { index, rows } = view;
  const { facets } = query;
  const [first, second] = plan.tests;
  if (first === undefined) return facets === undefined ? rows : countOfFacets(index, facets);
  if (second === undefined && facets === undefined) {
    return index.counts[first.field]?.[first.code] ?? 0;
  }
  const others = plan.tests.filter(({ field }) => !isFacet(field));
  if (index.facetCounts === undefined || others.length > 1) return undefined;
  const codeIn = (field: number): number | undefined =>
    plan.tests.find((test) => test.field === field)?.code;
  const test = { facets, status: codeIn(STATUS), policy: codeIn(POLICY) };
  return matchingCount(index.facetCounts, test, others[0]?.field, others[0]?.code ?? 0);
}

function countOfFacets({ packedCounts }: SegmentIndex, facets: Uint8Array): number {
  let total = 0;
  for (let kind = 0; kind < PACKED_FACETS; kind++) {
    if (facets[kind] === 1) total += packedCounts[kind] as number;
  }
  return total;
}

const NOTHING: RowIds = { rows: undefined, start: 0, length: 0 };

/** Some rows of a segment. */
interface Rows {
  readonly list: Uint32Array;
  /** Whether they stand in the order of time; else they ascend. */
  readonly isByTime: boolean;
}

/** Finds the rows that match; it comes at once where nothing has to be read from disk. */
export function selectRows(
  view: SegmentView,
  query: SegmentQuery,
  yielder: Yielder,
): Awaitable<RowIds> {
  const plan = planOf(view, query);
  if (plan === undefined) return NOTHING;
  const { trace, text } = query;
  if (trace !== undefined) return selectTrace(view, query, plan, trace, yielder);
  if (text === undefined) return within(view, query, narrow(view, plan, query, undefined));
  const holding = rowsHolding(view.index, view.rows, text, yielder);
  if (holding instanceof Promise) {
    return holding.then((found) => selectFrom(view, query, plan, found));
  }
  return selectFrom(view, query, plan, holding);
}

/** The number of rows that match a search, where that is all that is asked. */
export function countText(
  view: SegmentView,
  query: SegmentQuery,
  yielder: Yielder,
): Awaitable<number> {
  const holding = rowsHolding(view.index, view.rows, query.text as TextQuery, yielder);
  return holding instanceof Promise ? holding.then(({ count }) => count) : holding.count;
}

/** Whether a search is all that is asked of a segment. */
export function isTextOnly({ oldest, newest }: SegmentView, query: SegmentQuery): boolean {
  const { text, trace, wanted, facets, from, to } = query;
  const isPlain = trace === undefined && wanted.length === 0 && facets === undefined;
  return text !== undefined && isPlain && oldest >= from && newest < to;
}

function selectFrom(view: SegmentView, query: SegmentQuery, plan: Plan, found: RowSet): RowIds {
  if (found.count === 0) return NOTHING;
  const rows = { list: found.toList(), isByTime: false };
  return within(view, query, narrow(view, plan, query, rows));
}

async function selectTrace(
  view: SegmentView,
  query: SegmentQuery,
  plan: Plan,
  trace: string,
  yielder: Yielder,
): Promise<RowIds> {
  const { index, rows } = view;
  const found = index.rowsOfTrace(trace, rows);
  let list = found instanceof Promise ? await found : found;
  if (list.length > 0 && query.text !== undefined) {
    const holding = await rowsHolding(index, rows, query.text, yielder);
    list = holding.among(list);
  }
  if (list.length === 0) return NOTHING;
  return within(view, query, narrow(view, plan, query, { list, isByTime: false }));
}

/** Compares columns, the test with the fewest rows first; `undefined` stands for all rows. */
function narrow(
  { index, rows }: SegmentView,
  { tests }: Plan,
  { facets }: SegmentQuery,
  found: Rows | undefined,
): Rows | undefined {
  const countOf = ({ field, code }: Test): number => index.counts[field]?.[code] ?? 0;
  const [first, ...others] = [...tests].sort((a, b) => countOf(a) - countOf(b));
  let left = found;
  if (first !== undefined) left = keepTest(index, rows, first, found, countOf(first));
  for (const test of others) left = keepTest(index, rows, test, left, rows);
  if (facets === undefined) return left;
  if (left === undefined) {
    return { list: rowsWanted(index.facets, facets, rows), isByTime: false };
  }
  return { ...left, list: keepWanted(left.list, index.facets, facets) };
}

function keepTest(
  index: SegmentIndex,
  rows: number,
  { field, code }: Test,
  found: Rows | undefined,
  most: number,
): Rows {
  const column = index.codes[field] as Column;
  if (found !== undefined) return { ...found, list: keepCode(found.list, column, code) };
  const posted = index.postings?.[field]?.rowsOf(code);
  if (posted !== undefined) return { list: posted, isByTime: true };
  return { list: rowsWith(column, code, rows, most), isByTime: false };
}

/** Puts rows in the order of time, and cuts them to the query's range. */
function within(view: SegmentView, { from, to }: SegmentQuery, found: Rows | undefined): RowIds {
  const rows = found === undefined || found.isByTime ? found?.list : ordered(view, found.list);
  const all =
    found === undefined
      ? { rows: view.order, start: 0, length: view.rows }
      : { rows, start: 0, length: found.list.length };
  if (view.oldest >= from && view.newest < to) return all;
  const start = rankOf(view, all, from, 0);
  const end = rankOf(view, all, to, 0);
  return { rows: all.rows, start, length: Math.max(0, end - start) };
}

/** Puts ascending rows in the order of time; the list is overwritten. */
function ordered({ index, rows, order }: SegmentView, found: Uint32Array): Uint32Array {
  if (order === undefined || sortNearlySorted(found, index.times)) return found;
  const isFound = new Uint8Array(rows);
  for (let i = 0; i < found.length; i++) isFound[found[i] as number] = 1;
  let count = 0;
  for (let i = 0; i < order.length; i++) {
    const row = order[i] as number;
    if (isFound[row] === 1) found[count++] = row;
  }
  return found;
}

/** Steps for each row after which a list is not nearly sorted. */
const MAX_STEPS = 16;

/**
 * Sorts by insertion: events come late by a little, so a row moves past few others.
 *
 * @returns whether it was done; a list that is far from sorted is left in any order
 */
function sortNearlySorted(found: Uint32Array, times: Float64Array): boolean {
  let left = MAX_STEPS * found.length;
  let latest = -Infinity;
  for (let i = 0; i < found.length; i++) {
    const row = found[i] as number;
    const time = times[row] as number;
    if (time >= latest) {
      latest = time;
      continue;
    }
    let at = i;
    for (; at > 0 && (times[found[at - 1] as number] as number) > time; at--) {
      found[at] = found[at - 1] as number;
    }
    found[at] = row;
    if ((left -= i - at) < 0) return false;
  }
  return true;
}

/** Where a row stands in the organization's order of ingest. */
export function globalRowOf({ index }: SegmentView, row: number): number {
  return globalRow(index.segment, row);
}

/** The decision of a row: 0 for none, 1 for allowed, 2 for denied. */
export function decisionAt({ index }: SegmentView, row: number): number {
  return decisionOfFacets(index.facets[row] as number);
}
