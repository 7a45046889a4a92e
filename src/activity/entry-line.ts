/**
 * The stored form of an activity entry, bounded in bytes. Entries contain texts that callers choose
 * (filters, settings, names), and some requests that write one need no credentials. So the bound is
 * applied to every entry right before it is written, and no action can exceed it.
 */
import type { ActivityEntry } from "./schema.ts";

/** The longest line of an activity log, in bytes, without its line end. */
export const MAX_ENTRY_BYTES = 4_096;

/** The longest text in an entry, in UTF-16 code units. The names and ids that the API accepts fit. */
const MAX_TEXT = 256;
/** The longest text in an entry whose line would otherwise be too long. */
const SHORT_TEXT = 64;
/** Room for the member that states how many members were left out. */
const REST_BYTES = 40;

type Facts = NonNullable<ActivityEntry["after"]>;

/**
 * Writes an entry as JSON of at most `MAX_ENTRY_BYTES`. Long texts end in `…`. If that is not
 * enough, members of `before` and `after` are left out, and a member named `…` states how many.
 */
export function entryLine(entry: ActivityEntry): string {
  const line = JSON.stringify(shortened(entry, MAX_TEXT));
  if (Buffer.byteLength(line) <= MAX_ENTRY_BYTES) return line;
  const short = shortened(entry, SHORT_TEXT);
  const frame = { ...short, before: undefined, after: undefined };
  const half = (MAX_ENTRY_BYTES - bytesOf(frame)) / 2;
  return JSON.stringify({
    ...short,
    before: short.before && firstMembers(short.before, half),
    after: short.after && firstMembers(short.after, half),
  });
}

function shortened(entry: ActivityEntry, most: number): ActivityEntry {
  const { actor, target, before, after } = entry;
  return {
    ...entry,
    actor: shortTexts(actor, most),
    target: shortTexts(target, most),
    before: before && shortTexts(before, most),
    after: after && shortTexts(after, most),
  };
}

/** Cuts the texts of a flat object; a list or an object in it that is too long becomes its cut JSON. */
function shortTexts<T extends object>(facts: T, most: number): T {
  const short = (value: unknown): unknown => {
    if (typeof value === "string") return shortText(value, most);
    if (typeof value !== "object" || value === null) return value;
    const json = JSON.stringify(value);
    return json.length <= most ? value : shortText(json, most);
  };
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [name, short(value)]),
  ) as T;
}

function shortText(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")}…`; // without an unpaired surrogate at the end
}

/** As many of the first members as fit into `most` bytes of JSON, and the number of the others. */
function firstMembers(facts: Facts, most: number): Facts {
  const members = Object.entries(facts).filter(([, value]) => value !== undefined);
  const kept: [string, unknown][] = [];
  let room = most - REST_BYTES - `,"before":{}`.length;
  for (const member of members) {
    room -= bytesOf(Object.fromEntries([member]));
    if (room < 0) {
      kept.push(["…", `and ${members.length - kept.length} more`]);
      break;
    }
    kept.push(member);
  }
  return Object.fromEntries(kept);
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
