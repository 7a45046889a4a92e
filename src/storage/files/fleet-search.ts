import { ownTurn } from "../../core/yielder.ts";
import type { Fits } from "../../fleet/filter.ts";
import type { FleetPage, StoredRuntime } from "../../fleet/store.ts";
import type { FleetRows } from "./fleet-index.ts";

/** The rows that a search tests in one turn of the loop: some tenths of a millisecond of work. */
const SEARCH_SLICE = 1_000;

/** The requested page: at most `limit` of the fitting runtimes, after the first `offset`. */
export interface PageOf {
  readonly fits: Fits | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Lists the runtimes of an organization: all of them, or at least the first `most`. */
export interface Listed {
  list(organization: string, most?: number): FleetRows;
}

/**
 * The latest search of each fleet. Searches run one after another: in parallel they would not be faster, each
 * would hold a copy of the order, and together they would take many slices in one turn of the loop.
 */
const latest = new WeakMap<Listed, Promise<unknown>>();

/**
 * Finds a page of an organization's runtimes slice by slice, so that other requests are served meanwhile.
 *
 * @param signal aborts the search, which then rejects with its reason
 */
export function findPage(
  fleet: Listed,
  organization: string,
  part: PageOf,
  signal?: AbortSignal,
): Promise<FleetPage> {
  if (!part.fits) return search(fleet, organization, part, signal);
  const before = latest.get(fleet);
  const own = (async () => {
    await before;
    signal?.throwIfAborted();
    return search(fleet, organization, part, signal);
  })();
  const settled = own.then(
    () => undefined,
    () => undefined,
  );
  latest.set(fleet, settled);
  return own;
}

async function search(
  fleet: Listed,
  organization: string,
  { fits, limit, offset }: PageOf,
  signal: AbortSignal | undefined,
): Promise<FleetPage> {
  // Without a test, only the rows of the page are read.
  const rows = fleet.list(organization, fits ? undefined : offset + limit);
  const [first, end] = fits ? [0, rows.total] : [offset, Math.min(rows.total, offset + limit)];
  const runtimes: StoredRuntime[] = [];
  let passed = first;
  for (let from = first; from < end; from += SEARCH_SLICE) {
    if (from > first) await ownTurn();
    signal?.throwIfAborted();
    const found = rows.slice(from, Math.min(from + SEARCH_SLICE, end), fits);
    const skipped = Math.max(0, offset - passed);
    runtimes.push(...found.slice(skipped, skipped + limit - runtimes.length));
    passed += found.length;
  }
  return { runtimes, total: fits ? passed : rows.total };
}
