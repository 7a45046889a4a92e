import { containing } from "../core/long-needle.ts";
import { formatTimestamp } from "../core/time.ts";
import type { ActivityEntry } from "./schema.ts";

/** The filters of a page of entries; an `undefined` filter matches all. */
export interface ActivityFilter {
  /** A whole action, or the part before its dot: `policy` matches every `policy.…`. */
  readonly action?: string | undefined;
  /** An actor's id, email or name; of an actor without a name its kind, such as `anonymous` or `gate`. */
  readonly actor?: string | undefined;
  /** A target's id or name. */
  readonly target?: string | undefined;
  /** Text in the action, actor, target, address or request id, in any letter case. */
  readonly q?: string | undefined;
  /** In milliseconds, inclusive. */
  readonly from?: number | undefined;
  /** In milliseconds, exclusive. */
  readonly to?: number | undefined;
}

/** Makes the function that tells whether an entry matches a filter. */
export function matcherOf(filter: ActivityFilter): (entry: ActivityEntry) => boolean {
  const { action, target, from, to } = filter;
  const actor = filter.actor?.toLowerCase();
  const holdsQ = filter.q === undefined ? undefined : containing(filter.q.toLowerCase());
  // Stored timestamps have one form, so they compare as texts.
  const first = from === undefined ? undefined : formatTimestamp(from);
  const end = to === undefined ? undefined : formatTimestamp(to);
  return (entry) =>
    (action === undefined || entry.action === action || entry.action.startsWith(`${action}.`)) &&
    (actor === undefined || namesOf(entry.actor).some((name) => name.toLowerCase() === actor)) &&
    (target === undefined || entry.target.id === target || entry.target.name === target) &&
    (first === undefined || entry.timestamp >= first) &&
    (end === undefined || entry.timestamp < end) &&
    (holdsQ === undefined || textsOf(entry).some((text) => holdsQ(text.toLowerCase())));
}

const NAMELESS: readonly string[] = ["anonymous", "command", "gate", "service"];

function namesOf({ kind, id, email, name }: ActivityEntry["actor"]): readonly string[] {
  if (NAMELESS.includes(kind)) return [kind];
  return present([id, email, name]);
}

function textsOf({ action, actor, target, address, request_id }: ActivityEntry): readonly string[] {
  const names = present([address, target.id, target.name]);
  return [action, request_id, ...namesOf(actor), ...names];
}

function present(texts: readonly (string | undefined)[]): readonly string[] {
  return texts.filter((text) => text !== undefined);
}
