/** Positions of lists and streams: numbers inside the engine, bytes outside it. */
import { FIRST_MS, LAST_MS } from "../core/time.ts";
import { UnknownPosition, type Position } from "./store.ts";

/** The bytes of a number. */
const BYTES = 8;
/** The bytes of a mark. So it is a whole number that JavaScript has exactly, and no other kind of position has this length. */
export const MARK_BYTES = 6;

/**
 * An event's place in a list. Lists are sorted by `timestamp` (milliseconds), then by `row`, which
 * rises in the order of ingest and belongs to the event for good; it is greater than 0.
 */
export interface ListPlace<Row extends number = number> {
  readonly timestamp: number;
  readonly row: Row;
}

/** The position after an event of a list. */
export function listPosition({ timestamp, row }: ListPlace): Position {
  return write([timestamp, row]);
}

/** Reads a position of a list. Throws `UnknownPosition` for bytes that `listPosition` cannot have made. */
export function readListPosition<Row extends number>(position: Position): ListPlace<Row> {
  const [timestamp, row] = read(position, 2) as [number, Row];
  if (!isWhole(timestamp, FIRST_MS, LAST_MS) || !isWhole(row, 1)) throw new UnknownPosition();
  return { timestamp, row };
}

/** The position of a stream that has delivered everything up to a row; 0 at its start. */
export function streamPosition(row: number): Position {
  return write([row]);
}

/** Reads the row after which a stream continues. Throws `UnknownPosition` for a row beyond `lastRow`. */
export function readStreamPosition<Row extends number>(position: Position, lastRow: Row): Row {
  const [row] = read(position, 1) as [Row];
  if (!isWhole(row, 0, lastRow)) throw new UnknownPosition();
  return row;
}

/**
 * A stream's place in a store that may lose its newest rows, whose numbers then belong to other events. The mark
 * distinguishes these events; it is `undefined` at a row without an event, and in positions of earlier versions.
 */
export interface MarkedPlace {
  readonly row: number;
  readonly mark: number | undefined;
}

/** The position of a stream that has delivered everything up to a place. */
export function markedPosition({ row, mark }: MarkedPlace): Position {
  if (mark === undefined) return streamPosition(row);
  const bytes = Buffer.allocUnsafe(BYTES + MARK_BYTES);
  bytes.writeDoubleBE(row);
  bytes.writeUIntBE(mark, BYTES, MARK_BYTES);
  return bytes;
}

/** Reads a position of a marked place. Throws `UnknownPosition` for bytes that `markedPosition` cannot have made. */
export function readMarkedPosition(position: Position): MarkedPlace {
  const isMarked = position.length === BYTES + MARK_BYTES;
  const [row] = read(isMarked ? position.subarray(0, BYTES) : position, 1) as [number];
  if (!isWhole(row, 0)) throw new UnknownPosition();
  return { row, mark: isMarked ? position.readUIntBE(BYTES, MARK_BYTES) : undefined };
}

function write(numbers: readonly number[]): Position {
  const bytes = Buffer.allocUnsafe(numbers.length * BYTES);
  numbers.forEach((number, index) => bytes.writeDoubleBE(number, index * BYTES));
  return bytes;
}

function read(bytes: Position, count: number): readonly number[] {
  if (bytes.length !== count * BYTES) throw new UnknownPosition();
  return Array.from({ length: count }, (_, index) => bytes.readDoubleBE(index * BYTES));
}

function isWhole(value: number, least: number, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}
