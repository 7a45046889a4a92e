/** Positions of lists and streams: numbers inside the engine, bytes outside it. */
import { FIRST_MS, LAST_MS } from "../core/time.ts";
import { UnknownPosition, type Position } from "./store.ts";

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

function write(numbers: readonly number[]): Position {
  const bytes = Buffer.allocUnsafe(numbers.length * 8);
  numbers.forEach((number, index) => bytes.writeDoubleBE(number, index * 8));
  return bytes;
}

function read(bytes: Position, count: number): readonly number[] {
  if (bytes.length !== count * 8) throw new UnknownPosition();
  return Array.from({ length: count }, (_, index) => bytes.readDoubleBE(index * 8));
}

function isWhole(value: number, least: number, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}
