/** Writes the sidecar of a sealed segment, in short steps between which the event loop serves requests. */
import { nextTurn } from "../../../../core/timers.ts";
import type { FileOperations } from "../../../file-operations.ts";
import { replaceFile } from "../../../snapshot.ts";
import { GrowingIndex } from "../index/growing-index.ts";
import { countByFacets, countFacets } from "../index/facet-counts.ts";
import { orderByHash } from "../index/byte-words.ts";
import { CODED_FIELDS, COUNTED, INDEXED_FIELDS, type Column } from "../index/fields.ts";
import { encodeHeader, checksumOf, HEADER_BYTES, PAGE_BYTES, alignedLength } from "./format.ts";
import { SectionWriter, type SectionArray, type Table } from "./format.ts";
import { sliceFilters } from "../index/trigrams.ts";
import { readManyLines } from "../../../log-lines.ts";
import { LineIndexer } from "../index/line-indexer.ts";

const STEP_BYTES = 1 << 20;

/** Writes the sidecar of a segment whose log has the given length; the rename commits. */
export async function writeSidecar(
  files: FileOperations,
  path: string,
  index: GrowingIndex,
  logBytes: number,
): Promise<void> {
  const rest = new SectionWriter();
  for await (const [name, array] of inTurns(restSections(index))) rest.add(name, array);
  const restBytes = await joined(rest);
  const columns = new SectionWriter();
  for await (const [name, array] of inTurns(columnSections(index))) columns.add(name, array);
  columns.add("restChecksums", await pageChecksums(restBytes));
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
  let checksum = checksumOf(tableBytes);
  for (const piece of columns.pieces) {
    checksum = checksumOf(piece, checksum);
    await nextTurn();
  }
  const lengths = {
    tableBytes: tableBytes.length,
    columnBytes: columns.length,
    restBytes: restBytes.length,
  };
  const whole = Buffer.allocUnsafe(
    HEADER_BYTES + tableBytes.length + columns.length + restBytes.length,
  );
  let at = 0;
  for (const piece of [encodeHeader({ ...lengths, checksum }), tableBytes, ...columns.pieces]) {
    whole.set(piece, at);
    at += piece.length;
  }
  await nextTurn();
  whole.set(restBytes, at);
  await replaceFile(files, path, whole);
}

/** The columns, each in the narrowest type that fits. */
function* columnSections(index: GrowingIndex): Generator<readonly [string, SectionArray]> {
  const { rows } = index;
  yield ["times", index.times.subarray(0, rows)];
  yield ["offsets", index.offsets.subarray(0, rows + 1)];
  yield ["facets", index.facets.subarray(0, rows)];
  yield ["packedCounts", index.packedCounts];
  const order = index.order();
  if (order !== undefined) yield ["order", order];
  yield ["texts", narrowed(index.texts, rows, index.textCount)];
  yield ["textStarts", index.textStarts.subarray(0, index.textCount + 1)];
  const { filters, fullBlocks } = index.allTexts;
  yield ["filters", sliceFilters(filters, fullBlocks)];
  yield* fieldSections(index);
  yield* facetSections(index);
  const providers = index.fields.provider.dictionary.size + 1;
  yield ["lastUsed", index.lastUsed.subarray(0, providers)];
  yield ["traceHashes", index.traces.dictionary.hashes.slice().sort()];
}

/** For each field: its codes, the number of rows with each, and its dictionary. */
function* fieldSections({
  fields,
  rows,
}: GrowingIndex): Generator<readonly [string, SectionArray]> {
  for (const { name, isSearched = false } of CODED_FIELDS) {
    const { codes, counts, dictionary } = fields[name];
    yield [`${name}.codes`, narrowed(codes, rows, dictionary.size)];
    yield [`${name}.counts`, counts.subarray(0, dictionary.size + 1)];
    yield [`${name}.values`, dictionary.pack(isSearched)];
  }
}

/** Totals by combination of facets; empty if there are too many combinations. */
function* facetSections(index: GrowingIndex): Generator<readonly [string, SectionArray]> {
  const { facets, fields, rows } = index;
  const counted = countFacets(facets, fields.status.codes, fields.policy.codes, rows);
  if (counted === undefined) return;
  const { keys, column } = counted;
  for (const [name, array] of Object.entries(keys)) yield [`combinations.${name}`, array];
  for (const name of COUNTED) {
    const { codes, dictionary } = fields[name];
    const table = countByFacets(column, keys.facets.length, codes, dictionary.size);
    if (table === undefined) continue;
    const greatest = table.reduce((most, count) => Math.max(most, count), 0);
    yield [`${name}.byCombination`, narrowed(table, table.length, greatest)];
  }
}

function* restSections(index: GrowingIndex): Generator<readonly [string, SectionArray]> {
  yield ["text", index.allTexts.bytes];
  yield* traceSections(index);
  const hashes = index.idHashes.subarray(0, index.rows);
  yield ["idHashes", hashes.slice().sort()];
  yield ["idRows", orderByHash(hashes)];
}

/** Trace ids in the order of their hashes, and the rows of each. */
function* traceSections(index: GrowingIndex): Generator<readonly [string, SectionArray]> {
  const { codes, dictionary } = index.traces;
  const { size } = dictionary;
  const order = orderByHash(dictionary.hashes);
  const texts = Array.from(order, (i) => dictionary.bytesOf(i + 1));
  const ends = new Uint32Array(texts.length + 1);
  texts.forEach((text, i) => (ends[i + 1] = (ends[i] as number) + text.length));
  yield ["traceEnds", ends];
  yield ["traceTexts", Buffer.concat(texts)];
  const starts = new Uint32Array(size + 1);
  const placeOf = new Uint32Array(size + 1); // by code
  order.forEach((i, place) => (placeOf[i + 1] = place));
  for (let row = 0; row < index.rows; row++) {
    const code = codes[row] as number;
    if (code === 0) continue;
    const next = (placeOf[code] as number) + 1;
    starts[next] = (starts[next] as number) + 1;
  }
  for (let i = 1; i < starts.length; i++) {
    starts[i] = (starts[i] as number) + (starts[i - 1] as number);
  }
  yield ["traceStarts", starts];
  const rows = new Uint32Array(starts[size] as number);
  const filled = starts.slice();
  for (let row = 0; row < index.rows; row++) {
    const code = codes[row] as number;
    if (code === 0) continue;
    const place = placeOf[code] as number;
    rows[filled[place] as number] = row;
    filled[place] = (filled[place] as number) + 1;
  }
  yield ["traceRows", rows];
}

function narrowed(column: Uint32Array, rows: number, largest: number): Column {
  const used = column.subarray(0, rows);
  if (largest < 2 ** 8) return new Uint8Array(used);
  return largest < 2 ** 16 ? new Uint16Array(used) : used;
}

async function* inTurns<T>(values: Iterable<T>): AsyncGenerator<T> {
  for (const value of values) {
    yield value;
    await nextTurn();
  }
}

async function joined(sections: SectionWriter): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(sections.length);
  let at = 0;
  for (const piece of sections.pieces) {
    whole.set(piece, at);
    at += piece.length;
    await nextTurn();
  }
  return whole;
}

async function pageChecksums(bytes: Uint8Array): Promise<Uint32Array> {
  const sums = new Uint32Array(Math.ceil(bytes.length / PAGE_BYTES));
  for (let page = 0; page < sums.length; page++) {
    sums[page] = checksumOf(bytes.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES));
    if ((page * PAGE_BYTES) % STEP_BYTES === 0) await nextTurn();
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

/** Rebuilds the sidecar of a segment; `false` if a line is damaged, which the caller has to report. */
export async function remakeSidecar(files: FileOperations, of: SegmentWithout): Promise<boolean> {
  const index = new GrowingIndex(of.segment);
  const indexer = new LineIndexer(of.organization);
  let isWhole = true;
  await readManyLines(files, of.log, (bytes, offset) => {
    indexer.add(index, bytes, offset, () => void (isWhole = false));
    return isWhole ? undefined : false;
  });
  if (!isWhole) return false;
  const { size } = await files.stat(of.log);
  await writeSidecar(files, of.sidecar, index, size);
  return true;
}
