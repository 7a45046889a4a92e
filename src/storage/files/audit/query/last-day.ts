/**
 * The counts of the last 24 hours, by a scan over the segments that reach into them. Rows are counted by
 * code, without reading a text: 110,000 events take about a millisecond. The result of a scan over more than
 * a million rows is reused for a second, so that many dashboards over a busy day cost one scan; a smaller
 * scan is repeated for each query, and includes every event that was acknowledged before.
 */
import type { AuditActivity } from "../../../../audit/store.ts";
import { DAY_MS, SECOND_MS } from "../../../../core/clock.ts";
import { Yielder } from "../../../../core/scheduling/yielder.ts";
import { Queue } from "../../../../core/scheduling/queue.ts";
import { decisionOfFacets, isAi, PACKED_FACETS } from "../index/fields.ts";
import type { SegmentIndex } from "../index/segment-index.ts";
import { FrequentTexts } from "./frequent-texts.ts";
import { greatest } from "./greatest.ts";
import { segmentQuery } from "./segment-query.ts";
import { rowAt, selectRows, segmentViewOf, type SegmentView } from "./select-rows.ts";

/** The status of failed events, in any letter case: runtimes choose the words. */
const FAILED = ["failed", "error"].flatMap(inAnyCase);
const MANY_ROWS = 1_000_000;
const MOST_LISTED = 1_000;
/** The most names of a segment that are compared, those with the most events: runtimes choose names, too. */
const MOST_NAMES = 2 * MOST_LISTED;
const ROWS_AT_ONCE = 4_096;

/** The counts of one provider's use. */
interface ProviderCounts {
  readonly events: number;
  readonly failed: number;
}

/** The rows of one segment that lie in the day, by the code of their provider. */
interface SegmentCounts {
  readonly index: SegmentIndex;
  readonly events: Uint32Array;
  readonly failed: Uint32Array;
}

interface Day {
  readonly now: number;
  /** The number of stored rows, in the day or not. */
  readonly stored: number;
  readonly scanned: number;
  readonly facets: Uint32Array;
  readonly wouldBeDenied: number;
  readonly segments: readonly SegmentCounts[];
}

/** Counts the events of 24 hours. */
export class LastDay {
  readonly #turns = new Queue();
  #latest: Day | undefined;

  /** Counts the 24 hours up to and including `now`. */
  async activity(now: number, indexes: readonly SegmentIndex[]): Promise<AuditActivity> {
    const { scanned, facets, wouldBeDenied, segments } = await this.#at(now, indexes);
    const where = (holds: (packed: number) => boolean): number =>
      facets.reduce((sum, count, packed) => (holds(packed) ? sum + count : sum), 0);
    return {
      commands: scanned,
      allowed: where((packed) => decisionOfFacets(packed) === 1),
      denied: where((packed) => decisionOfFacets(packed) === 2),
      wouldBeDenied,
      ai: where(isAi),
      byProvider: await mostUsed(segments, new Yielder()),
    };
  }

  /** Counts the use of the named providers in the 24 hours up to and including `now`. */
  async providerUse(
    names: readonly string[],
    now: number,
    indexes: readonly SegmentIndex[],
  ): Promise<ReadonlyMap<string, ProviderCounts>> {
    const { segments } = await this.#at(now, indexes);
    const yielder = new Yielder();
    const use = new Map<string, ProviderCounts>();
    for (const name of names) {
      let [events, failed] = [0, 0];
      for (const counts of segments) {
        const code = counts.index.fields.provider.dictionary.codeOf(name);
        if (code === undefined || code >= counts.events.length) continue; // it came after the scan
        events += counts.events[code] as number;
        failed += counts.failed[code] as number;
      }
      use.set(name, { events, failed });
      await yielder.step();
    }
    return use;
  }

  #at(now: number, indexes: readonly SegmentIndex[]): Promise<Day> {
    return this.#turns.run(async () => {
      const stored = indexes.reduce((sum, { rows }) => sum + rows, 0);
      const latest = this.#latest;
      const age = now - (latest?.now ?? -Infinity);
      const isExact = age === 0 && latest?.stored === stored;
      const isRecent = age >= 0 && age < SECOND_MS && (latest?.scanned ?? 0) > MANY_ROWS;
      // An index that was replaced or removed meanwhile can no longer be read.
      const isThere = latest?.segments.every(({ index }) => indexes.includes(index)) === true;
      if (latest !== undefined && isThere && (isExact || isRecent)) return latest;
      return (this.#latest = await scan(now, stored, indexes));
    });
  }
}

function inAnyCase(word: string): readonly string[] {
  return [...word].reduce<readonly string[]>(
    (begun, letter) => begun.flatMap((text) => [text + letter, text + letter.toUpperCase()]),
    [""],
  );
}

async function scan(now: number, stored: number, indexes: readonly SegmentIndex[]): Promise<Day> {
  const yielder = new Yielder();
  const query = segmentQuery({ from: now - DAY_MS + 1, to: now + 1 });
  const facets = new Uint32Array(PACKED_FACETS);
  const segments: SegmentCounts[] = [];
  let [scanned, wouldBeDenied] = [0, 0];
  for (const view of indexes.map(segmentViewOf)) {
    const selected = await selectRows(view, query, yielder);
    if (selected.length === 0) continue;
    const counter = rowCounter(view, facets);
    for (let from = 0; from < selected.length; from += ROWS_AT_ONCE) {
      const to = Math.min(selected.length, from + ROWS_AT_ONCE);
      for (let k = from; k < to; k++) counter.count(rowAt(selected, k));
      if (yielder.isDue) await yielder.step();
    }
    segments.push(counter.counts);
    scanned += selected.length;
    wouldBeDenied += counter.wouldBeDenied();
  }
  return { now, stored, scanned, facets, wouldBeDenied, segments };
}

function rowCounter(
  { index }: SegmentView,
  packedCounts: Uint32Array,
): {
  readonly counts: SegmentCounts;
  readonly count: (row: number) => void;
  readonly wouldBeDenied: () => number;
} {
  // A growing column may be replaced, but the entries of the array that is held here stay.
  const { facets, fields } = index;
  const { codes: observed, dictionary: observedWords } = fields.observed_decision;
  const denied = observedWords.codeOf("DENIED");
  let wouldBeDenied = 0;
  const [providers, statuses] = [fields.provider.codes, fields.status.codes];
  const events = new Uint32Array(fields.provider.dictionary.size + 1);
  const failed = new Uint32Array(events.length);
  const failures = new Set(FAILED.map((word) => fields.status.dictionary.codeOf(word)));
  return {
    counts: { index, events, failed },
    wouldBeDenied: () => wouldBeDenied,
    count(row) {
      const packed = facets[row] as number;
      const provider = providers[row] as number;
      const status = statuses[row] as number;
      packedCounts[packed] = (packedCounts[packed] as number) + 1;
      events[provider] = (events[provider] as number) + 1;
      if (denied !== undefined && observed[row] === denied) wouldBeDenied++;
      if (failures.has(status) || decisionOfFacets(packed) === 2) {
        failed[provider] = (failed[provider] as number) + 1;
      }
    },
  };
}

/** The providers with the most events, the most first, of equal ones by name. */
async function mostUsed(
  segments: readonly SegmentCounts[],
  yielder: Yielder,
): Promise<AuditActivity["byProvider"]> {
  const totals = new FrequentTexts();
  for (const { index, events } of segments) {
    for (const [code, count] of await greatest(events.entries(), MOST_NAMES, yielder)) {
      if (code === 0 || count === 0) continue;
      totals.add(await index.fields.provider.dictionary.listedValueOf(code), count);
    }
    await yielder.step();
  }
  return greatest(totals.counts, MOST_LISTED, yielder);
}
