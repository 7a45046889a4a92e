/** Writes the sidecar of a sealed segment, in slices between which the event loop serves requests. */
import type { Work } from "../../../../core/scheduling/work.ts";
import { Yielder } from "../../../../core/scheduling/yielder.ts";
import type { FileOperations } from "../../../file-operations.ts";
import { readManyLines } from "../../../log-lines.ts";
import { replaceByPieces } from "../../../snapshot.ts";
import { countByFacets, countFacets } from "../index/facet-counts.ts";
import {
  CODED_FIELDS,
  COUNTED,
  INDEXED_FIELDS,
  LONG_FIELDS,
  type Column,
} from "../index/fields.ts";
import { packDictionary, type GrowingDictionary } from "../index/dictionary.ts";
import { digestsOf } from "../index/stored-dictionary.ts";
import { GrowingIndex, indexLines } from "../index/growing-index.ts";
import { hashesOf } from "../index/hash.ts";
import { sortedByKey } from "../index/sorting.ts";
import { encodeTexts } from "../index/text-buffer.ts";
import { trigramSlices } from "../index/trigrams.ts";
import { alignedLength, checksumInParts, checksumOf, encodeHeader, PAGE_BYTES } from "./format.ts";
import { SectionWriter, type Table } from "./format.ts";

/** A dictionary with longer texts stays on disk: all that are in memory are at most some percent of the log. */
const DICTIONARY_CHARACTERS = 256 << 10;

/** Writes the sidecar of a segment whose log has the given length; the rename commits. */
export async function writeSidecar(
  files: FileOperations,
  path: string,
  index: GrowingIndex,
  logBytes: number,
): Promise<void> {
  const yielder = new Yielder();
  const rest = new SectionWriter();
  const traceHashes = await yielder.run(addRest(rest, index));
  const columns = new SectionWriter();
  await yielder.run(addColumns(columns, rest, index));
  columns.add("traceHashes", traceHashes);
  columns.add("restChecksums", await yielder.run(pageChecksums(rest)));
  const { segment, rows, oldest, newest, newestIngested } = index;
  const table: Table = {
    ...{ segment, rows, bytes: logBytes, oldest, newest, newestIngested },
    fields: INDEXED_FIELDS,
    columns: columns.sections,
    rest: rest.sections,
  };
  const text = Buffer.from(JSON.stringify(table), "utf8");
  const tableBytes = Buffer.alloc(alignedLength(text.length), " ");
  text.copy(tableBytes);
  const head = Buffer.concat([tableBytes, ...columns.pieces]);
  const header = encodeHeader({
    tableBytes: tableBytes.length,
    columnBytes: columns.length,
    checksum: await yielder.run(checksumInParts(head)),
    restBytes: rest.length,
  });
  await replaceByPieces(files, path, [header, head, ...rest.pieces]);
}

/** The columns, each in the narrowest type that fits. */
function* addColumns(columns: SectionWriter, rest: SectionWriter, index: GrowingIndex): Work<void> {
  const { rows } = index;
  columns.add("times", index.times.subarray(0, rows));
  columns.add("offsets", index.offsets.subarray(0, rows + 1));
  columns.add("facets", index.facets.subarray(0, rows));
  columns.add("packedCounts", index.packedCounts);
  const order = index.order();
  if (order !== undefined) columns.add("order", order);
  columns.add("lastUsed", index.lastUsed.subarray(0, index.fields.provider.dictionary.size + 1));
  yield;
  for (const name of LONG_FIELDS) {
    const { codes, dictionary } = index.longFields[name];
    columns.add(`${name}.codes`, narrowed(codes, rows, dictionary.size));
    yield* addSearched(columns, rest, name, dictionary);
  }
  for (const { name, isSearched = false } of CODED_FIELDS) {
    const { codes, counts, dictionary } = index.fields[name];
    columns.add(`${name}.codes`, narrowed(codes, rows, dictionary.size));
    columns.add(`${name}.counts`, counts.subarray(0, dictionary.size + 1));
    if (dictionary.characters <= DICTIONARY_CHARACTERS) {
      columns.add(`${name}.values`, yield* packDictionary(dictionary, isSearched));
      continue;
    }
    const { digests, digestCodes } = yield* digestsOf(dictionary.values);
    const texts = yield* encodeTexts(dictionary.values);
    columns.add(`${name}.digests`, digests);
    columns.add(`${name}.digestCodes`, digestCodes);
    columns.add(`${name}.textEnds`, texts.ends);
    rest.add(`${name}.texts`, texts.bytes);
    if (isSearched) yield* addSearched(columns, rest, name, dictionary);
  }
  yield* addFacets(columns, index);
}

/** Adds the lower-cased texts of a field, which stay on disk, with their filters. */
function* addSearched(
  columns: SectionWriter,
  rest: SectionWriter,
  name: string,
  dictionary: GrowingDictionary,
): Work<void> {
  const texts = yield* dictionary.lowerCased();
  columns.add(`${name}.ends`, texts.ends);
  columns.add(`${name}.filters`, yield* trigramSlices(texts));
  rest.add(name, texts.bytes);
}

/** Adds the totals by combination of facets, unless there are too many combinations. */
function* addFacets(columns: SectionWriter, index: GrowingIndex): Work<void> {
  const { facets, fields, rows } = index;
  const counted = countFacets(facets, fields.status.codes, fields.policy.codes, rows);
  if (counted === undefined) return;
  const { keys, column } = counted;
  for (const [name, array] of Object.entries(keys)) columns.add(`combinations.${name}`, array);
  for (const name of COUNTED) {
    yield;
    const { codes, dictionary } = fields[name];
    const table = countByFacets(column, keys.facets.length, codes, dictionary.size);
    if (table === undefined) continue;
    const greatest = table.reduce((most, count) => Math.max(most, count), 0);
    columns.add(`${name}.byCombination`, narrowed(table, table.length, greatest));
  }
}

/** Adds the sections that stay on disk; returns the hashes of all trace ids, in their order. */
function* addRest(rest: SectionWriter, index: GrowingIndex): Work<Uint32Array> {
  const traceHashes = yield* addTraces(rest, index);
  const hashes = index.idHashes.subarray(0, index.rows);
  const rows = sortedByKey(0, index.rows, (row) => hashes[row] as number);
  rest.add("idRows", rows);
  yield;
  rest.add("idHashes", inOrder(hashes, rows));
  return traceHashes;
}

function inOrder(hashes: Uint32Array, order: Uint32Array): Uint32Array {
  return order.map((index) => hashes[index] as number);
}

/** Trace ids in the order of their hashes, and the rows of each. */
function* addTraces(rest: SectionWriter, { traces, rows }: GrowingIndex): Work<Uint32Array> {
  const { codes, dictionary } = traces;
  const { size, values } = dictionary;
  const hashes = yield* hashesOf(values);
  const order = sortedByKey(0, size, (i) => hashes[i] as number);
  yield;
  const texts = yield* encodeTexts(Array.from(order, (i) => values[i] as string));
  const ends = new Uint32Array(size + 1);
  ends.set(texts.ends, 1);
  rest.add("traceEnds", ends);
  rest.add("traceTexts", texts.bytes);
  const places = new Uint32Array(size + 1); // by code
  order.forEach((i, place) => (places[i + 1] = place));
  yield;
  const placeOf = (row: number): number => places[codes[row] as number] as number;
  const traced = sortedByKey(0, rows, placeOf).filter((row) => codes[row] !== 0);
  rest.add("traceRows", traced);
  yield;
  const starts = new Uint32Array(size + 1).fill(traced.length, size);
  for (let i = traced.length - 1; i >= 0; i--) starts[placeOf(traced[i] as number)] = i;
  rest.add("traceStarts", starts);
  return inOrder(hashes, order);
}

function narrowed(column: Uint32Array, rows: number, largest: number): Column {
  const used = column.subarray(0, rows);
  if (largest < 2 ** 8) return new Uint8Array(used);
  return largest < 2 ** 16 ? new Uint16Array(used) : used;
}

/** The checksum of each page. The pieces are not joined: of long texts they are as large as the log. */
function* pageChecksums({ pieces, length }: SectionWriter): Work<Uint32Array> {
  const sums = new Uint32Array(Math.ceil(length / PAGE_BYTES));
  let before = 0;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; yield) {
      const page = Math.floor((before + at) / PAGE_BYTES);
      const end = Math.min(piece.length, (page + 1) * PAGE_BYTES - before);
      sums[page] = checksumOf(piece.subarray(at, end), sums[page]);
      at = end;
    }
    before += piece.length;
  }
  return sums;
}

/** A segment that has no sidecar. */
export interface SegmentWithout {
  readonly segment: number;
  readonly organization: string;
  readonly log: string;
  readonly sidecar: string;
}

/** Rebuilds the sidecar of a segment; `false` if a line is damaged: the caller must then report the damage. */
export async function remakeSidecar(files: FileOperations, of: SegmentWithout): Promise<boolean> {
  const index = new GrowingIndex(of.segment);
  let isWhole = true;
  await readManyLines(files, of.log, (bytes, offset) => {
    indexLines(index, of.organization, bytes, offset, () => void (isWhole = false));
    return isWhole ? undefined : false;
  });
  if (!isWhole) return false;
  const { size } = await files.stat(of.log);
  await writeSidecar(files, of.sidecar, index, size);
  return true;
}
