/**
 * The newest rows of a segment that match a filter which many rows match. For a page of a hundred it
 * costs less to go back through time and look at each row than to find all that match: of an event in
 * ten a thousand rows are looked at, and not a hundred thousand.
 */
import type { Position } from "../../../../audit/store.ts";
import type { Column } from "../index/fields.ts";
import type { SegmentQuery } from "./segment-query.ts";
import { planOf, rankOf, type SegmentView, type RowIds } from "./select-rows.ts";

/** A walk is worth while where so many times as many rows match as are wanted. */
const MANY = 16;
/** It gives up after one row in so many: what matches may all be old. */
const SHARE = 8;

/**
 * Finds the newest rows that match and stand before a place of the list.
 *
 * @param matching how many rows of the segment match
 * @param count how many of them are wanted
 * @returns `undefined` where finding all of them is the better way
 */
export function newestRows(
  view: SegmentView,
  query: SegmentQuery,
  matching: number,
  { timestamp, row }: Position,
  count: number,
): RowIds | undefined {
  const { text, trace, facets } = query;
  if (matching < count * MANY || text !== undefined || trace !== undefined) return undefined;
  const plan = planOf(view, query);
  if (plan === undefined || plan.isPartial || (plan.tests.length === 0 && facets === undefined)) {
    return undefined;
  }
  const { index, order, rows } = view;
  const tests = plan.tests.map(({ field, code }) => ({
    column: index.codes[field] as Column,
    code,
  }));
  const found = new Uint32Array(count);
  let left = count;
  let at = rankOf(view, { rows: order, start: 0, length: rows }, timestamp, row);
  const end = Math.max(0, at - Math.floor(rows / SHARE));
  while (at > end && left > 0) {
    const one = order === undefined ? --at : (order[--at] as number);
    if (facets !== undefined && facets[index.facets[one] as number] === 0) continue;
    if (tests.every(({ column, code }) => column[one] === code)) found[--left] = one;
  }
  return left === 0 ? { rows: found, start: 0, length: count } : undefined;
}
