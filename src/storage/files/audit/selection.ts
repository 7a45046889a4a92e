/**
 * Which rows of one segment match a filter. Cheap answers come first: a value that the segment's
 * dictionary does not know rules out the whole segment, and counts that are kept anyway give the
 * number of matches for the common filters. Only then are columns compared, the one with the fewest
 * matches first, and what is left is put in the order of time.
 */
import type { AuditFilter } from "../../../audit/store.ts";
import type { Awaitable } from "../../../core/caller.ts";
import type { Pace } from "./pace.ts";
import { decisionOfKind, FIELDS, kindsWith, KINDS, PROVIDER } from "./segment-index.ts";
import { globalRow, rowOf, segmentOf, type Column, type SegmentIndex } from "./segment-index.ts";
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
export interface Selection {
  readonly rows: Uint32Array | undefined;
  readonly start: number;
  readonly length: number;
}

/** The row at a place of a selection, 0 being the oldest. */
export function rowAt({ rows, start }: Selection, k: number): number {
  return rows === undefined ? start + k : (rows[start + k] as number);
}

/** How many selected rows stand before a place of the list, `row` being global. */
export function rankOf(
  { index }: SegmentView,
  selection: Selection,
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

/** A filter in the terms of one segment. */
interface Plan {
  readonly kinds: Uint8Array | undefined;
  readonly tests: readonly { readonly field: number; readonly code: number }[];
  readonly isPartial: boolean;
}

/** The filter's equalities in the codes of a segment; `undefined` when no row can match. */
function planOf(view: SegmentView, filter: AuditFilter): Plan | undefined {
  const { index, rows, oldest, newest } = view;
  const { from = -Infinity, to = Infinity } = filter;
  if (rows === 0 || newest < from || oldest >= to) return undefined;
  const { provider, executor, capability, status, runtime, policy } = filter;
  const wanted = [provider, executor, capability, undefined, status, runtime, policy];
  const tests: { field: number; code: number }[] = [];
  for (let field = 0; field < FIELDS.length; field++) {
    const value = wanted[field];
    if (value === undefined) continue;
    const code = index.dictionaries[field]?.codeOf(value);
    if (code === undefined) return undefined;
    tests.push({ field, code });
  }
  const kinds = kindsWith(filter.decision, filter.consumer);
  return { kinds, tests, isPartial: oldest < from || newest >= to };
}

/** The number of rows that match where counts tell it; `undefined` where rows have to be compared. */
export function knownCount(view: SegmentView, filter: AuditFilter): number | undefined {
  const plan = planOf(view, filter);
  if (plan === undefined) return 0;
  const { kinds, tests, isPartial } = plan;
  const { index } = view;
  const [first] = tests;
  if (isPartial || needsText(filter) || filter.trace_id !== undefined) return undefined;
  if (tests.length > 1) return undefined;
  if (first === undefined) return kinds === undefined ? view.rows : sum(index.kindCounts, 0, kinds);
  if (kinds === undefined) return index.counts[first.field]?.[first.code] ?? 0;
  if (first.field !== PROVIDER || index.providerKinds === undefined) return undefined;
  return sum(index.providerKinds, first.code * KINDS, kinds);
}

function needsText({ q }: AuditFilter): boolean {
  return q !== undefined && q !== "";
}

function sum(counts: Uint32Array, start: number, kinds: Uint8Array): number {
  let total = 0;
  for (let kind = 0; kind < KINDS; kind++) {
    if (kinds[kind] === 1) total += counts[start + kind] ?? 0;
  }
  return total;
}

const NOTHING: Selection = { rows: undefined, start: 0, length: 0 };

/** Finds the rows that match; it comes at once where nothing has to be read from disk. */
export function select(view: SegmentView, filter: AuditFilter, pace: Pace): Awaitable<Selection> {
  const plan = planOf(view, filter);
  if (plan === undefined) return NOTHING;
  if (!needsText(filter) && filter.trace_id === undefined) {
    return within(view, filter, narrow(view, plan, undefined));
  }
  return selectSlowly(view, filter, plan, pace);
}

async function selectSlowly(
  view: SegmentView,
  filter: AuditFilter,
  plan: Plan,
  pace: Pace,
): Promise<Selection> {
  const { index } = view;
  let found: Uint32Array | undefined;
  if (filter.trace_id !== undefined) {
    const known = index.traceCode(filter.trace_id);
    const code = known instanceof Promise ? await known : known;
    if (code === undefined) return NOTHING;
    found = rowsWith(index.traces, code, view.rows, view.rows);
  }
  if (needsText(filter) && found?.length !== 0) {
    const holding = await rowsHolding(index, view.rows, filter.q as string, pace);
    if (holding.length === 0) return NOTHING;
    found = found === undefined ? holding : common(found, holding);
  }
  return within(view, filter, narrow(view, plan, found));
}

/** Compares columns; `undefined` stands for all rows. */
function narrow(
  { index, rows }: SegmentView,
  { kinds, tests }: Plan,
  found: Uint32Array | undefined,
): Uint32Array | undefined {
  const countOf = ({ field, code }: Plan["tests"][number]): number =>
    index.counts[field]?.[code] ?? 0;
  const [first, ...others] = [...tests].sort((a, b) => countOf(a) - countOf(b));
  let left = found;
  if (first !== undefined) {
    const column = index.codes[first.field] as Column;
    left =
      left === undefined
        ? rowsWith(column, first.code, rows, countOf(first))
        : keep(left, column, first.code);
  }
  for (const { field, code } of others) {
    left = keep(left as Uint32Array, index.codes[field] as Column, code);
  }
  if (kinds === undefined) return left;
  return left === undefined
    ? rowsOfKinds(index.kinds, kinds, rows)
    : keepKinds(left, index.kinds, kinds);
}

/** The rows that have a code, of which there are `most` at most. */
function rowsWith(column: Column, code: number, rows: number, most: number): Uint32Array {
  const found = new Uint32Array(Math.min(rows, most));
  let count = 0;
  // The engine's own search is several times as fast as a loop where values are rare.
  let at = column.indexOf(code);
  for (let near = 0; at !== -1 && at < rows && near < 64; at = column.indexOf(code, at + 1)) {
    const last = found[count - 1] ?? -64;
    near = at - last < 32 ? near + 1 : 0;
    found[count++] = at;
  }
  if (at === -1) return found.subarray(0, count);
  for (; at < rows; at++) {
    if (column[at] === code) found[count++] = at;
  }
  return found.subarray(0, count);
}

function keep(rows: Uint32Array, column: Column, code: number): Uint32Array {
  return rows.filter((row) => column[row] === code);
}

function keepKinds(rows: Uint32Array, column: Uint8Array, kinds: Uint8Array): Uint32Array {
  return rows.filter((row) => kinds[column[row] as number] === 1);
}

function rowsOfKinds(column: Uint8Array, kinds: Uint8Array, rows: number): Uint32Array {
  const found = new Uint32Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) {
    if (kinds[column[row] as number] === 1) found[count++] = row;
  }
  return found.subarray(0, count);
}

function common(a: Uint32Array, b: Uint32Array): Uint32Array {
  const isInB = new Set(b);
  return a.filter((row) => isInB.has(row));
}

/** Puts rows in the order of time, and cuts them to the filter's range. */
function within(
  view: SegmentView,
  { from = -Infinity, to = Infinity }: AuditFilter,
  found: Uint32Array | undefined,
): Selection {
  const rows = found === undefined ? view.order : ordered(view, found);
  const all = { rows, start: 0, length: found === undefined ? view.rows : found.length };
  if (view.oldest >= from && view.newest < to) return all;
  const start = rankOf(view, all, from, 0);
  const end = rankOf(view, all, to, 0);
  return { rows, start, length: Math.max(0, end - start) };
}

const FEW = 16;

function ordered({ index, rows, order }: SegmentView, found: Uint32Array): Uint32Array {
  if (order === undefined) return found;
  const { times } = index;
  if (found.length < rows / FEW) {
    return found.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
  }
  const isFound = new Uint8Array(rows);
  for (let i = 0; i < found.length; i++) isFound[found[i] as number] = 1;
  let count = 0;
  for (let i = 0; i < order.length; i++) {
    const row = order[i] as number;
    if (isFound[row] === 1) found[count++] = row;
  }
  return found;
}

/** Where a row stands in the organization's order of ingest. */
export function placeOf({ index }: SegmentView, row: number): number {
  return globalRow(index.segment, row);
}

/** The decision of a row: 0 for none, 1 for allowed, 2 for denied. */
export function decisionAt({ index }: SegmentView, row: number): number {
  return decisionOfKind(index.kinds[row] as number);
}
