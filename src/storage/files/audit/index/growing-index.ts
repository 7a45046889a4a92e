/**
 * The index of the active segment, and of a segment that is read back from the log. Arrays double when
 * they are full. Invariant: an entry never changes, so a query that remembers the number of rows sees a
 * snapshot.
 */
import type { EventFieldName } from "../../../../audit/event-fields.ts";
import { addBits, marksOf, noBits, RowSet } from "./row-set.ts";
import { COMMAND, placeOf, type LineScanner } from "./line-scanner.ts";
import { RowOrder } from "./row-order.ts";
import { byCodedName, PACKED_FACETS } from "./fields.ts";
import type { CodedField, LocalRow, SegmentIndex } from "./segment-index.ts";
import { BLOCK_TEXTS, addTrigrams, blocksInFilters, FILTER_BYTES } from "./trigrams.ts";
import { GrowingDictionary, grown } from "./growing-dictionary.ts";

const FIRST_ROWS = 256;

/** A field of a segment that grows. */
class GrowingField implements CodedField {
  readonly dictionary = new GrowingDictionary();
  readonly byCombination = undefined;
  readonly #place: number;
  codes: Uint32Array = new Uint32Array(FIRST_ROWS);
  counts: Uint32Array = new Uint32Array(8);

  constructor(name: EventFieldName) {
    this.#place = placeOf(name);
  }

  /** Adds the value of a scanned line. */
  add(line: LineScanner, row: number): void {
    const code = this.dictionary.addFrom(line, this.#place);
    if (row === this.codes.length) this.codes = grown(this.codes);
    this.codes[row] = code;
    if (code === this.counts.length) this.counts = grown(this.counts);
    this.counts[code] = (this.counts[code] as number) + 1;
  }
}

/** An index that takes events. */
export class GrowingIndex implements SegmentIndex {
  readonly segment: number;
  readonly fields = byCodedName((name) => new GrowingField(name));
  readonly traces = new GrowingField("trace_id");
  readonly packedCounts = new Uint32Array(PACKED_FACETS);
  times: Float64Array = new Float64Array(FIRST_ROWS);
  offsets: Uint32Array = new Uint32Array(FIRST_ROWS + 1);
  facets: Uint8Array = new Uint8Array(FIRST_ROWS);
  idHashes: Uint32Array = new Uint32Array(FIRST_ROWS);
  texts: Uint32Array = new Uint32Array(FIRST_ROWS);
  readonly allTexts = new GrowingTexts();
  readonly isSealed = false;
  readonly combinations = undefined;
  lastUsed: Float64Array = new Float64Array(8);
  rows = 0;
  bytes = 0;
  oldest = Infinity;
  newest = -Infinity;
  newestIngested = -Infinity;
  readonly #fields = Object.values(this.fields);
  readonly #order = new RowOrder();

  constructor(segment: number) {
    this.segment = segment;
  }

  /**
   * Adds the event of a scanned line. In the log the line begins at byte `offset`; the next one begins
   * at `end` or later.
   */
  add(line: LineScanner, offset: number, end: number): void {
    const row = this.rows;
    if (row === this.facets.length) this.#grow();
    const { time, kind } = line;
    this.times[row] = time;
    if (time < this.oldest) this.oldest = time;
    if (time > this.newest) this.newest = time;
    if (line.ingestedAt > this.newestIngested) this.newestIngested = line.ingestedAt;
    this.offsets[row] = offset;
    this.offsets[row + 1] = end;
    this.bytes = end;
    this.facets[row] = kind;
    this.packedCounts[kind] = (this.packedCounts[kind] as number) + 1;
    for (const field of this.#fields) field.add(line, row);
    this.traces.add(line, row);
    this.#noteUse(this.fields.provider.codes[row] as number, time);
    this.idHashes[row] = line.idHash;
    this.texts[row] = this.allTexts.add(line);
    this.#order.add(this.times, row);
    this.rows = row + 1;
  }

  #noteUse(code: number, time: number): void {
    if (code >= this.lastUsed.length) this.lastUsed = grown(this.lastUsed);
    const isNew = this.fields.provider.counts[code] === 1;
    if (isNew || time > (this.lastUsed[code] as number)) this.lastUsed[code] = time;
  }

  #grow(): void {
    this.times = grown(this.times);
    this.offsets = grown(this.offsets);
    this.facets = grown(this.facets);
    this.idHashes = grown(this.idHashes);
    this.texts = grown(this.texts);
  }

  get textCount(): number {
    return this.allTexts.count;
  }

  get textStarts(): Uint32Array {
    return this.allTexts.starts;
  }

  order(): Uint32Array | undefined {
    return this.#order.take(this.times, this.rows);
  }

  rowsOfTrace(trace: string, rows: number): Uint32Array {
    const { codes, dictionary } = this.traces;
    const code = dictionary.codeOf(trace);
    if (code === undefined) return new Uint32Array(0);
    const bits = noBits(rows); // all rows may have one trace id, so they are not searched one by one
    addBits(bits, codes, marksOf([code], dictionary.size), rows);
    return RowSet.ofBits(bits).toList();
  }

  blocksWith(bits: Uint16Array): readonly number[] {
    const { fullBlocks, count } = this.allTexts;
    const blocks = this.allTexts.blocksWith(bits);
    return count > fullBlocks * BLOCK_TEXTS ? [...blocks, fullBlocks] : blocks;
  }

  text(from: number, to: number): Buffer {
    return this.allTexts.bytes.subarray(from, to);
  }

  rowsOfId(hash: number): readonly LocalRow[] {
    const found: LocalRow[] = [];
    for (let at = this.idHashes.indexOf(hash); at !== -1 && at < this.rows;) {
      found.push(at as LocalRow);
      at = this.idHashes.indexOf(hash, at + 1);
    }
    return found;
  }

  eachId(first: number, take: (hash: number, row: LocalRow) => void): void {
    for (let row = first as LocalRow; row < this.rows; row++)
      take(this.idHashes[row] as number, row);
  }
}

/**
 * The commands of a segment that grows. Equal commands are kept once: a row holds the number of its text, so
 * a search compares each text once, however many rows have it. The texts are stored in lower case, one after
 * another in UTF-8, each followed by a byte FF. A block of 256 texts has a trigram filter once it is full.
 */
export class GrowingTexts {
  readonly #dictionary = new GrowingDictionary();
  #filters: Uint8Array = new Uint8Array(0);
  #filtered = 0;

  /** The number of a line's command, which is added if it is new; 0 for no command. */
  add(line: LineScanner): number {
    const number = this.#dictionary.addFrom(line, COMMAND);
    if (this.#filtered < this.fullBlocks) this.#addFilter(this.#filtered++);
    return number;
  }

  /** The number of texts; they are numbered 1 to `count`. */
  get count(): number {
    return this.#dictionary.size;
  }

  /** The start of each text, beginning with number 1, and the end of the last one. */
  get starts(): Uint32Array {
    return this.#dictionary.lowerEnds;
  }

  /** The texts with their separators. */
  get bytes(): Buffer {
    return this.#dictionary.lower;
  }

  /** The filters of all blocks that are full. */
  get filters(): Uint8Array {
    return this.#filters.subarray(0, this.fullBlocks * FILTER_BYTES);
  }

  get fullBlocks(): number {
    return Math.floor(this.count / BLOCK_TEXTS);
  }

  /** The full blocks whose filters have all the bits. */
  blocksWith(bits: Uint16Array): readonly number[] {
    return blocksInFilters(this.#filters, this.fullBlocks, bits);
  }

  #addFilter(block: number): void {
    const at = block * FILTER_BYTES;
    if (at === this.#filters.length) this.#filters = grown(this.#filters, 8 * FILTER_BYTES);
    const { bytes, starts } = this;
    const from = starts[block * BLOCK_TEXTS] as number;
    addTrigrams(this.#filters, at, bytes, from, starts[(block + 1) * BLOCK_TEXTS] as number);
  }
}
