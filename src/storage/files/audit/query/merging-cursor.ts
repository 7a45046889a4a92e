/**
 * The matches of all segments as one list, newest first. Segments overlap in time, since events come
 * late, so the list is a merge; but a segment is looked into only when the merge has come as far as
 * its newest event. A place deep in the list is not walked to: as one finds a page in a book by
 * halving, the moment before which so and so many events lie is found by counting on either side of
 * a guess, which takes one search in each of the segments around that moment.
 */
import type { Position } from "../../../../audit/store.ts";
import type { Awaitable } from "../../../../core/caller.ts";
import { newestRows } from "./newest-rows.ts";
import type { Yielder } from "../../../../core/yielder.ts";
import type { SegmentQuery } from "./segment-query.ts";
import { countText, isTextOnly, knownCount, globalRowOf, rankOf, rowAt } from "./select-rows.ts";
import { selectRows } from "./select-rows.ts";
import type { SegmentView, RowIds } from "./select-rows.ts";

/** One match. */
export interface Match {
  readonly view: SegmentView;
  readonly row: number;
}

/** A segment's share of the list. */
interface Part {
  readonly view: SegmentView;
  readonly count: number;
  /** All rows that match, or as many of the newest as will be taken. */
  selection: RowIds | undefined;
  /** How many selected rows the merge has not come to yet. */
  left: number;
}

/** A share of a segment's rows, one in so many, that is held. */
const FEW = 32;
const EVERYTHING: Position = { timestamp: Infinity, row: Infinity };

/** How many rows match, and which where they had to be found for that and are few. */
type Counted = Pick<Part, "count" | "selection">;

function countMatches(
  view: SegmentView,
  query: SegmentQuery,
  yielder: Yielder,
): Awaitable<Counted> {
  if (isTextOnly(view, query)) {
    const count = countText(view, query, yielder);
    return count instanceof Promise ? count.then(countOnly) : countOnly(count);
  }
  const found = selectRows(view, query, yielder);
  return found instanceof Promise ? found.then(countSelected(view)) : countSelected(view)(found);
}

function countOnly(count: number): Counted {
  return { count, selection: undefined };
}

/** Many rows are rather found once more than held for the whole of the list. */
function countSelected({ rows }: SegmentView): (selection: RowIds) => Counted {
  return (selection) => ({
    count: selection.length,
    selection: selection.length * FEW > rows ? undefined : selection,
  });
}

/** What matches a filter, newest first, taken piece by piece. */
export class MergingCursor {
  readonly total: number;
  readonly #query: SegmentQuery;
  readonly #yielder: Yielder;
  readonly #parts: Part[];
  readonly #wanted: number;
  #waiting: Part[] = []; // by their newest event, the newest last
  #open: Part[] = [];
  #start = EVERYTHING;

  private constructor(parts: Part[], query: SegmentQuery, yielder: Yielder, wanted: number) {
    this.#parts = parts;
    this.#query = query;
    this.#yielder = yielder;
    this.#wanted = wanted;
    this.total = parts.reduce((sum, { count }) => sum + count, 0);
    this.startAfter(EVERYTHING);
  }

  /**
   * Counts the matches of every segment.
   *
   * @param wanted how many matches will be taken at most
   */
  static async of(
    views: readonly SegmentView[],
    query: SegmentQuery,
    yielder: Yielder,
    wanted = Infinity,
  ): Promise<MergingCursor> {
    const parts: Part[] = [];
    for (const view of views) {
      const known = knownCount(view, query);
      const counted = known ?? countMatches(view, query, yielder);
      const { count, selection } =
        typeof counted === "number"
          ? { count: counted, selection: undefined }
          : counted instanceof Promise
            ? await counted
            : counted;
      if (count > 0) parts.push({ view, count, selection, left: 0 });
      if (yielder.isDue) await yielder.step();
    }
    return new MergingCursor(parts, query, yielder, wanted);
  }

  /** Makes a place of the list the one after which `take` goes on. */
  startAfter(position: Position): void {
    this.#start = position;
    this.#open = [];
    this.#waiting = this.#parts
      .filter(({ view }) => view.oldest <= position.timestamp)
      .sort((a, b) => a.view.newest - b.view.newest);
  }

  /** Goes to the place at which `offset` matches have been passed. */
  async skip(offset: number): Promise<void> {
    if (offset <= 0 || offset >= this.total) {
      if (offset > 0) this.startAfter({ timestamp: -Infinity, row: 0 });
      return;
    }
    const [oldest, newest] = this.#momentsAround(offset);
    // The latest moment at or after which lie more matches than are to be passed.
    const timestamp = await this.#halve(oldest, newest, offset, (time) => ({
      timestamp: time,
      row: 0,
    }));
    const rows = this.#parts.map(({ view }) => globalRowOf(view, view.rows));
    const row = await this.#halve(0, Math.max(...rows), offset, (row) => ({ timestamp, row }));
    this.startAfter({ timestamp, row: row + 1 });
  }

  /**
   * Two moments between which lies the one to be found, as far as whole segments tell: where a count
   * of segments that lie after a moment, or reach it, has more than `offset` matches.
   */
  #momentsAround(offset: number): [least: number, most: number] {
    const latest = (timeOf: (view: SegmentView) => number): number => {
      let count = 0;
      const parts = [...this.#parts].sort((a, b) => timeOf(b.view) - timeOf(a.view));
      const reached = parts.find((part) => (count += part.count) > offset);
      return timeOf((reached as Part).view);
    };
    return [latest(({ oldest }) => oldest), latest(({ newest }) => newest)];
  }

  /** The largest number whose place has more than `offset` matches at it or newer. */
  async #halve(
    least: number,
    most: number,
    offset: number,
    placeOf: (middle: number) => Position,
  ): Promise<number> {
    let [low, high] = [least, most];
    while (low < high) {
      const middle = low + Math.ceil((high - low) / 2);
      if ((await this.#countFrom(placeOf(middle))) > offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** How many matches stand at a place or are newer. */
  async #countFrom({ timestamp, row }: Position): Promise<number> {
    let count = 0;
    for (const part of this.#parts) {
      if (part.view.oldest > timestamp) count += part.count;
      else if (part.view.newest >= timestamp) {
        const selection = await this.#selectionOf(part);
        count += part.count - rankOf(part.view, selection, timestamp, row);
      }
    }
    return count;
  }

  async #selectionOf(part: Part): Promise<RowIds> {
    if (part.selection === undefined) {
      const found = selectRows(part.view, this.#query, this.#yielder);
      part.selection = found instanceof Promise ? await found : found;
      if (this.#yielder.isDue) await this.#yielder.step();
    }
    return part.selection;
  }

  /** The next matches of the list, up to `count`; fewer at its end. */
  async take(count: number): Promise<Match[]> {
    const matches: Match[] = [];
    while (matches.length < count) {
      await this.#openNext();
      const [best, bound] = this.#newestTwo();
      if (best === undefined) break;
      const { view, selection } = best;
      // Until the next segment's turn; when times are equal the later segment is the newer one.
      do {
        matches.push({ view, row: rowAt(selection as RowIds, --best.left) });
      } while (matches.length < count && best.left > 0 && newestTime(best) > bound);
      if (best.left === 0) this.#close(best);
      if (this.#yielder.isDue) await this.#yielder.step();
    }
    return matches;
  }

  /** The place of the last match that was taken, when there are more; else `undefined`. */
  async positionAfter(matches: readonly Match[]): Promise<Position | undefined> {
    const last = matches.at(-1);
    if (last === undefined) return undefined;
    await this.#openNext();
    if (this.#open.length === 0) return undefined;
    const timestamp = last.view.index.times[last.row] as number;
    return { timestamp, row: globalRowOf(last.view, last.row) };
  }

  /** Looks into the segments that may hold the next match. */
  async #openNext(): Promise<void> {
    for (;;) {
      const next = this.#waiting.at(-1);
      if (next === undefined) return;
      if (this.#open.some((part) => newestTime(part) > next.view.newest)) return;
      this.#waiting.pop();
      const selection = (next.selection ??=
        this.#newestOf(next) ?? (await this.#selectionOf(next)));
      const { timestamp, row } = this.#start;
      next.left = rankOf(next.view, selection, timestamp, row);
      if (next.left > 0) this.#open.push(next);
    }
  }

  /** As many as will be taken, and one more, which tells that there are more; see `newestRows`. */
  #newestOf({ view, count }: Part): RowIds | undefined {
    return newestRows(view, this.#query, count, this.#start, this.#wanted + 1);
  }

  /** The part whose turn it is, and the time down to which it stays its turn. */
  #newestTwo(): [best: Part | undefined, bound: number] {
    let best: Part | undefined;
    let bound = this.#waiting.at(-1)?.view.newest ?? -Infinity;
    for (const part of this.#open) {
      if (best === undefined) best = part;
      else {
        const [newer, older] = isNewer(part, best) ? [part, best] : [best, part];
        best = newer;
        bound = Math.max(bound, newestTime(older));
      }
    }
    return [best, bound];
  }

  #close(part: Part): void {
    this.#open.splice(this.#open.indexOf(part), 1);
    part.selection = undefined; // an export of everything keeps few of them at a time
  }
}

function newestTime({ view, selection, left }: Part): number {
  return view.index.times[rowAt(selection as RowIds, left - 1)] as number;
}

function isNewer(a: Part, b: Part): boolean {
  const difference = newestTime(a) - newestTime(b);
  return difference > 0 || (difference === 0 && a.view.index.segment > b.view.index.segment);
}
