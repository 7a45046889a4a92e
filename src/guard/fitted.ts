import { EVENT_FIELDS } from "../audit/event-fields.ts";
import { firstBytes } from "../core/first-bytes.ts";

/** A text is cut at white space if there is some so close to its end: half a secret would not be recognized. */
const LONGEST_WORD = 4_096;

/**
 * Cuts the texts of an event to what the service stores. It would refuse a longer one, and a long command would leave
 * no event.
 *
 * @returns the same object if nothing is too long
 */
export function fitted<Event extends Readonly<Record<string, unknown>>>(event: Event): Event {
  const cut: Record<string, string> = {};
  for (const field of EVENT_FIELDS) {
    const text = event[field.name];
    if (typeof text !== "string" || !("limit" in field)) continue;
    const kept = firstBytes(text, field.limit);
    if (kept.length < text.length) cut[field.name] = wholeWords(kept);
  }
  const names = Object.keys(cut).join(", ");
  return names === "" ? event : { message: `too long, and cut: ${names}`, ...event, ...cut };
}

function wholeWords(text: string): string {
  const end = Math.max(text.lastIndexOf(" "), text.lastIndexOf("\n"));
  return end > text.length - LONGEST_WORD ? text.slice(0, end) : text;
}
