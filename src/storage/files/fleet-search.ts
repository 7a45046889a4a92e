import { Yielder } from "../../core/scheduling/yielder.ts";
import type { Fits } from "../../fleet/filter.ts";
import type { FleetPage, StoredRuntime } from "../../fleet/store.ts";
import { Queue } from "../../core/scheduling/queue.ts";
import type { FleetIndex } from "./fleet-index.ts";

/** The rows that a page reads before it looks at the time. */
const READ_SLICE = 1_000;
/** The rows that a search tests before that: some microseconds of work, or milliseconds for long and hostile texts. */
const SEARCH_SLICE = 100;

/** The runtimes of one organization. */
export type SearchedFleet = Pick<FleetIndex, "rows">;

/** The requested page: at most `limit` of the fitting runtimes, after the first `offset`. */
export interface PageOf {
  readonly fits: Fits | undefined;
  readonly limit: number;
  readonly offset: number;
}

/**
 * Finds pages of runtimes slice by slice, so that other requests are served meanwhile. Searches run one after
 * another. In parallel they would not be faster, each would need a copy of the order, and together they would take
 * many slices in one turn of the loop.
 */
export class FleetSearches {
  readonly #queue = new Queue();

  /** @param signal aborts the search, which then rejects with its reason */
  page(fleet: SearchedFleet, part: PageOf, signal?: AbortSignal): Promise<FleetPage> {
    const find = () => search(fleet, part, signal);
    return part.fits ? this.#queue.run(find) : find();
  }
}

async function search(
  fleet: SearchedFleet,
  { fits, limit, offset }: PageOf,
  signal: AbortSignal | undefined,
): Promise<FleetPage> {
  signal?.throwIfAborted();
  // Without a filter, only the rows of the page are read.
  const rows = fleet.rows(fits ? undefined : offset + limit);
  const [first, end] = fits ? [0, rows.total] : [offset, Math.min(rows.total, offset + limit)];
  const runtimes: StoredRuntime[] = [];
  let passed = first;
  const yielder = new Yielder(signal);
  const slice = fits ? SEARCH_SLICE : READ_SLICE;
  for (let from = first; from < end; from += slice) {
    await yielder.step();
    const found = rows.slice(from, Math.min(from + slice, end), fits);
    const skipped = Math.max(0, offset - passed);
    runtimes.push(...found.slice(skipped, skipped + limit - runtimes.length));
    passed += found.length;
  }
  return { runtimes, total: fits ? passed : rows.total };
}
