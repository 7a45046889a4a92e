/**
 * The counts of the last 24 hours, in time that does not depend on what is stored. Events are
 * counted by the minute, once, by the next question after they arrived. A question adds up whole minutes; of the two minutes at the
 * ends of its window the events are looked at one by one, unless all of them lie inside. Minutes that
 * a window has left are forgotten; a question about an earlier time counts rows instead.
 */
import type { AuditActivity } from "../../../audit/store.ts";
import { DAY_MS, MINUTE_MS } from "../../../core/clock.ts";
import { Queue } from "../../queue.ts";
import { PROVIDER, STATUS } from "./fields.ts";
import { isAi, decisionOfKind } from "./kinds.ts";
import { Pace } from "./pace.ts";
import { questionOf } from "./question.ts";
import { select, rowAt, viewOf, type SegmentView } from "./selection.ts";
import { globalRow, type SegmentIndex } from "./segment-index.ts";

/** Runtimes choose the words of `status`, and their letter case. */
const FAILED = /^(?:failed|error)$/i;

interface ProviderCounts {
  events: number;
  failed: number;
}

/** Counts of some events. */
interface Counts {
  commands: number;
  allowed: number;
  denied: number;
  ai: number;
  readonly providers: Map<string, ProviderCounts>;
}

interface Minute extends Counts {
  newest: number;
}

/** Counts events by the minute. */
export class RecentActivity {
  readonly #minutes = new Map<number, Minute>();
  #floor: number | undefined; // the first minute from which on all events are counted
  #next = 0; // the first row, through all segments, that is not counted yet
  readonly #counting = new Queue();

  /** Counts the 24 hours up to and including `now`. */
  async at(
    now: number,
    indexes: readonly SegmentIndex[],
    lastUsed: ReadonlyMap<string, number>,
  ): Promise<AuditActivity> {
    const views = indexes.map(viewOf);
    const after = now - DAY_MS;
    const first = Math.floor(after / MINUTE_MS);
    const last = Math.floor(now / MINUTE_MS);
    this.#floor ??= first;
    await this.#counting.run(() => this.#countOn(views));
    const total = noCounts();
    if (first < this.#floor) {
      await countRange(total, views, after + 1, now + 1);
    } else {
      for (let number = first + 1; number < last; number++) this.#addMinute(total, number);
      await countRange(total, views, after + 1, (first + 1) * MINUTE_MS);
      const minute = this.#minutes.get(last);
      if (minute !== undefined && minute.newest <= now) this.#addMinute(total, last);
      else await countRange(total, views, last * MINUTE_MS, now + 1);
      this.#forget(first);
    }
    return { ...total, providers: withLastUse(total.providers, lastUsed) };
  }

  /** Counts the rows that came since the last question, in slices. */
  async #countOn(views: readonly SegmentView[]): Promise<void> {
    const from = (this.#floor as number) * MINUTE_MS;
    const pace = new Pace();
    const question = questionOf({ from });
    for (const view of views) {
      const { index, rows } = view;
      const first = Math.max(0, this.#next - globalRow(index.segment, 0));
      if (first >= rows) continue;
      if (first > 0) {
        for (let row = first; row < rows; row++) {
          this.#count(index, row);
          if (row % 256 === 0) await pace.step();
        }
      } else if (view.newest >= from) {
        // Of a segment that is new as a whole only the rows of the window are looked at.
        const selection = await select(view, question, pace);
        for (let k = 0; k < selection.length; k++) {
          this.#count(index, rowAt(selection, k));
          if (k % 256 === 0) await pace.step();
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
      minute = { ...noCounts(), newest: time };
      this.#minutes.set(number, minute);
    }
    minute.newest = Math.max(minute.newest, time);
    countRow(minute, index, row);
  }

  #addMinute(total: Counts, number: number): void {
    const minute = this.#minutes.get(number);
    if (minute === undefined) return;
    total.commands += minute.commands;
    total.allowed += minute.allowed;
    total.denied += minute.denied;
    total.ai += minute.ai;
    for (const [name, { events, failed }] of minute.providers) {
      const counts = countsOf(total, name);
      counts.events += events;
      counts.failed += failed;
    }
  }

  #forget(before: number): void {
    if (before <= (this.#floor as number)) return;
    for (const number of this.#minutes.keys()) {
      if (number < before) this.#minutes.delete(number);
    }
    this.#floor = before;
  }
}

async function countRange(
  total: Counts,
  views: readonly SegmentView[],
  from: number,
  to: number,
): Promise<void> {
  const pace = new Pace();
  const question = questionOf({ from, to });
  for (const view of views) {
    const selection = await select(view, question, pace);
    for (let k = 0; k < selection.length; k++) {
      countRow(total, view.index, rowAt(selection, k));
      if (k % 1024 === 0) await pace.step();
    }
  }
}

function countRow(counts: Counts, index: SegmentIndex, row: number): void {
  const kind = index.kinds[row] as number;
  const decision = decisionOfKind(kind);
  counts.commands++;
  if (decision === 1) counts.allowed++;
  if (decision === 2) counts.denied++;
  if (isAi(kind)) counts.ai++;
  const code = index.codes[PROVIDER]?.[row] as number;
  if (code === 0) return;
  const provider = countsOf(counts, index.dictionaries[PROVIDER]?.valueOf(code) as string);
  provider.events++;
  const status = index.codes[STATUS]?.[row] as number;
  if (decision === 2 || isFailure(index, status)) provider.failed++;
}

function isFailure(index: SegmentIndex, status: number): boolean {
  const text = status === 0 ? undefined : index.dictionaries[STATUS]?.valueOf(status);
  return text !== undefined && FAILED.test(text);
}

function countsOf({ providers }: Counts, name: string): ProviderCounts {
  let counts = providers.get(name);
  if (counts === undefined) providers.set(name, (counts = { events: 0, failed: 0 }));
  return counts;
}

function noCounts(): Counts {
  return { commands: 0, allowed: 0, denied: 0, ai: 0, providers: new Map() };
}

function withLastUse(
  providers: ReadonlyMap<string, ProviderCounts>,
  lastUsed: ReadonlyMap<string, number>,
): AuditActivity["providers"] {
  return new Map(
    [...lastUsed].map(([name, time]) => [
      name,
      { ...(providers.get(name) ?? { events: 0, failed: 0 }), lastUsed: time },
    ]),
  );
}
