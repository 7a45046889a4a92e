/**
 * Finds the rows of a segment in which a text occurs: the filter `q`. All searched fields but the command are
 * searched in their dictionaries; if these already match every row, the search ends. Each distinct text is
 * compared once, as bytes, which match in UTF-8 exactly where the characters do. One pass over a column then
 * finds the rows that have a matching text.
 */
import { addBits, marksOf, countBits, noBits, RowSet } from "../index/row-set.ts";
import type { Yielder } from "../../../../core/yielder.ts";
import type { TextQuery } from "./segment-query.ts";
import { CODED_FIELDS, type Column } from "../index/fields.ts";
import type { SegmentIndex } from "../index/segment-index.ts";

const SEARCHED = CODED_FIELDS.filter(({ isSearched }) => isSearched).map(({ name }) => name);

/** Finds the rows below `rows` that contain a text. */
export async function rowsHolding(
  index: SegmentIndex,
  rows: number,
  query: TextQuery,
  yielder: Yielder,
): Promise<RowSet> {
  const key = query.keyIn(index.segment);
  const known = index.isSealed ? query.found.get(key) : undefined;
  if (known !== undefined) return known;
  const found = await search(index, rows, query, yielder);
  if (index.isSealed) query.found.keep(key, found, found.bytes);
  if (yielder.isDue) await yielder.step();
  return found;
}

async function search(
  index: SegmentIndex,
  rows: number,
  query: TextQuery,
  yielder: Yielder,
): Promise<RowSet> {
  let bits: Uint32Array | undefined; // most segments have no match, and need no bits
  const add = (column: Column, codes: readonly number[], size: number): void => {
    if (codes.length > 0) addBits((bits ??= noBits(rows)), column, marksOf(codes, size), rows);
  };
  for (const name of SEARCHED) {
    const { codes, dictionary } = index.fields[name];
    add(codes, await yielder.run(dictionary.search(query.needle)), dictionary.size);
    if (yielder.isDue) await yielder.step();
  }
  if (bits === undefined || countBits(bits) < rows) {
    add(index.commands, await index.commandsHolding(query, yielder), index.commandCount);
  }
  return bits === undefined ? RowSet.none : RowSet.ofBits(bits);
}
