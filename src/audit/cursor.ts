/**
 * Positions of lists and streams as clients hold them: opaque texts. Each names what it belongs to by a
 * hash, so that one is not carried over to another organization or to other filters, where it would
 * silently skip events. The store makes and reads the position inside. A cursor is neither a secret nor a
 * permission: a client that makes one up gets events that the filters would have shown anyway.
 */
import { hash } from "node:crypto";
import { BadInput } from "../core/errors.ts";
import { UnknownPosition, type AuditFilter, type Position } from "./store.ts";

const CURSOR = 1;
const STREAM_POSITION = 2;
const BINDING_BYTES = 12;
const POSITION_AT = 1 + BINDING_BYTES;

/** The cursor of the page that begins at a position of a list. */
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
 * Reads the position that a stream goes on after.
 *
 * @throws BadInput when it does not belong to the organization
 */
export function readStreamId(text: string, organization: string): Position {
  const { binding, position } = read("Last-Event-ID", text, STREAM_POSITION);
  if (!binding.equals(bindingOf(organization, undefined))) throw notOurs("Last-Event-ID");
  return position;
}

/** The error of a store, or what to tell a client whose position the store does not know. */
export function positionFault(name: "cursor" | "Last-Event-ID", error: unknown): unknown {
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
  // Written back it must be the same text: Node's decoder skips characters that it does not know.
  if (!fits || bytes.toString("base64url") !== text) throw notOurs(name);
  return { binding: bytes.subarray(1, POSITION_AT), position: bytes.subarray(POSITION_AT) };
}

function notOurs(name: "cursor" | "Last-Event-ID"): BadInput {
  return new BadInput(`${name}: not understood; begin again without it`);
}

/** A hash of what a position belongs to. The filters' order is fixed, since `filterOf` alone makes them. */
function bindingOf(organization: string, filter: AuditFilter | undefined): Buffer {
  const text = JSON.stringify([organization, filter]);
  return hash("sha256", text, "buffer").subarray(0, BINDING_BYTES);
}
