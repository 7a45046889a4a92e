/**
 * Bounds the answer to a batch. An event whose id is stored already is answered as it was first stored, so a
 * few bytes of a batch can ask for an event of some MiB, and ten thousand of them for the same one. When the
 * same events are sent again, the answer is about as long as the batch.
 */
import { TooLarge } from "../core/errors.ts";
import type { AuditEvent } from "./schema.ts";

/** Longer than the line of any event within the default `MAX_BODY_BYTES`. */
const LEAST_BYTES = 12 << 20;
/** The most bytes for the fields that ingest adds and the names of all fields. */
const EVENT_BYTES = 1_024;
/** The most bytes of one character in a line: those of an escape such as `\u0000`. */
const CHARACTER_BYTES = 6;

/** The most bytes that the answer to a batch may have. */
export function answerAllowance(events: readonly AuditEvent[]): number {
  let bytes = LEAST_BYTES;
  for (const event of events) bytes += EVENT_BYTES + CHARACTER_BYTES * charactersOf(event);
  return bytes;
}

/** The length of the texts of an event. */
export function charactersOf(event: AuditEvent): number {
  let characters = 0;
  for (const value of Object.values(event)) {
    if (typeof value === "string") characters += value.length;
  }
  return characters;
}

/** The refusal of a batch whose answer would be longer. */
export function longAnswer(): TooLarge {
  return new TooLarge(
    "events: the batch repeats ids of much longer events: send these events as they were sent first, or fewer at a time",
  );
}
