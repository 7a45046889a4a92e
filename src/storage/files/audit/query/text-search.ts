/**
 * Finds the rows of a segment in which a text occurs: the filters `q` and `reason`. Short fields are searched in
 * their dictionaries; if these already match every row, the search ends. Each distinct text is compared once,
 * as bytes, which match in UTF-8 exactly where the characters do. One pass over a column then finds the rows
 * that have a matching text.
 */
import { addBits, marksOf, countBits, noBits, RowSet } from "../index/row-set.ts";
import type { Yielder } from "../../../../core/scheduling/yielder.ts";
import type { TextQuery } from "./segment-query.ts";
import type { Column } from "../index/fields.ts";
import type { SegmentIndex } from "../index/segment-index.ts";

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
  const add = async (column: Column, codes: readonly number[], size: number): Promise<void> => {
    if (codes.length === 0) return;
    await yielder.run(addBits((bits ??= noBits(rows)), column, marksOf(codes, size), rows));
  };
  for (const name of query.coded) {
    const field = index.fields[name];
    await add(field.codes, await field.holding(query, yielder), field.dictionary.size);
    if (yielder.isDue) await yielder.step();
  }
  if (bits === undefined || (await yielder.run(countBits(bits))) < rows) {
    const { codes, size } = index.longFields[query.long];
    await add(codes, await index.longFields[query.long].holding(query, yielder), size);
  }
  return bits === undefined ? RowSet.none : yielder.run(RowSet.ofBits(bits));
}
