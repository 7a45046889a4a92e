/**
 * The counts of the last 24 hours, in time that does not depend on what is stored. Events are counted
 * by the minute, once, by the next query after they arrived. The whole minutes of the window are
 * kept added up: as it moves on, minutes are added at one end and taken back at the other. Of the two
 * minutes at its ends the events are looked at one by one, unless all of them lie inside. Minutes that
 * the window has left are forgotten; a query about an earlier time counts rows instead.
 */
import type { AuditActivity } from "../../../../audit/store.ts";
import { DAY_MS, MINUTE_MS } from "../../../../core/clock.ts";
import { Queue } from "../../../queue.ts";
import { ActivityCounts, greatest, type ProviderCounts } from "./activity-counts.ts";
import { LONGEST_LISTED, PROVIDER, STATUS } from "../index/fields.ts";
import { Yielder } from "../../../../core/yielder.ts";
import { segmentQuery } from "./segment-query.ts";
import { selectRows, rowAt, viewOf, type SegmentView } from "./select-rows.ts";
import { globalRow, type SegmentIndex } from "../index/segment-index.ts";

/** Runtimes choose the words of `status`, and their letter case. */
const FAILED = /^(?:failed|error)$/i;
const MOST_LISTED = 1_000;
/** Runtimes choose names, too: of a minute that has more of them, the others are not told apart. */
const MOST_NAMES_A_MINUTE = 1_000;
const UNUSED: ProviderCounts = { events: 0, failed: 0 };

interface Minute {
  readonly counts: ActivityCounts;
  newest: number;
}

/** Counts events by the minute. */
export class RecentActivity {
  readonly #minutes = new Map<number, Minute>();
  /** The providers that were asked for by name: however many others there are, they are counted. */
  readonly #asked = new Set<string>();
  #window = new ActivityCounts(); // of the minutes from `#start` up to `#end`
  #start = 0;
  #end = 0;
  #floor: number | undefined; // the first minute from which on all events are counted
  #next = 0; // the first row, through all segments, that is not counted yet
  readonly #turns = new Queue();

  /** Counts the 24 hours up to and including `now`. */
  at(now: number, indexes: readonly SegmentIndex[]): Promise<AuditActivity> {
    return this.#turns.run(async () => {
      const yielder = new Yielder();
      const [window, ends] = await this.#countsAt(now, indexes.map(viewOf), yielder);
      return {
        commands: window.commands + ends.commands,
        allowed: window.allowed + ends.allowed,
        denied: window.denied + ends.denied,
        ai: window.ai + ends.ai,
        byProvider: await greatest(() => eventsByName(window, ends), MOST_LISTED, yielder),
      };
    });
  }

  /** What the named providers were used for in the 24 hours up to and including `now`. */
  of(
    names: readonly string[],
    now: number,
    indexes: readonly SegmentIndex[],
  ): Promise<ReadonlyMap<string, ProviderCounts>> {
    return this.#turns.run(async () => {
      for (const name of names) this.#asked.add(name);
      const [window, ends] = await this.#countsAt(now, indexes.map(viewOf), new Yielder());
      return new Map(
        names.map((name) => {
          const whole = window.providers.get(name) ?? UNUSED;
          const rest = ends.providers.get(name) ?? UNUSED;
          return [
            name,
            { events: whole.events + rest.events, failed: whole.failed + rest.failed },
          ] as const;
        }),
      );
    });
  }

  /** The whole minutes of the window, and what lies in it at its two ends. */
  async #countsAt(
    now: number,
    views: readonly SegmentView[],
    yielder: Yielder,
  ): Promise<readonly [window: ActivityCounts, ends: ActivityCounts]> {
    const after = now - DAY_MS;
    const first = Math.floor(after / MINUTE_MS);
    const last = Math.floor(now / MINUTE_MS);
    this.#floor ??= first;
    await this.#countOn(views, yielder);
    const ends = new ActivityCounts();
    if (first < this.#floor) {
      await this.#countRange(ends, views, after + 1, now + 1, yielder);
      return [new ActivityCounts(), ends];
    }
    await this.#move(first + 1, last, yielder);
    await this.#countRange(ends, views, after + 1, (first + 1) * MINUTE_MS, yielder);
    const minute = this.#minutes.get(last);
    if (minute === undefined || minute.newest > now) {
      await this.#countRange(ends, views, last * MINUTE_MS, now + 1, yielder);
    } else await ends.add(minute.counts, 1, yielder);
    this.#forget(first);
    return [this.#window, ends];
  }

  /** Counts the rows that came since the last query, in slices. */
  async #countOn(views: readonly SegmentView[], yielder: Yielder): Promise<void> {
    const from = (this.#floor as number) * MINUTE_MS;
    const query = segmentQuery({ from });
    for (const view of views) {
      const { index, rows } = view;
      const first = Math.max(0, this.#next - globalRow(index.segment, 0));
      if (first >= rows) continue;
      if (first > 0) {
        for (let row = first; row < rows; row++) {
          this.#count(index, row);
          if (row % 256 === 0) await yielder.step();
        }
      } else if (view.newest >= from) {
        // Of a segment that is new as a whole only the rows of the window are looked at.
        const selection = await selectRows(view, query, yielder);
        for (let k = 0; k < selection.length; k++) {
          this.#count(index, rowAt(selection, k));
          if (k % 256 === 0) await yielder.step();
        }
      }
      this.#next = globalRow(index.segment, rows);
    }
  }

  #count(index: SegmentIndex, row: number): void {
    const time = index.times[row] as number;
    const number = Math.floor(time / MINUTE_MS);
    if (number < (this.#floor as number)) return;
    let minute = this.#minutes.get(number);
    if (minute === undefined) {
      minute = { counts: new ActivityCounts(), newest: time };
      this.#minutes.set(number, minute);
    }
    minute.newest = Math.max(minute.newest, time);
    const provider = this.#nameFor(minute.counts, index, row);
    countRow(minute.counts, index, row, provider);
    if (number >= this.#start && number < this.#end) countRow(this.#window, index, row, provider);
  }

  async #countRange(
    counts: ActivityCounts,
    views: readonly SegmentView[],
    from: number,
    to: number,
    yielder: Yielder,
  ): Promise<void> {
    const query = segmentQuery({ from, to });
    for (const view of views) {
      const selection = await selectRows(view, query, yielder);
      for (let k = 0; k < selection.length; k++) {
        const row = rowAt(selection, k);
        countRow(counts, view.index, row, this.#nameFor(counts, view.index, row));
        if (k % 1024 === 0) await yielder.step();
      }
    }
  }

  /** The provider under which a row is counted; `undefined` where it has none, or one too many. */
  #nameFor(
    { providers }: ActivityCounts,
    { codes, dictionaries }: SegmentIndex,
    row: number,
  ): string | undefined {
    const code = codes[PROVIDER]?.[row] as number;
    const name = code === 0 ? undefined : dictionaries[PROVIDER]?.valueOf(code);
    if (name === undefined || providers.has(name) || this.#asked.has(name)) return name;
    const isOneTooMany = providers.size >= MOST_NAMES_A_MINUTE || name.length > LONGEST_LISTED;
    return isOneTooMany ? undefined : name;
  }

  /** Moves the window on; what lies before it is not asked for this way any more. */
  async #move(start: number, end: number, yielder: Yielder): Promise<void> {
    if (this.#end <= start) {
      this.#window = new ActivityCounts();
      [this.#start, this.#end] = [start, start];
    }
    while (this.#end < end) await this.#add(this.#end++, 1, yielder);
    while (this.#start < start) await this.#add(this.#start++, -1, yielder);
  }

  async #add(number: number, sign: 1 | -1, yielder: Yielder): Promise<void> {
    const minute = this.#minutes.get(number);
    if (minute === undefined) return;
    await this.#window.add(minute.counts, sign, yielder);
    await yielder.step();
  }

  #forget(before: number): void {
    if (before <= (this.#floor as number)) return;
    for (const number of this.#minutes.keys()) {
      if (number < before) this.#minutes.delete(number);
    }
    this.#floor = before;
  }
}

function countRow(
  counts: ActivityCounts,
  { facets, codes, dictionaries }: SegmentIndex,
  row: number,
  provider: string | undefined,
): void {
  const status = codes[STATUS]?.[row] as number;
  const word = status === 0 ? undefined : dictionaries[STATUS]?.valueOf(status);
  counts.count(facets[row] as number, provider, word !== undefined && FAILED.test(word));
}

function* eventsByName(
  window: ActivityCounts,
  ends: ActivityCounts,
): Generator<readonly [string, number]> {
  for (const [name, { events }] of window.providers) {
    yield [name, events + (ends.providers.get(name)?.events ?? 0)];
  }
  for (const [name, { events }] of ends.providers) {
    if (!window.providers.has(name)) yield [name, events];
  }
}
