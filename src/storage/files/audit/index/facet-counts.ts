/**
 * Counts matches without comparing rows. The facets (decision, consumer, `ai`, status and policy) have few
 * values, and a segment has only some dozens of their combinations. Two kinds of tables have the number of rows
 * of each combination: one in total, and one for each value of another field. They answer every filter with at
 * most one value outside the facets. If the tables of a segment would be large, its rows are compared instead.
 */
import { PACKED_FACETS, type Column } from "./fields.ts";

/** A segment with more combinations than this has no counts. */
const MAX_COMBINATIONS = 1024;
/** The most numbers in the table of one field. */
const MAX_TABLE = 1 << 17;

/** The combinations of a segment, with the values of each. */
export interface FacetCombinations {
  readonly facets: Uint8Array;
  readonly statuses: Uint32Array;
  readonly policies: Uint32Array;
  /** The number of rows with each combination. */
  readonly counts: Uint32Array;
}

/** The values that a combination must have; `undefined` accepts any. */
export interface FacetTest {
  readonly facets: Uint8Array | undefined;
  readonly status: number | undefined;
  readonly policy: number | undefined;
}

/** Numbers the combinations of some rows, and returns the number of each row; `undefined` if there are too many. */
export function countFacets(
  facets: Uint8Array,
  statuses: Column,
  policies: Column,
  rows: number,
): { readonly keys: FacetCombinations; readonly column: Uint16Array } | undefined {
  const known = new Map<number, number>();
  const column = new Uint16Array(rows);
  const first: number[] = [];
  const counts: number[] = [];
  let last = -1;
  let lastKey = -1;
  for (let row = 0; row < rows; row++) {
    const outer = (policies[row] as number) * 2 ** 20 + (statuses[row] as number);
    const key = outer * PACKED_FACETS + (facets[row] as number);
    if (key !== lastKey) {
      lastKey = key;
      last = known.get(key) ?? -1;
      if (last === -1) {
        last = first.push(row) - 1;
        if (last === MAX_COMBINATIONS) return undefined;
        known.set(key, last);
        counts.push(0);
      }
    }
    column[row] = last;
    counts[last] = (counts[last] as number) + 1;
  }
  const keys = {
    facets: Uint8Array.from(first, (row) => facets[row] as number),
    statuses: Uint32Array.from(first, (row) => statuses[row] as number),
    policies: Uint32Array.from(first, (row) => policies[row] as number),
    counts: Uint32Array.from(counts),
  };
  return { keys, column };
}

/** Counts the rows of each combination by the codes of a field; `undefined` if the table would be large. */
export function countByFacets(
  numbers: Uint16Array,
  combinations: number,
  column: Column,
  size: number,
): Uint32Array | undefined {
  if ((size + 1) * combinations > MAX_TABLE) return undefined;
  const table = new Uint32Array((size + 1) * combinations);
  for (let row = 0; row < numbers.length; row++) {
    const at = (column[row] as number) * combinations + (numbers[row] as number);
    table[at] = (table[at] as number) + 1;
  }
  return table;
}

/**
 * The number of rows that pass a test.
 *
 * @param counts the number of rows with each combination, or with each code and combination, code after code
 */
export function matchingCount(
  { facets, statuses, policies }: FacetCombinations,
  test: FacetTest,
  counts: Column,
  code = 0,
): number {
  const start = code * facets.length;
  let count = 0;
  for (let i = 0; i < facets.length; i++) {
    if (test.facets !== undefined && test.facets[facets[i] as number] === 0) continue;
    if (test.status !== undefined && test.status !== statuses[i]) continue;
    if (test.policy !== undefined && test.policy !== policies[i]) continue;
    count += counts[start + i] as number;
  }
  return count;
}
