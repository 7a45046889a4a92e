/**
 * The rows of a segment in which a text occurs. Dictionaries answer for four of the five fields. The
 * commands are asked block by block: those whose filter of trigrams rules the text out are skipped,
 * the others are read in runs and searched in one go, as bytes: those of UTF-8 only ever match where
 * the characters do. Each distinct command is tried once, and stands for all rows that have it.
 */
import type { Awaitable } from "../../../core/caller.ts";
import { markCodes } from "./columns.ts";
import type { Pace } from "./pace.ts";
import type { TextQuestion } from "./question.ts";
import { RowSet } from "./row-set.ts";
import { SEARCHED, type Column, type SegmentIndex } from "./segment-index.ts";
import { BLOCK_TEXTS, FILTER_BYTES, mayHold } from "./trigrams.ts";

/** So many blocks are read at once, which takes up to some hundred KiB. */
const RUN_BLOCKS = 16;
/** Codes that so small a share of the rows have are looked up in their lists. */
const RARE = 16;

/** Finds the rows below `rows` that hold a text; at once where nothing has to be read from disk. */
export function rowsHolding(
  index: SegmentIndex,
  rows: number,
  question: TextQuestion,
  pace: Pace,
): Awaitable<RowSet> {
  const isSealed = index.postings !== undefined;
  const known = isSealed ? question.found.in(index) : undefined;
  if (known !== undefined) return known;
  const codes = codesHolding(index, question);
  const blocks = index.blocksWith(question.bits);
  const isHopeless = blocks.length === 0 && codes.every(({ length }) => length === 0);
  if (!isHopeless) return search(index, rows, question, codes, blocks, pace);
  if (isSealed) question.found.keep(index, RowSet.none);
  return RowSet.none;
}

/** By searched field, the codes whose values hold the text. */
function codesHolding(
  { dictionaries, nameFilters }: SegmentIndex,
  { lower, bits }: TextQuestion,
): readonly (readonly number[])[] {
  return SEARCHED.map((field) =>
    nameFilters === undefined || mayHold(nameFilters, field * FILTER_BYTES, bits)
      ? (dictionaries[field]?.search(lower) ?? [])
      : [],
  );
}

async function search(
  index: SegmentIndex,
  rows: number,
  { needle, found }: TextQuestion,
  codes: readonly (readonly number[])[],
  blocks: readonly number[],
  pace: Pace,
): Promise<RowSet> {
  let marks: Uint8Array | undefined; // most segments have nothing, and need none then
  const texts = await textsHolding(index, needle, blocks, pace);
  if (texts.length > 0) markCodes(index.texts, texts, (marks ??= new Uint8Array(rows)));
  for (const [i, field] of SEARCHED.entries()) {
    const wanted = codes[i] as readonly number[];
    if (wanted.length > 0) markField(index, field, wanted, (marks ??= new Uint8Array(rows)));
  }
  const set = marks === undefined ? RowSet.none : RowSet.ofMarks(marks);
  if (index.postings !== undefined) found.keep(index, set);
  if (pace.isDue) await pace.step();
  return set;
}

function markField(
  index: SegmentIndex,
  field: number,
  codes: readonly number[],
  marks: Uint8Array,
): void {
  const counts = index.counts[field] as Uint32Array;
  const postings = index.postings?.[field];
  const total = codes.reduce((sum, code) => sum + (counts[code] as number), 0);
  if (postings === undefined || total * RARE > marks.length) {
    return markCodes(index.codes[field] as Column, codes, marks);
  }
  for (const code of codes) {
    for (const row of postings.rowsOf(code) ?? []) marks[row] = 1;
  }
}

/** The numbers of the texts of some blocks that hold a text. */
async function textsHolding(
  index: SegmentIndex,
  needle: Buffer,
  blocks: readonly number[],
  pace: Pace,
): Promise<readonly number[]> {
  const numbers: number[] = [];
  const count = index.textCount;
  for (const [first, end] of runsOf(blocks)) {
    const from = first * BLOCK_TEXTS;
    const to = Math.min(end * BLOCK_TEXTS, count);
    const starts = index.textStarts;
    const reading = index.text(starts[from] as number, starts[to] as number);
    const text = reading instanceof Promise ? await reading : reading;
    addHolding(text, needle, starts, from, numbers);
    if (pace.isDue) await pace.step();
  }
  return numbers;
}

/** Runs of blocks that follow each other: the first, and the one after the last. */
function* runsOf(blocks: readonly number[]): Generator<readonly [number, number]> {
  for (let i = 0; i < blocks.length;) {
    const first = blocks[i] as number;
    let length = 1;
    while (length < RUN_BLOCKS && blocks[i + length] === first + length) length++;
    yield [first, first + length];
    i += length;
  }
}

/** Adds the numbers of those texts that hold another; they begin with the one after `before`. */
function addHolding(
  text: Buffer,
  needle: Buffer,
  starts: Uint32Array,
  before: number,
  numbers: number[],
): void {
  const base = starts[before] as number;
  let place = before;
  for (let at = text.indexOf(needle); at !== -1;) {
    while ((starts[place + 1] as number) - base <= at) place++;
    numbers.push(++place);
    const next = (starts[place] as number) - base;
    at = next < text.length ? text.indexOf(needle, next) : -1;
  }
}
