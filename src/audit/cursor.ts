/**
 * Positions in lists and streams, as opaque texts for clients. Each text contains a hash of its
 * organization and filters. With others it would silently skip events, so it is refused. The store
 * makes and reads the position inside. A cursor is neither a secret nor a permission: a client that
 * forges a cursor gets only events that the filters would have shown anyway.
 */
import { hash } from "node:crypto";
import { BadInput } from "../core/errors.ts";
import { RemovedPosition, UnknownPosition, type AuditFilter, type Position } from "./store.ts";

const CURSOR = 1;
const STREAM_POSITION = 2;
const BINDING_BYTES = 12;
const POSITION_AT = 1 + BINDING_BYTES;

/** The cursor of the page that begins at a position in a list. */
export function cursorOf(position: Position, organization: string, filter: AuditFilter): string {
  return write(CURSOR, bindingOf(organization, filter), position);
}

/**
 * Reads a cursor.
 *
 * @throws BadInput when it is not a cursor, or belongs to other filters or another organization
 */
export function readCursor(text: string, organization: string, filter: AuditFilter): Position {
  const { binding, position } = read("cursor", text, CURSOR);
  if (!binding.equals(bindingOf(organization, filter))) {
    throw new BadInput("cursor: belongs to a list with other filters; begin again without it");
  }
  return position;
}

/** Writes positions of an organization's streams. */
export function streamIds(organization: string): (position: Position) => string {
  const binding = bindingOf(organization, undefined);
  return (position) => write(STREAM_POSITION, binding, position);
}

/**
 * Reads the position after which a stream continues.
 *
 * @throws BadInput if it does not belong to the organization
 */
export function readStreamId(text: string, organization: string): Position {
  const { binding, position } = read("Last-Event-ID", text, STREAM_POSITION);
  if (!binding.equals(bindingOf(organization, undefined))) throw notOurs("Last-Event-ID");
  return position;
}

/**
 * The error to answer with: a `BadInput` if the store does not know the position or has removed it, otherwise
 * the store's error.
 */
export function positionFault(name: "cursor" | "Last-Event-ID", error: unknown): unknown {
  if (error instanceof RemovedPosition) {
    return new BadInput(`${name}: the events after it were removed; begin again without it`);
  }
  return error instanceof UnknownPosition ? notOurs(name) : error;
}

function write(kind: number, binding: Buffer, position: Position): string {
  return Buffer.concat([Buffer.of(kind), binding, position]).toString("base64url");
}

function read(
  name: "cursor" | "Last-Event-ID",
  text: string,
  kind: number,
): { readonly binding: Buffer; readonly position: Position } {
  const bytes = Buffer.from(text, "base64url");
  const fits = bytes.length > POSITION_AT && bytes[0] === kind;
  // Node's decoder skips unknown characters, so the decoded bytes must encode to the same text.
  if (!fits || bytes.toString("base64url") !== text) throw notOurs(name);
  return { binding: bytes.subarray(1, POSITION_AT), position: bytes.subarray(POSITION_AT) };
}

function notOurs(name: "cursor" | "Last-Event-ID"): BadInput {
  return new BadInput(`${name}: not understood; begin again without it`);
}

/** A hash of organization and filters. Only `filterOf` makes filters, so the order of their keys is fixed. */
function bindingOf(organization: string, filter: AuditFilter | undefined): Buffer {
  const text = JSON.stringify([organization, filter]);
  return hash("sha256", text, "buffer").subarray(0, BINDING_BYTES);
}
