/**
 * Finds the rows of a segment in which a text occurs: the filter `q`. All searched fields but the command are
 * searched in their dictionaries; if these already match every row, the search ends. The commands are
 * searched block by block. Blocks whose trigram filter rules out the text are skipped; the others are read
 * and searched as bytes, which match in UTF-8 exactly where the characters do. Each distinct text is compared
 * once, and one pass over a column then finds the rows that have a matching text.
 */
import { addBits, marksOf, countBits, noBits, RowSet } from "../index/row-set.ts";
import { TextFinder } from "./text-finder.ts";
import type { Yielder } from "../../../../core/yielder.ts";
import type { TextQuery } from "./segment-query.ts";
import { CODED_FIELDS, type CodedName } from "../index/fields.ts";
import type { SegmentIndex } from "../index/segment-index.ts";
import { BLOCK_TEXTS } from "../index/trigrams.ts";

const SEARCHED = CODED_FIELDS.filter(({ isSearched }) => isSearched).map(({ name }) => name);

/** A field, and the codes of its values that contain the text. */
type FoundCodes = readonly { readonly name: CodedName; readonly codes: readonly number[] }[];

/** Finds the rows below `rows` that contain a text. */
export async function rowsHolding(
  index: SegmentIndex,
  rows: number,
  query: TextQuery,
  yielder: Yielder,
): Promise<RowSet> {
  const known = index.isSealed ? query.found.in(index) : undefined;
  if (known !== undefined) return known;
  const names = await yielder.run(searchNames(index, query));
  const blocks = index.blocksWith(query.bits);
  const isHopeless = blocks.length === 0 && names.length === 0;
  const found = isHopeless
    ? RowSet.none
    : await collect(index, rows, query, names, blocks, yielder);
  if (index.isSealed) query.found.keep(index, found);
  if (yielder.isDue) await yielder.step();
  return found;
}

function* searchNames(
  { fields }: SegmentIndex,
  { needle }: TextQuery,
): Generator<undefined, FoundCodes> {
  const found = [];
  for (const name of SEARCHED) {
    const codes = yield* fields[name].dictionary.search(needle);
    if (codes.length > 0) found.push({ name, codes });
  }
  return found;
}

async function collect(
  index: SegmentIndex,
  rows: number,
  query: TextQuery,
  names: FoundCodes,
  blocks: readonly number[],
  yielder: Yielder,
): Promise<RowSet> {
  let bits: Uint32Array | undefined; // most segments have no match, and need no bits
  for (const { name, codes } of names) {
    const { codes: column, dictionary } = index.fields[name];
    addBits((bits ??= noBits(rows)), column, marksOf(codes, dictionary.size), rows);
    if (yielder.isDue) await yielder.step();
  }
  if (bits === undefined || countBits(bits) < rows) {
    const texts = await textsHolding(index, query, blocks, yielder);
    if (texts.length > 0) {
      addBits((bits ??= noBits(rows)), index.texts, marksOf(texts, index.textCount), rows);
    }
  }
  return bits === undefined ? RowSet.none : RowSet.ofBits(bits);
}

/** The numbers of the texts in some blocks that contain a text. */
async function textsHolding(
  index: SegmentIndex,
  { needle, room }: TextQuery,
  blocks: readonly number[],
  yielder: Yielder,
): Promise<readonly number[]> {
  const ends = index.textStarts.subarray(1, index.textCount + 1);
  const finder = new TextFinder(needle, ends);
  for (const [first, end] of runsOf(blocks)) {
    const from = first * BLOCK_TEXTS;
    const to = ends[Math.min(end * BLOCK_TEXTS, ends.length) - 1] as number;
    finder.passTo(from);
    for (let at = ends[from - 1] ?? 0; finder.isBefore(at, to);) {
      const reading = index.text(at, finder.endOf(at, to), room);
      const piece = reading instanceof Promise ? await reading : reading;
      at = finder.search(piece, at);
      if (yielder.isDue) await yielder.step();
    }
  }
  return finder.found;
}

/** Runs of adjacent blocks: the first block, and the one after the last. */
function* runsOf(blocks: readonly number[]): Generator<readonly [number, number]> {
  for (let i = 0; i < blocks.length;) {
    const first = blocks[i] as number;
    let length = 1;
    while (blocks[i + length] === first + length) length++;
    yield [first, first + length];
    i += length;
  }
}
