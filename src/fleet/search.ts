import { ownTurn } from "../core/yielder.ts";
import type { Fits, FleetStore, StoredRuntime } from "./store.ts";

/** How many rows are looked at before others have a turn: some tenths of a millisecond of work. */
const SLICE = 1_000;

/** A part of the runtimes that fit. */
export interface FleetPage {
  readonly runtimes: readonly StoredRuntime[];
  /** How many fit. */
  readonly total: number;
}

/** Which part: so many of those that fit, after the first so many. */
export interface PageOf {
  readonly fits: Fits | undefined;
  readonly limit: number;
  readonly offset: number;
}

type Listed = Pick<FleetStore, "list">;

/**
 * The search of each fleet that began last. They go one after another: as many at once would be no
 * quicker, hold a copy of the order each, and together take many slices of a turn of the loop.
 */
const latest = new WeakMap<Listed, Promise<unknown>>();

/**
 * Finds a page of an organization's runtimes slice by slice, so that other requests go on meanwhile.
 *
 * @param signal gives the search up; rejects with its reason
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
  // Without a test, what lies before and behind the page need not be looked at.
  const rows = await fleet.list(organization, fits ? undefined : offset + limit);
  const [first, end] = fits ? [0, rows.total] : [offset, Math.min(rows.total, offset + limit)];
  const runtimes: StoredRuntime[] = [];
  let passed = first;
  for (let from = first; from < end; from += SLICE) {
    if (from > first) await ownTurn();
    signal?.throwIfAborted();
    const found = rows.slice(from, Math.min(from + SLICE, end), fits);
    const skipped = Math.max(0, offset - passed);
    runtimes.push(...found.slice(skipped, skipped + limit - runtimes.length));
    passed += found.length;
  }
  return { runtimes, total: fits ? passed : rows.total };
}
