/**
 * Positions in a list and in a stream, as clients hold them: opaque texts of fixed length. Each holds
 * a hash of its organization and filters, so that a cursor of other filters is refused instead of
 * silently skipping events. A cursor is neither a secret nor a permission: a client that makes one up
 * gets what the filters would have shown anyway.
 */
import { hash } from "node:crypto";
import { BadInput } from "../core/errors.ts";
import type { AuditFilter, Position } from "./store.ts";

const CURSOR = 1;
const STREAM_POSITION = 2;
const BINDING_BYTES = 12;
const NUMBERS_AT = 1 + BINDING_BYTES;
const FIRST_MS = -62_167_219_200_000; // 0000-01-01T00:00:00Z
const LAST_MS = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z

/** The cursor of the page that begins after a row of a list. */
export function cursorAfter(
  { timestamp, row }: Position,
  organization: string,
  filter: AuditFilter,
): string {
  return write(CURSOR, bindingOf(organization, filter), [timestamp, row]);
}

/**
 * Reads a cursor.
 *
 * @throws BadInput when it was not made here, or belongs to other filters or another organization
 */
export function readCursor(text: string, organization: string, filter: AuditFilter): Position {
  const { binding, numbers } = read("cursor", text, CURSOR, 2);
  const [timestamp = Number.NaN, row = Number.NaN] = numbers;
  if (!isWhole(timestamp, FIRST_MS, LAST_MS) || !isWhole(row, 1)) throw notOurs("cursor");
  if (!binding.equals(bindingOf(organization, filter))) {
    throw new BadInput("cursor: belongs to a list with other filters; begin again without it");
  }
  return { timestamp, row };
}

/** The position of a stream that has given out everything up to a row; 0 for nothing. */
export function streamPosition(row: number, organization: string): string {
  return write(STREAM_POSITION, bindingOf(organization, undefined), [row]);
}

/**
 * Reads the row that a stream goes on after.
 *
 * @param lastRow the row of the organization's newest event, which no position can be beyond
 * @throws BadInput when it is no position of this organization
 */
export function readStreamPosition(text: string, organization: string, lastRow: number): number {
  const { binding, numbers } = read("Last-Event-ID", text, STREAM_POSITION, 1);
  const [row = Number.NaN] = numbers;
  const isOurs = binding.equals(bindingOf(organization, undefined));
  if (!isOurs || !isWhole(row, 0, lastRow)) throw notOurs("Last-Event-ID");
  return row;
}

function write(kind: number, binding: Buffer, numbers: readonly number[]): string {
  const bytes = Buffer.alloc(NUMBERS_AT + numbers.length * 8);
  bytes[0] = kind;
  binding.copy(bytes, 1);
  numbers.forEach((number, index) => bytes.writeDoubleBE(number, NUMBERS_AT + index * 8));
  return bytes.toString("base64url");
}

function read(
  name: string,
  text: string,
  kind: number,
  count: number,
): { readonly binding: Buffer; readonly numbers: readonly number[] } {
  const bytes = Buffer.from(text, "base64url");
  const fits = bytes.length === NUMBERS_AT + count * 8 && bytes[0] === kind;
  // Written back it must be the same text: Node's decoder skips what it does not know.
  if (!fits || bytes.toString("base64url") !== text) throw notOurs(name);
  const numbers = Array.from({ length: count }, (_, i) => bytes.readDoubleBE(NUMBERS_AT + i * 8));
  return { binding: bytes.subarray(1, NUMBERS_AT), numbers };
}

function isWhole(value: number, least: number, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}

function notOurs(name: string): BadInput {
  return new BadInput(`${name}: not understood; begin again without it`);
}

/** What a place belongs to. The filters' order is fixed, since `filterOf` alone makes them. */
function bindingOf(organization: string, filter: AuditFilter | undefined): Buffer {
  const text = JSON.stringify([organization, filter]);
  return hash("sha256", text, "buffer").subarray(0, BINDING_BYTES);
}
