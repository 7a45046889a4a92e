/**
 * The matches of all segments as one list, newest first. Segments overlap in time, since events come late, so
 * the list is a merge; but the rows of a segment are selected only when the merge reaches its newest event.
 * Skipping many matches costs little: all matches of a segment before the next segment's turn are skipped in
 * one step.
 */
import type { ListPlace } from "../../../../audit/positions.ts";
import type { Yielder } from "../../../../core/scheduling/yielder.ts";
import {
  AFTER_ALL_ROWS,
  globalRow,
  type GlobalRow,
  type LocalRow,
} from "../index/segment-index.ts";
import type { SegmentQuery } from "./segment-query.ts";
import { countRows, rankOf, rowAt, selectRows, type RowIds } from "./select-rows.ts";
import type { SegmentView } from "./select-rows.ts";

/** One match. */
export interface MatchingRow {
  readonly view: SegmentView;
  readonly row: LocalRow;
}

/** A segment with matches that the merge has not reached yet. */
interface Part {
  readonly view: SegmentView;
  /** All matching rows of the segment. */
  readonly ids: RowIds;
  /** The number of them that the merge has not reached yet, the oldest ones; at least one. */
  left: number;
}

/** The matches of a filter, newest first, taken piece by piece. */
export class MergingCursor {
  readonly total: number;
  readonly #query: SegmentQuery;
  readonly #yielder: Yielder;
  readonly #start: ListPlace<GlobalRow>;
  /** Segments with matches that were not selected yet; the one with the newest event comes last. */
  readonly #waiting: SegmentView[];
  readonly #open: Part[] = [];

  private constructor(
    views: readonly SegmentView[],
    total: number,
    query: SegmentQuery,
    yielder: Yielder,
    start: ListPlace<GlobalRow>,
  ) {
    this.total = total;
    this.#query = query;
    this.#yielder = yielder;
    this.#start = start;
    this.#waiting = views
      .filter(({ oldest }) => oldest <= start.timestamp)
      .sort((a, b) => a.newest - b.newest);
  }

  /**
   * Counts the matches of every segment.
   *
   * @param start the place before the list; the total is that of all matches
   */
  static async of(
    views: readonly SegmentView[],
    query: SegmentQuery,
    yielder: Yielder,
    start: ListPlace<GlobalRow> = { timestamp: Infinity, row: AFTER_ALL_ROWS },
  ): Promise<MergingCursor> {
    const matching: SegmentView[] = [];
    let total = 0;
    for (const view of views) {
      const count = await countRows(view, query, yielder);
      if (count > 0) matching.push(view);
      total += count;
      if (yielder.isDue) await yielder.step();
    }
    return new MergingCursor(matching, total, query, yielder, start);
  }

  /** The next matches of the list, up to `count`; fewer at its end. */
  async take(count: number): Promise<MatchingRow[]> {
    const matches: MatchingRow[] = [];
    while (matches.length < count) {
      const next = await this.#next();
      if (next === undefined) break;
      const { view, ids } = next.part;
      const taken = Math.min(count - matches.length, next.count);
      for (let k = 1; k <= taken; k++) {
        matches.push({ view, row: rowAt(ids, next.part.left - k) });
      }
      await this.#pass(next.part, taken);
    }
    return matches;
  }

  /** Skips the next matches, up to `count`. */
  async skip(count: number): Promise<void> {
    if (count >= this.total) {
      this.#waiting.length = this.#open.length = 0; // nothing is left, so no row has to be selected
      return;
    }
    for (let left = count; left > 0;) {
      const next = await this.#next();
      if (next === undefined) return;
      const passed = Math.min(left, next.count);
      await this.#pass(next.part, passed);
      left -= passed;
    }
  }

  /** The place of the last match that was taken; `undefined` if no more follow. */
  async positionAfter(matches: readonly MatchingRow[]): Promise<ListPlace<GlobalRow> | undefined> {
    const last = matches.at(-1);
    if (last === undefined || (await this.#next()) === undefined) return undefined;
    const { view, row } = last;
    return {
      timestamp: view.index.times[row] as number,
      row: globalRow(view.index.segment, row),
    };
  }

  async #pass(part: Part, count: number): Promise<void> {
    part.left -= count;
    if (part.left === 0) this.#open.splice(this.#open.indexOf(part), 1);
    if (this.#yielder.isDue) await this.#yielder.step();
  }

  /** The segment whose turn it is, and the number of its matches before another's turn. */
  async #next(): Promise<{ readonly part: Part; readonly count: number } | undefined> {
    await this.#openSegments();
    let newest: Part | undefined;
    let bound = this.#waiting.at(-1)?.newest ?? -Infinity;
    for (const part of this.#open) {
      if (newest === undefined) newest = part;
      else {
        const [newer, older] = isNewer(part, newest) ? [part, newest] : [newest, part];
        newest = newer;
        bound = Math.max(bound, newestTime(older));
      }
    }
    if (newest === undefined) return undefined;
    // If times are equal, the later segment is the newer one, so one match has its turn in any case.
    const before = newest.left - rankOf(newest.view, newest.ids, bound, AFTER_ALL_ROWS);
    return { part: newest, count: Math.max(1, before) };
  }

  /** Selects the rows of the segments that may have the next match. */
  async #openSegments(): Promise<void> {
    for (let view = this.#waiting.at(-1); view !== undefined; view = this.#waiting.at(-1)) {
      const { newest } = view;
      if (this.#open.some((part) => newestTime(part) > newest)) return;
      this.#waiting.pop();
      const ids = await selectRows(view, this.#query, this.#yielder);
      const left = rankOf(view, ids, this.#start.timestamp, this.#start.row);
      if (left > 0) this.#open.push({ view, ids, left });
    }
  }
}

function newestTime({ view, ids, left }: Part): number {
  return view.index.times[rowAt(ids, left - 1)] as number;
}

function isNewer(a: Part, b: Part): boolean {
  const difference = newestTime(a) - newestTime(b);
  return difference > 0 || (difference === 0 && a.view.index.segment > b.view.index.segment);
}
