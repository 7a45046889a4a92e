import type { Work } from "../../src/core/scheduling/work.ts";

/** Runs work to its end; returns the number of times at which other requests could have been served. */
export function partsOf(work: Work<unknown>): number {
  let parts = 0;
  while (work.next().done !== true) parts++;
  return parts;
}
