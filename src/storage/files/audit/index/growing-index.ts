/**
 * The index of the active segment, and of a segment that is read back from the log. Arrays double when
 * they are full. Invariant: an entry never changes, so a query that remembers the number of rows sees a
 * snapshot.
 */
import type { EventFieldName } from "../../../../audit/event-fields.ts";
import type { AuditEvent } from "../../../../audit/schema.ts";
import type { Awaitable } from "../../../../core/caller.ts";
import type { Yielder } from "../../../../core/scheduling/yielder.ts";
import { eachLine, type TakeLine } from "../../../log-lines.ts";
import { readLine, timeOf } from "../write/lines.ts";
import { byCodedName, PACKED_FACETS, packFacets } from "./fields.ts";
import { GrowingDictionary } from "./dictionary.ts";
import { hashOf } from "./hash.ts";
import { addBits, marksOf, noBits, RowSet } from "./row-set.ts";
import { RowOrder } from "./row-order.ts";
import type { CodedField, LocalRow, LongField, SegmentIndex } from "./segment-index.ts";
import { grown } from "../../grown.ts";
import type { SearchedText } from "./trigrams.ts";

const FIRST_ROWS = 256;
/** The memory of a text beyond its length: with its places in a dictionary some 100 bytes. */
export const TEXT_CHARACTERS = 32;

/** A field of a segment that grows. */
class GrowingField implements CodedField, LongField {
  readonly dictionary = new GrowingDictionary();
  readonly byCombination = undefined;
  readonly #name: EventFieldName;
  codes: Uint32Array = new Uint32Array(FIRST_ROWS);
  counts: Uint32Array = new Uint32Array(8);

  constructor(name: EventFieldName) {
    this.#name = name;
  }

  /** Adds the value of an event, which is the next row. */
  add(event: AuditEvent, row: number): void {
    const value = event[this.#name];
    const code = typeof value === "string" ? this.dictionary.add(value) : 0;
    if (row === this.codes.length) this.codes = grown(this.codes);
    this.codes[row] = code;
    if (code === this.counts.length) this.counts = grown(this.counts);
    this.counts[code] = (this.counts[code] as number) + 1;
  }

  get size(): number {
    return this.dictionary.size;
  }

  holding({ needle }: SearchedText, yielder: Yielder): Awaitable<readonly number[]> {
    return yielder.run(this.dictionary.search(needle));
  }
}

/** An index that takes events. */
export class GrowingIndex implements SegmentIndex {
  readonly segment: number;
  readonly isSealed = false;
  readonly combinations = undefined;
  readonly fields = byCodedName((name) => new GrowingField(name));
  readonly longFields = {
    command: new GrowingField("command"),
    reason: new GrowingField("reason"),
  };
  readonly traces = new GrowingField("trace_id");
  readonly packedCounts = new Uint32Array(PACKED_FACETS);
  times: Float64Array = new Float64Array(FIRST_ROWS);
  offsets: Uint32Array = new Uint32Array(FIRST_ROWS + 1);
  facets: Uint8Array = new Uint8Array(FIRST_ROWS);
  idHashes: Uint32Array = new Uint32Array(FIRST_ROWS);
  lastUsed: Float64Array = new Float64Array(8);
  rows = 0;
  bytes = 0;
  oldest = Infinity;
  newest = -Infinity;
  newestIngested = -Infinity;
  /** Set to seal the segment before it is full: the next append goes to another one. */
  isEnded = false;
  readonly #fields = [
    ...Object.values(this.fields),
    ...Object.values(this.longFields),
    this.traces,
  ];
  readonly #order = new RowOrder();

  /** The length of all texts in memory, and some characters more for each: short ones take memory by their number. */
  get characters(): number {
    return this.#fields.reduce(
      (sum, { dictionary: { characters, size } }) => sum + characters + size * TEXT_CHARACTERS,
      0,
    );
  }

  constructor(segment: number) {
    this.segment = segment;
  }

  /** Ends the segment if it has events, and all of them arrived before that time. Returns whether it is ended. */
  endBefore(time: number): boolean {
    this.isEnded ||= this.rows > 0 && this.newestIngested < time;
    return this.isEnded;
  }

  /**
   * Adds an event, whose line begins at byte `offset` of the log; the next one begins at `end` or later.
   *
   * @returns its row
   */
  add(event: AuditEvent, offset: number, end: number): LocalRow {
    const row = this.rows as LocalRow;
    if (row === this.facets.length) this.#grow();
    const time = timeOf(event.timestamp) ?? 0;
    this.times[row] = time;
    this.oldest = Math.min(this.oldest, time);
    this.newest = Math.max(this.newest, time);
    const ingested = typeof event.ingested_at === "string" ? timeOf(event.ingested_at) : undefined;
    this.newestIngested = Math.max(this.newestIngested, ingested ?? 0);
    this.offsets[row] = offset;
    this.offsets[row + 1] = end;
    this.bytes = end;
    const packed = packFacets(event);
    this.facets[row] = packed;
    this.packedCounts[packed] = (this.packedCounts[packed] as number) + 1;
    for (const field of this.#fields) field.add(event, row);
    this.#noteUse(this.fields.provider.codes[row] as number, time);
    this.idHashes[row] = hashOf(event.id);
    this.#order.add(this.times, row);
    this.rows = row + 1;
    return row;
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
  }

  order(): Uint32Array | undefined {
    return this.#order.take(this.times, this.rows);
  }

  async rowsOfTrace(trace: string, rows: number, yielder: Yielder): Promise<Uint32Array> {
    const { codes, dictionary } = this.traces;
    const code = dictionary.codeOf(trace);
    if (code === undefined) return new Uint32Array(0);
    const bits = noBits(rows); // a bit set, because all rows may have the same trace id
    await yielder.run(addBits(bits, codes, marksOf([code], dictionary.size), rows));
    const found = await yielder.run(RowSet.ofBits(bits));
    return yielder.run(found.toList());
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
 * Adds whole lines of an organization's log to an index.
 *
 * @param offset the position of the bytes in the log
 * @param damaged receives lines that are not events of this organization
 */
export function indexLines(
  index: GrowingIndex,
  organization: string,
  bytes: Buffer,
  offset: number,
  damaged: TakeLine,
): void {
  eachLine(bytes, offset, (line, at) => {
    const event = readLine(line, organization);
    if (event === undefined) damaged(line, at);
    else index.add(event, at, at + line.length);
  });
}
