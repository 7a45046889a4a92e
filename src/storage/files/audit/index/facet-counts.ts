/**
 * Totals without comparing rows. Decision, consumer, `ai`, status and policy take few values, and so
 * do their combinations, the classes: some dozens in a segment. How many rows there are of each
 * class, and of each class with each value of another field, answers every filter that names at most
 * one value outside the class. A segment where the tables would be large has none, and its rows are
 * compared.
 */
import { POLICY, STATUS, type Column } from "./fields.ts";
import { PACKED_FACETS } from "./packed-facets.ts";

/** More classes than this are no classes. */
const MAX_CLASSES = 1024;
/** A table of one field has at most so many numbers. */
const MAX_TABLE = 1 << 17;

/** What the rows of a class have in common. */
export interface FacetKeys {
  readonly facets: Uint8Array;
  readonly statuses: Uint32Array;
  readonly policies: Uint32Array;
  /** How many rows are of each class. */
  readonly counts: Uint32Array;
}

/** What is asked of a class; `undefined` asks for nothing. */
export interface FacetTest {
  readonly facets: Uint8Array | undefined;
  readonly status: number | undefined;
  readonly policy: number | undefined;
}

/** The classes of a segment. */
export interface FacetCounts extends FacetKeys {
  /** By field, code after code, how many rows of each class have that code. */
  readonly tables: readonly (Column | undefined)[];
}

/** Finds the classes of some rows, and the class of each row; `undefined` when there are too many. */
export function countFacets(
  facets: Uint8Array,
  codes: readonly Column[],
  rows: number,
): { readonly keys: FacetKeys; readonly column: Uint16Array } | undefined {
  const statuses = codes[STATUS] as Column;
  const policies = codes[POLICY] as Column;
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
        if (last === MAX_CLASSES) return undefined;
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

/** Counts the rows of each class by the codes of a field; `undefined` when that would be large. */
export function countByFacets(
  classes: Uint16Array,
  classCount: number,
  column: Column,
  size: number,
): Uint32Array | undefined {
  if ((size + 1) * classCount > MAX_TABLE) return undefined;
  const table = new Uint32Array((size + 1) * classCount);
  for (let row = 0; row < classes.length; row++) {
    const at = (column[row] as number) * classCount + (classes[row] as number);
    table[at] = (table[at] as number) + 1;
  }
  return table;
}

/** How many rows pass a test; with a field and a code, of those that have that code. */
export function matchingCount(
  classes: FacetCounts,
  test: FacetTest,
  field: number | undefined,
  code: number,
): number | undefined {
  const { facets, statuses, policies } = classes;
  const length = facets.length;
  const table = field === undefined ? classes.counts : classes.tables[field];
  if (table === undefined) return undefined;
  const start = field === undefined ? 0 : code * length;
  let count = 0;
  for (let i = 0; i < length; i++) {
    if (test.facets !== undefined && test.facets[facets[i] as number] === 0) continue;
    if (test.status !== undefined && test.status !== statuses[i]) continue;
    if (test.policy !== undefined && test.policy !== policies[i]) continue;
    count += table[start + i] as number;
  }
  return count;
}
