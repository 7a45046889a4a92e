import type { FleetOrder } from "./order.ts";
import type { FleetPage, StoredRuntime } from "./store.ts";

/** The last place of a sorted list that can be asked for: sorting keeps all runtimes before it. */
export const LAST_SORTED = 10_000;

/**
 * A page of runtimes in an order. All runtimes are looked at, and the first `offset + limit` of them are kept
 * sorted. A full sort would hold every runtime; this compares most of a large fleet once, with the last one that is
 * kept. Other requests run between the slices.
 *
 * @param runtimes in slices of about half a millisecond of work; runtimes that are equal in the order keep their order here
 * @param signal ends the search when it fires
 */
export async function sortedPage(
  runtimes: AsyncIterable<readonly StoredRuntime[]>,
  order: FleetOrder,
  limit: number,
  offset: number,
  signal?: AbortSignal,
): Promise<FleetPage> {
  const most = offset + limit;
  const kept: StoredRuntime[] = [];
  let total = 0;
  for await (const slice of runtimes) {
    signal?.throwIfAborted();
    total += slice.length;
    for (const runtime of slice) insert(kept, runtime, order, most);
  }
  return { runtimes: kept.slice(offset), total };
}

/** Inserts a runtime behind its equals, and drops the last one where there are too many. */
function insert(
  kept: StoredRuntime[],
  runtime: StoredRuntime,
  order: FleetOrder,
  most: number,
): void {
  const last = kept[most - 1];
  if (last && order(runtime, last) >= 0) return;
  let [low, high] = [0, kept.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (order(runtime, kept[middle] ?? runtime) < 0) high = middle;
    else low = middle + 1;
  }
  if (last) kept.pop();
  kept.splice(low, 0, runtime);
}
