/** Counts of events by decision, by who ran them and by provider, which can be added and taken back. */
import { isAi, decisionOfFacets } from "../index/packed-facets.ts";
import type { Yielder } from "../../../../core/yielder.ts";

const NAMES_AT_ONCE = 512;

/** What one provider was used for. */
export interface ProviderCounts {
  events: number;
  failed: number;
}

/** Counts of some events. */
export class ActivityCounts {
  commands = 0;
  allowed = 0;
  denied = 0;
  ai = 0;
  readonly providers = new Map<string, ProviderCounts>();

  /** Counts an event by its kind, and under its provider where that is to be counted. */
  count(kind: number, provider: string | undefined, hasFailed: boolean): void {
    const decision = decisionOfFacets(kind);
    this.commands++;
    if (decision === 1) this.allowed++;
    if (decision === 2) this.denied++;
    if (isAi(kind)) this.ai++;
    if (provider !== undefined) this.#change(provider, 1, hasFailed || decision === 2 ? 1 : 0);
  }

  /** Adds other counts, or with -1 takes back what was added. */
  async add(other: ActivityCounts, sign: 1 | -1, yielder: Yielder): Promise<void> {
    this.commands += sign * other.commands;
    this.allowed += sign * other.allowed;
    this.denied += sign * other.denied;
    this.ai += sign * other.ai;
    let done = 0;
    for (const [name, { events, failed }] of other.providers) {
      this.#change(name, sign * events, sign * failed);
      if (++done % NAMES_AT_ONCE === 0) await yielder.step();
    }
  }

  #change(name: string, events: number, failed: number): void {
    const counts = this.providers.get(name);
    if (counts === undefined) {
      this.providers.set(name, { events, failed });
      return;
    }
    counts.events += events;
    counts.failed += failed;
    if (counts.events === 0) this.providers.delete(name);
  }
}

/**
 * The names with the greatest numbers, the greatest first, equal ones by name. However many names
 * there are, only those that are wanted are kept and sorted.
 *
 * @param numbers is gone through twice
 */
export async function greatest(
  numbers: () => Iterable<readonly [string, number]>,
  most: number,
  yielder: Yielder,
): Promise<readonly (readonly [string, number])[]> {
  const frequencies = new Map<number, number>();
  let done = 0;
  for (const [, number] of numbers()) {
    frequencies.set(number, (frequencies.get(number) ?? 0) + 1);
    if (++done % NAMES_AT_ONCE === 0) await yielder.step();
  }
  let least = -Infinity;
  let room = most; // in the end, for how many that have the least
  for (const [number, frequency] of [...frequencies].sort(([a], [b]) => b - a)) {
    if (frequency >= room) {
      least = number;
      break;
    }
    room -= frequency;
  }
  const chosen: (readonly [string, number])[] = [];
  for (const entry of numbers()) {
    if (entry[1] > least || (entry[1] === least && room-- > 0)) chosen.push(entry);
    if (++done % NAMES_AT_ONCE === 0) await yielder.step();
  }
  return chosen.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}
