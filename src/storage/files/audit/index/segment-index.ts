/**
 * The index of one segment: an array for each column, in the order of ingest, so that a row number is an
 * index into each of them. About 40 bytes an event stay in memory. The lower-cased commands and reasons of a
 * sealed segment are not kept in memory, but read from its sidecar.
 */
import type { Awaitable } from "../../../../core/caller.ts";
import type { Yielder } from "../../../../core/scheduling/yielder.ts";
import type { Slice } from "../../../segment-reader.ts";
import type { FacetCombinations } from "./facet-counts.ts";
import type { Dictionary } from "./dictionary.ts";
import type { CodedName, Column, LongName } from "./fields.ts";
import type { SearchedText } from "./trigrams.ts";

/** One field of all rows of a segment. Arrays may be longer than they are filled. */
export interface CodedField {
  /** The code of each row. */
  readonly codes: Column;
  readonly dictionary: Dictionary;
  /** The number of rows with each code. */
  readonly counts: Uint32Array;
  /** The codes of the values that contain a text, ascending. */
  holding(text: SearchedText, yielder: Yielder): Awaitable<readonly number[]>;
  /** The rows by code and combination of facets, code after code; `undefined` if they are not counted. */
  readonly byCombination: Column | undefined;
}

/** A field of long texts. */
export interface LongField {
  /** The code of each row's text; 0 for no text. */
  readonly codes: Column;
  /** The number of distinct texts; their codes are 1 to `size`. */
  readonly size: number;
  /** The codes of the texts that contain a text, ascending. */
  holding(text: SearchedText, yielder: Yielder): Awaitable<readonly number[]>;
}

/** The columns of a segment. Arrays may be longer than `rows`. */
export interface SegmentIndex {
  readonly segment: number;
  /** Whether the segment takes no more writes, so that nothing here changes any more. */
  readonly isSealed: boolean;
  readonly rows: number;
  /** The bytes of the log that the index covers. */
  readonly bytes: number;
  /** `timestamp`, in milliseconds, and its bounds; the bounds of no rows are infinite. */
  readonly times: Float64Array;
  readonly oldest: number;
  readonly newest: number;
  /** The newest `ingested_at`, in milliseconds. */
  readonly newestIngested: number;
  /** The start of each line in the log, and one more entry: an upper bound for the end of the last row. */
  readonly offsets: Uint32Array;
  readonly facets: Uint8Array;
  readonly fields: Readonly<Record<CodedName, CodedField>>;
  /** The number of rows with each packed facet. */
  readonly packedCounts: Uint32Array;
  /** The combinations of facets; `undefined` while the segment grows, or if there are too many. */
  readonly combinations: FacetCombinations | undefined;
  /** The newest `timestamp` by provider code. */
  readonly lastUsed: Float64Array;
  readonly longFields: Readonly<Record<LongName, LongField>>;

  /** Rows by time, oldest first, equal times by row; `undefined` when they came in that order. */
  order(): Uint32Array | undefined;
  /** Rows below `rows` that have a trace id. */
  rowsOfTrace(trace: string, rows: number, yielder: Yielder): Awaitable<Uint32Array>;
  /**
   * The rows whose id has that hash.
   *
   * @param room a buffer for what is read, which look-ups in several segments share
   */
  rowsOfId(hash: number, room?: Buffer): Awaitable<readonly LocalRow[]>;
  /** Calls `take` with the hash of each row's id, from row `first` on, in no particular order. */
  eachId(first: number, take: (hash: number, row: LocalRow) => void): Awaitable<void>;
}

declare const local: unique symbol;
declare const global: unique symbol;
/** The number of a row in its segment. */
export type LocalRow = number & { readonly [local]: true };
/** The number of a row through all segments, in the order of ingest. It never changes. */
export type GlobalRow = number & { readonly [global]: true };

const SEGMENT_ROWS = 2 ** 32;
/** A number below every row. */
export const NO_ROW = 0 as GlobalRow;
/** A number above every row. */
export const AFTER_ALL_ROWS = Infinity as GlobalRow;

/** The global number of a row in its segment. */
export function globalRow(segment: number, row: LocalRow): GlobalRow {
  return (segment * SEGMENT_ROWS + row) as GlobalRow;
}

/** The number of a row in its segment. */
export function localRow(row: GlobalRow): LocalRow {
  return (row % SEGMENT_ROWS) as LocalRow;
}

/** The place of a row's line in the log. */
export function sliceOf({ segment, offsets }: SegmentIndex, row: number): Slice {
  const offset = offsets[row] as number;
  return { segment, offset, length: (offsets[row + 1] as number) - offset };
}

/** The segment of a row. */
export function segmentOf(row: GlobalRow): number {
  return Math.floor(row / SEGMENT_ROWS);
}
