import { EVENT_FIELDS } from "../audit/event-fields.ts";
import { redactEvent } from "../audit/redaction/redact.ts";
import type { Clock } from "../core/clock.ts";
import { firstBytes } from "../core/first-bytes.ts";

/** Secrets are looked for in these bytes beyond the limit of a text: half a secret would not be recognized. */
const BEYOND = 16 << 10;
/** A text is cut at white space if there is some so close to its end: the service may know more secrets. */
const LONGEST_WORD = 4_096;

/** How long a command waits for the secrets of a long text to be found, of the 10 seconds that agents give a hook. */
const REDACTION_MS = 2_000;
/** If that is too short, texts are cut to this. */
const SHORT_BYTES = 16 << 10;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Replaces the secrets in the texts of an event, and cuts its texts to what the service stores. It would refuse a
 * longer one, and a long command would leave no event.
 */
export function fitted<Event extends Fields>(event: Event, clock: Clock): Event {
  const began = clock();
  const isLate = () => clock() - began > REDACTION_MS;
  return cutTo(event, Infinity, isLate) ?? (cutTo(event, SHORT_BYTES) as Event);
}

/** The event, its texts cut to a number of bytes; `undefined` if it is late before all secrets are found. */
function cutTo<Event extends Fields>(
  event: Event,
  most: number,
  isLate?: () => boolean,
): Event | undefined {
  const beginnings: Record<string, string> = {};
  const beyond = new Map<string, number>();
  for (const { name, text, limit, kept } of longTextsOf(event, most)) {
    const beginning = firstBytes(text, limit + BEYOND);
    beginnings[name] = beginning;
    beyond.set(name, beginning.length - kept.length);
  }
  const redacted = redactEvent({ ...event, ...beginnings }, isLate);
  if (redacted === undefined) return undefined;
  const cut: Record<string, string> = {};
  // If redaction has made the text shorter, this drops more than is necessary, and still the half of a secret at the end.
  for (const [name, length] of beyond) cut[name] = String(redacted[name]).slice(0, -length);
  for (const { name, kept } of longTextsOf({ ...redacted, ...cut }, most)) cut[name] = kept;
  for (const [name, text] of Object.entries(cut)) cut[name] = wholeWords(text);
  const names = Object.keys(cut).join(", ");
  return names === "" ? redacted : { message: `too long, and cut: ${names}`, ...redacted, ...cut };
}

/** The texts that are too long, each with the part that is short enough. */
function longTextsOf(event: Fields, most: number) {
  return EVENT_FIELDS.flatMap((field) => {
    const text = event[field.name];
    if (typeof text !== "string" || !("limit" in field)) return [];
    const limit = Math.min(field.limit, most);
    const kept = firstBytes(text, limit);
    return kept.length < text.length ? [{ name: field.name, text, limit, kept }] : [];
  });
}

function wholeWords(text: string): string {
  const end = Math.max(text.lastIndexOf(" "), text.lastIndexOf("\n"));
  return end > text.length - LONGEST_WORD ? text.slice(0, end) : text;
}
