/**
 * Compares the lines of a log with the leaves that its tiles record, and says which lines were changed, added,
 * removed or moved. Both are given as hashes, one after the other.
 */
import { HASH_BYTES } from "./merkle.ts";

/** The most findings of one comparison: a replaced log would have one for each line. */
const MAX_FINDINGS = 20;

/** A difference. Events and lines are counted from 0. */
export type Difference =
  /** The line stands where the event was, and is not recorded anywhere. */
  | { readonly what: "changed"; readonly line: number; readonly event: number }
  /** The line is not recorded here; `repeats` is the event that it repeats, if it is one. */
  | { readonly what: "added"; readonly line: number; readonly repeats: number | undefined }
  /** The line is this event, which has its place elsewhere. */
  | { readonly what: "moved"; readonly line: number; readonly event: number }
  /** Consecutive events are not there; `line` is the line after the gap. */
  | {
      readonly what: "missing";
      readonly line: number;
      readonly event: number;
      readonly count: number;
    };

/** The result of a comparison. */
export interface Alignment {
  readonly differences: readonly Difference[];
  /** The first line after those of the recorded events; `undefined` if the comparison was given up. */
  readonly end: number | undefined;
}

/**
 * Finds the differences between recorded leaves and the lines of the log. Lines may go on after the last
 * recorded leaf.
 */
export function align(recorded: Buffer, lines: Buffer): Alignment {
  const found: Difference[] = [];
  const [events, count] = [recorded.length / HASH_BYTES, lines.length / HASH_BYTES];
  let [event, line] = [0, 0];
  while (event < events && found.length < MAX_FINDINGS) {
    if (line === count) {
      found.push({ what: "missing", line, event, count: events - event });
      event = events;
    } else if (isSame(recorded, event, lines, line)) {
      event++;
      line++;
    } else {
      const own = indexOf(recorded, lines, line);
      if (own === undefined && indexOf(lines, recorded, event) === undefined) {
        found.push({ what: "changed", line, event });
        event++;
        line++;
      } else if (own === undefined || own < event) {
        found.push({ what: "added", line, repeats: own });
        line++;
      } else if (continues(own + 1, line + 1)) {
        found.push({ what: "missing", line, event, count: own - event });
        event = own;
      } else {
        found.push({ what: "moved", line, event: own });
        line++;
      }
    }
  }
  for (; line < count && found.length < MAX_FINDINGS; line++) {
    const repeats = indexOf(recorded, lines, line);
    if (repeats === undefined) break;
    found.push({ what: "added", line, repeats });
  }
  return { differences: paired(found), end: found.length < MAX_FINDINGS ? line : undefined };

  /** Whether lines after a gap go on with the events after it: then events are missing, not a line moved. */
  function continues(nextEvent: number, nextLine: number): boolean {
    if (nextLine === count) return true;
    if (nextEvent === events) return indexOf(recorded, lines, nextLine) === undefined;
    return isSame(recorded, nextEvent, lines, nextLine);
  }
}

/** Joins the finding that an event is missing and the one that a line elsewhere is that event. */
function paired(found: readonly Difference[]): readonly Difference[] {
  const gaps = found.filter((one) => one.what === "missing");
  const gapOf = (event: number) =>
    gaps.find((gap) => event >= gap.event && event < gap.event + gap.count);
  const moved = found.map((one): Difference => {
    if (one.what !== "added" || one.repeats === undefined || !gapOf(one.repeats)) return one;
    return { what: "moved", line: one.line, event: one.repeats };
  });
  const events = moved.flatMap((one) => (one.what === "moved" ? [one.event] : []));
  const filled = new Set(events.map(gapOf).filter((gap) => gap?.count === 1));
  return moved.filter((one) => one.what !== "missing" || !filled.has(one));
}

function isSame(one: Buffer, i: number, other: Buffer, j: number): boolean {
  const [from, at] = [i * HASH_BYTES, j * HASH_BYTES];
  return one.compare(other, at, at + HASH_BYTES, from, from + HASH_BYTES) === 0;
}

/** The place of the hash `wanted[i]` among other hashes. */
function indexOf(hashes: Buffer, wanted: Buffer, i: number): number | undefined {
  const hash = wanted.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES);
  let at = hashes.indexOf(hash);
  while (at > 0 && at % HASH_BYTES !== 0) at = hashes.indexOf(hash, at + 1);
  return at < 0 ? undefined : at / HASH_BYTES;
}
