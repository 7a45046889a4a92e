/**
 * Finds the rows of one segment that match a query. Cheap answers come first: a value that the segment's
 * dictionary lacks rules out the whole segment, and stored counts answer most filters. Other filters compare
 * columns. If one value is rare, its rows are found first, and only these are looked up in the other columns;
 * else all columns are compared, 32 rows to a word. Rows that are returned, not only counted, are sorted by
 * time.
 */
import type { Work } from "../../../../core/scheduling/work.ts";
import type { Yielder } from "../../../../core/scheduling/yielder.ts";
import { addBits, keepWanted, marksOf, rowsWithCode, noBits, RowSet } from "../index/row-set.ts";
import { matchingCount } from "../index/facet-counts.ts";
import { PACKED_FACETS, type CodedName, type Column } from "../index/fields.ts";
import { localRow, NO_ROW, segmentOf } from "../index/segment-index.ts";
import type { GlobalRow, LocalRow, SegmentIndex } from "../index/segment-index.ts";
import type { SegmentQuery } from "./segment-query.ts";
import { rowsHolding } from "./text-search.ts";

/** A value is rare if fewer than one in this many rows have it. */
const RARE = 32;
/** The rows that are sorted in one part. */
const ROWS_AT_ONCE = 4096;

/** A segment as it was at one moment, while it may take more rows. */
export interface SegmentView {
  readonly index: SegmentIndex;
  readonly rows: number;
  readonly oldest: number;
  readonly newest: number;
  /** Rows by time; `undefined` if they came in that order. */
  readonly order: Uint32Array | undefined;
}

/** Takes a view of a segment as it is now. */
export function segmentViewOf(index: SegmentIndex): SegmentView {
  const { rows, oldest, newest } = index;
  return { index, rows, oldest, newest, order: index.order() };
}

/**
 * The matching rows by time, oldest first: `rows[start]` and the following entries; without `rows`, the
 * numbers from `start` on.
 */
export interface RowIds {
  readonly rows: Uint32Array | undefined;
  readonly start: number;
  readonly length: number;
}

/** The row at a place of a list of row ids, 0 being the oldest. */
export function rowAt({ rows, start }: RowIds, k: number): LocalRow {
  return (rows === undefined ? start + k : rows[start + k]) as LocalRow;
}

/** The number of given rows before a place of the merged list; `row` is global. */
export function rankOf(
  { index }: SegmentView,
  ids: RowIds,
  timestamp: number,
  row: GlobalRow,
): number {
  const segment = segmentOf(row);
  // Among equal times the segments decide first; infinite rows belong to no segment.
  const least = segment === index.segment ? localRow(row) : segment > index.segment ? Infinity : 0;
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = rowAt(ids, middle);
    const time = index.times[at] as number;
    if (time < timestamp || (time === timestamp && at < least)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A field, its required code, and the number of the segment's rows with that code. */
interface Test {
  readonly field: CodedName;
  readonly code: number;
  readonly count: number;
}

/** A query in the codes of one segment. */
interface Plan {
  /** The test with the fewest rows comes first. */
  readonly tests: readonly Test[];
  /** The codes that a row must not have. */
  readonly barred: readonly Pick<Test, "field" | "code">[];
  /** Whether some rows may be outside the range of time. */
  readonly isPartial: boolean;
}

/** Translates a query into the codes of a segment; `undefined` if no row can match. */
function planOf(
  { index, rows, oldest, newest }: SegmentView,
  query: SegmentQuery,
): Plan | undefined {
  const { from, to, wanted, unwanted } = query;
  if (rows === 0 || newest < from || oldest >= to) return undefined;
  const tests: Test[] = [];
  for (const { field, value } of wanted) {
    const { dictionary, counts } = index.fields[field];
    const code = dictionary.codeOf(value);
    if (code === undefined) return undefined;
    tests.push({ field, code, count: counts[code] as number });
  }
  tests.sort((a, b) => a.count - b.count);
  const barred = unwanted.flatMap(({ field, value }) => {
    const code = index.fields[field].dictionary.codeOf(value);
    return code === undefined ? [] : [{ field, code }];
  });
  return { tests, barred, isPartial: oldest < from || newest >= to };
}

/** The number of matching rows if counts tell it; `undefined` if rows have to be compared. */
function knownCount(
  view: SegmentView,
  { facets, texts, trace, wildcards }: SegmentQuery,
  { tests, barred, isPartial }: Plan,
): number | undefined {
  const isCompared = texts.length + wildcards.length + barred.length > 0 || trace !== undefined;
  if (isPartial || isCompared) return undefined;
  const [first, second] = tests;
  if (first === undefined) return facets === undefined ? view.rows : totalWith(view, facets);
  if (second === undefined && facets === undefined) return first.count;
  const { combinations, fields } = view.index;
  const codeIn = (name: CodedName): number | undefined =>
    tests.find(({ field }) => field === name)?.code;
  const test = { facets, status: codeIn("status"), policy: codeIn("policy") };
  const [other, another] = tests.filter(({ field }) => field !== "status" && field !== "policy");
  const counts = other === undefined ? combinations?.counts : fields[other.field].byCombination;
  if (combinations === undefined || counts === undefined || another !== undefined) return undefined;
  return matchingCount(combinations, test, counts, other?.code);
}

function totalWith({ index: { packedCounts } }: SegmentView, facets: Uint8Array): number {
  let total = 0;
  for (let packed = 0; packed < PACKED_FACETS; packed++) {
    if (facets[packed] === 1) total += packedCounts[packed] as number;
  }
  return total;
}

/** Counts the matching rows. */
export async function countRows(
  view: SegmentView,
  query: SegmentQuery,
  yielder: Yielder,
): Promise<number> {
  const plan = planOf(view, query);
  if (plan === undefined) return 0;
  const known = knownCount(view, query, plan);
  if (known !== undefined) return known;
  if (plan.isPartial) return (await selectRows(view, query, yielder)).length;
  return (await matchingRows(view, query, plan, yielder))?.count ?? view.rows;
}

/** Finds the matching rows, by time. */
export async function selectRows(
  view: SegmentView,
  query: SegmentQuery,
  yielder: Yielder,
): Promise<RowIds> {
  const plan = planOf(view, query);
  if (plan === undefined) return { rows: undefined, start: 0, length: 0 };
  const found = await matchingRows(view, query, plan, yielder);
  const rows = found === undefined ? view.order : await yielder.run(inOrder(view, found));
  const all = { rows, start: 0, length: found?.count ?? view.rows };
  if (!plan.isPartial) return all;
  const start = rankOf(view, all, query.from, NO_ROW);
  const end = rankOf(view, all, query.to, NO_ROW);
  return { rows, start, length: Math.max(0, end - start) };
}

/** The matching rows of any time; `undefined` stands for all rows. */
async function matchingRows(
  { index, rows }: SegmentView,
  { facets, trace, texts, wildcards }: SegmentQuery,
  { tests, barred }: Plan,
  yielder: Yielder,
): Promise<RowSet | undefined> {
  let list = trace === undefined ? undefined : await index.rowsOfTrace(trace, rows, yielder);
  for (const text of texts) {
    if (list?.length === 0) break;
    const holding = await rowsHolding(index, rows, text, yielder);
    const isAlone = texts.length === 1 && tests.length + barred.length + wildcards.length === 0;
    if (isAlone && facets === undefined && list === undefined) return holding;
    list = list === undefined ? await yielder.run(holding.toList()) : holding.among(list);
  }
  const compared: [column: Column, wanted: Uint8Array][] = [];
  for (const { field, code, count } of tests) {
    const { codes, dictionary } = index.fields[field];
    if (list === undefined && count * RARE < rows) list = rowsWithCode(codes, code, rows);
    else compared.push([codes, marksOf([code], dictionary.size)]);
  }
  for (const { field, code } of barred) {
    const { codes, dictionary } = index.fields[field];
    const allowed = new Uint8Array(dictionary.size + 1).fill(1);
    allowed[code] = 0;
    compared.push([codes, allowed]);
  }
  for (const { field, matches, isExcluded } of wildcards) {
    const { codes, dictionary } = index.fields[field];
    const marks = marksOf(await dictionary.matching(matches, yielder), dictionary.size);
    compared.push([codes, isExcluded ? marks.map((mark) => 1 - mark) : marks]);
  }
  if (facets !== undefined) compared.push([index.facets, facets]);
  if (list !== undefined) {
    for (const [column, wanted] of compared) list = keepWanted(list, column, wanted);
    return RowSet.ofList(list);
  }
  const found: Uint32Array[] = [];
  for (const [column, wanted] of compared) {
    const bits = noBits(rows);
    await yielder.run(addBits(bits, column, wanted, rows));
    found.push(bits);
  }
  return found.length === 0 ? undefined : yielder.run(RowSet.ofBits(found.reduce(inBoth)));
}

function inBoth(a: Uint32Array, b: Uint32Array): Uint32Array {
  return a.map((word, i) => word & (b[i] as number));
}

/** Sorts rows by time: few rows are sorted, many are picked from the order of all. */
function* inOrder({ index, rows, order }: SegmentView, found: RowSet): Work<Uint32Array> {
  const list = yield* found.toList();
  if (order === undefined) return list;
  const timeOf = (row: number): number => index.times[row] as number;
  if (list.length * RARE < rows) return list.sort((a, b) => timeOf(a) - timeOf(b) || a - b);
  const isFound = new Uint8Array(rows);
  for (let i = 0; i < list.length; i++) {
    isFound[list[i] as number] = 1;
    if (i % ROWS_AT_ONCE === 0) yield;
  }
  let count = 0;
  for (let i = 0; count < list.length; i++) {
    const row = order[i] as number;
    if (isFound[row] === 1) list[count++] = row;
    if (i % ROWS_AT_ONCE === 0) yield;
  }
  return list;
}
