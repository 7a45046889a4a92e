/**
 * The index of the segment that takes the writes, and of one that is read back from the log. Arrays
 * double when they are full; what has been entered never changes, so whoever remembers the number of
 * rows has a snapshot.
 */
import { timeOf } from "./canonical-time.ts";
import { GrowingDictionary, SEPARATOR } from "./dictionary.ts";
import { hashOf } from "./hash.ts";
import { RowOrder } from "./row-order.ts";
import { FIELDS, KINDS, kindOf, PROVIDER } from "./segment-index.ts";
import type { IndexedEvent, SegmentIndex } from "./segment-index.ts";
import { addTrigrams, BLOCK_ROWS, FILTER_BYTES } from "./trigrams.ts";

const FIRST_ROWS = 256;
const MAX_COUNTED_PROVIDERS = 1024;

/** An index that takes events. */
export class GrowingIndex implements SegmentIndex {
  readonly segment: number;
  readonly dictionaries = FIELDS.map(() => new GrowingDictionary());
  readonly traceDictionary = new GrowingDictionary();
  readonly kindCounts = new Uint32Array(KINDS);
  readonly counts: Uint32Array[] = FIELDS.map(() => new Uint32Array(8));
  readonly codes: Uint32Array[] = FIELDS.map(() => new Uint32Array(FIRST_ROWS));
  times: Float64Array = new Float64Array(FIRST_ROWS);
  offsets: Uint32Array = new Uint32Array(FIRST_ROWS + 1);
  kinds: Uint8Array = new Uint8Array(FIRST_ROWS);
  traces: Uint32Array = new Uint32Array(FIRST_ROWS);
  idHashes: Uint32Array = new Uint32Array(FIRST_ROWS);
  textStarts: Uint32Array = new Uint32Array(FIRST_ROWS + 1);
  filters: Uint8Array = new Uint8Array(0);
  providerKinds: Uint32Array | undefined = new Uint32Array(8 * KINDS);
  lastUsed: Float64Array = new Float64Array(8);
  rows = 0;
  bytes = 0;
  oldest = Infinity;
  newest = -Infinity;
  newestIngested = -Infinity;
  readonly #order = new RowOrder();
  #text = Buffer.alloc(FIRST_ROWS * 16);
  #textEnd = 0;
  #ingestedAt = "";

  constructor(segment: number) {
    this.segment = segment;
  }

  /** Enters an event whose line begins at byte `offset`; the next one begins at `end` or later. */
  add(event: IndexedEvent, offset: number, end: number): void {
    const row = this.rows;
    if (row === this.kinds.length) this.#grow();
    const time = timeOf(event.timestamp);
    this.times[row] = time;
    if (time < this.oldest) this.oldest = time;
    if (time > this.newest) this.newest = time;
    if (event.ingested_at !== this.#ingestedAt) {
      this.#ingestedAt = event.ingested_at; // many events share it
      this.newestIngested = Math.max(this.newestIngested, timeOf(event.ingested_at));
    }
    this.offsets[row] = offset;
    this.offsets[row + 1] = end;
    this.bytes = end;
    const kind = kindOf(event);
    this.kinds[row] = kind;
    this.kindCounts[kind] = (this.kindCounts[kind] as number) + 1;
    for (let field = 0; field < FIELDS.length; field++) {
      this.#addCode(field, row, event[FIELDS[field] as (typeof FIELDS)[number]]);
    }
    this.#countProvider((this.codes[PROVIDER] as Uint32Array)[row] as number, kind, time);
    this.traces[row] = this.traceDictionary.add(event.trace_id);
    this.idHashes[row] = hashOf(event.id);
    this.#addText(row, event.command);
    this.#order.add(this.times, row);
    this.rows = row + 1;
  }

  #addCode(field: number, row: number, value: string | undefined): void {
    const code = (this.dictionaries[field] as GrowingDictionary).add(value);
    (this.codes[field] as Uint32Array)[row] = code;
    let counts: Uint32Array = this.counts[field] as Uint32Array;
    if (code >= counts.length) counts = this.counts[field] = grown(counts);
    counts[code] = (counts[code] as number) + 1;
  }

  #countProvider(code: number, kind: number, time: number): void {
    if (code >= this.lastUsed.length) this.lastUsed = grown(this.lastUsed);
    const isNew = this.counts[PROVIDER]?.[code] === 1;
    if (isNew || time > (this.lastUsed[code] as number)) this.lastUsed[code] = time;
    if (this.providerKinds === undefined) return;
    if (code > MAX_COUNTED_PROVIDERS) {
      this.providerKinds = undefined;
      return;
    }
    const at = code * KINDS + kind;
    if (at >= this.providerKinds.length) this.providerKinds = grown(this.providerKinds);
    this.providerKinds[at] = (this.providerKinds[at] as number) + 1;
  }

  #addText(row: number, command: string | undefined): void {
    const text = command === undefined ? "" : command.toLowerCase();
    const needed = this.#textEnd + text.length * 3 + 1;
    while (needed > this.#text.length) {
      this.#text = Buffer.concat([this.#text], this.#text.length * 2);
    }
    this.textStarts[row] = this.#textEnd;
    this.#textEnd += this.#text.write(text, this.#textEnd);
    this.#text[this.#textEnd++] = SEPARATOR;
    this.textStarts[row + 1] = this.#textEnd;
    if ((row + 1) % BLOCK_ROWS === 0) this.#addFilter(Math.floor(row / BLOCK_ROWS));
  }

  #addFilter(block: number): void {
    const at = block * FILTER_BYTES;
    if (at === this.filters.length) this.filters = grown(this.filters, 8 * FILTER_BYTES);
    const from = this.textStarts[block * BLOCK_ROWS] as number;
    addTrigrams(this.filters, at, this.#text, from, this.#textEnd);
  }

  #grow(): void {
    this.times = grown(this.times);
    this.offsets = grown(this.offsets);
    this.kinds = grown(this.kinds);
    this.traces = grown(this.traces);
    this.idHashes = grown(this.idHashes);
    this.textStarts = grown(this.textStarts);
    for (let field = 0; field < FIELDS.length; field++) {
      this.codes[field] = grown(this.codes[field] as Uint32Array);
    }
  }

  get filteredRows(): number {
    return this.rows - (this.rows % BLOCK_ROWS);
  }

  order(): Uint32Array | undefined {
    return this.#order.take(this.times, this.rows);
  }

  traceCode(trace: string): number | undefined {
    return this.traceDictionary.codeOf(trace);
  }

  text(from: number, to: number): string {
    return this.#text.toString("latin1", from, to);
  }

  /** All of the text, for the sidecar. */
  get allText(): Buffer {
    return this.#text.subarray(0, this.#textEnd);
  }

  rowsOfId(hash: number): readonly number[] {
    const found: number[] = [];
    for (let at = this.idHashes.indexOf(hash); at !== -1 && at < this.rows;) {
      found.push(at);
      at = this.idHashes.indexOf(hash, at + 1);
    }
    return found;
  }
}

function grown<T extends Float64Array | Uint32Array | Uint8Array>(array: T, least = 0): T {
  const Type = array.constructor as new (length: number) => T;
  const copy = new Type(Math.max(least, array.length * 2));
  copy.set(array as never);
  return copy;
}
