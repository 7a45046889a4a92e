/**
 * The rows of a segment in which a text occurs. Dictionaries answer for four of the five fields; where
 * they alone find every row, nothing else is asked. The commands are asked block by block: those whose
 * filter of trigrams rules the text out are skipped, the others are read and searched in pieces, as
 * bytes: those of UTF-8 only ever match where the characters do. Each distinct text is tried once, and
 * then one pass over a column finds the rows that have one of those found.
 */
import type { Awaitable } from "../../../../core/caller.ts";
import { addBits } from "../index/columns.ts";
import { TextFinder } from "./text-finder.ts";
import type { Yielder } from "../../../../core/yielder.ts";
import type { TextQuery } from "./segment-query.ts";
import { countBits, noBits, RowSet } from "./row-set.ts";
import { SEARCHED, type Column } from "../index/fields.ts";
import type { SegmentIndex } from "../index/segment-index.ts";
import { BLOCK_TEXTS, FILTER_BYTES, mayHold } from "../index/trigrams.ts";

/** Codes that so small a share of the rows have are looked up in their lists. */
const RARE = 16;

/**
 * Memory into which searches read from the disk, of those that are over: fresh memory for every piece
 * would make the garbage collector the largest part of a search.
 */
const rooms: Buffer[] = [];
const MOST_ROOMS = 4;
/** As much as a piece needs with the pages at its ends. */
const ROOM_BYTES = 512 << 10;

/** What dictionaries know: by searched field, the codes whose values hold the text. */
type Codes = readonly (readonly number[])[];

/** Finds the rows below `rows` that hold a text; at once where nothing has to be read from disk. */
export function rowsHolding(
  index: SegmentIndex,
  rows: number,
  query: TextQuery,
  yielder: Yielder,
): Awaitable<RowSet> {
  const isSealed = index.postings !== undefined;
  const known = isSealed ? query.found.in(index) : undefined;
  if (known !== undefined) return known;
  const codes = yielder.run(searchNames(index, query));
  return codes instanceof Promise
    ? codes.then((found) => searchRows(index, rows, query, found, yielder))
    : searchRows(index, rows, query, codes, yielder);
}

function* searchNames(
  { dictionaries, nameFilters }: SegmentIndex,
  { needle, bits }: TextQuery,
): Generator<undefined, Codes> {
  const codes: (readonly number[])[] = [];
  for (const field of SEARCHED) {
    const dictionary = dictionaries[field];
    const isHopeless =
      dictionary === undefined ||
      (nameFilters !== undefined && !mayHold(nameFilters, field * FILTER_BYTES, bits));
    codes.push(isHopeless ? [] : yield* dictionary.search(needle));
  }
  return codes;
}

function searchRows(
  index: SegmentIndex,
  rows: number,
  query: TextQuery,
  codes: Codes,
  yielder: Yielder,
): Awaitable<RowSet> {
  const blocks = index.blocksWith(query.bits);
  const isHopeless = blocks.length === 0 && codes.every(({ length }) => length === 0);
  if (!isHopeless) return collect(index, rows, query, codes, blocks, yielder);
  if (index.postings !== undefined) query.found.keep(index, RowSet.none);
  return RowSet.none;
}

async function collect(
  index: SegmentIndex,
  rows: number,
  { needle, found }: TextQuery,
  codes: Codes,
  blocks: readonly number[],
  yielder: Yielder,
): Promise<RowSet> {
  let bits: Uint32Array | undefined; // most segments have nothing, and need none then
  for (const [i, field] of SEARCHED.entries()) {
    const wanted = codes[i] as readonly number[];
    if (wanted.length > 0) addField(index, field, wanted, (bits ??= noBits(rows)), rows);
    if (yielder.isDue) await yielder.step();
  }
  if (bits === undefined || countBits(bits) < rows) {
    const room = rooms.pop() ?? Buffer.allocUnsafeSlow(ROOM_BYTES);
    const texts = await textsHolding(index, needle, blocks, room, yielder);
    if (rooms.length < MOST_ROOMS) rooms.push(room);
    if (texts.length > 0) {
      addBits((bits ??= noBits(rows)), index.texts, marksOf(texts, index.textCount), rows);
    }
  }
  const set = bits === undefined ? RowSet.none : RowSet.ofBits(bits);
  if (index.postings !== undefined) found.keep(index, set);
  if (yielder.isDue) await yielder.step();
  return set;
}

function addField(
  index: SegmentIndex,
  field: number,
  codes: readonly number[],
  bits: Uint32Array,
  rows: number,
): void {
  const counts = index.counts[field] as Uint32Array;
  const postings = index.postings?.[field];
  const total = codes.reduce((sum, code) => sum + (counts[code] as number), 0);
  if (postings === undefined || total * RARE > rows) {
    const wanted = marksOf(codes, counts.length);
    return addBits(bits, index.codes[field] as Column, wanted, rows);
  }
  for (const code of codes) {
    for (const row of postings.rowsOf(code) ?? []) {
      bits[row >>> 5] = (bits[row >>> 5] as number) | (1 << (row & 31));
    }
  }
}

/** A byte for each number up to the greatest one, 1 for those in a list. */
function marksOf(numbers: readonly number[], greatest: number): Uint8Array {
  const marks = new Uint8Array(greatest + 1);
  for (const number of numbers) marks[number] = 1;
  return marks;
}

/** The numbers of the texts of some blocks that hold a text. */
async function textsHolding(
  index: SegmentIndex,
  needle: Buffer,
  blocks: readonly number[],
  room: Buffer,
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

/** Runs of blocks that follow each other: the first, and the one after the last. */
function* runsOf(blocks: readonly number[]): Generator<readonly [number, number]> {
  for (let i = 0; i < blocks.length;) {
    const first = blocks[i] as number;
    let length = 1;
    while (blocks[i + length] === first + length) length++;
    yield [first, first + length];
    i += length;
  }
}
