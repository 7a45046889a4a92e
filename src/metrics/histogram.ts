import { SECOND_MS } from "../core/clock.ts";
import { numberText, type Labels, type Sample } from "./exposition.ts";

/** Counts durations by upper bounds. An observation takes a few comparisons and two additions. */
export class DurationHistogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sumMs = 0;

  /**
   * @param boundsMs the upper bounds in milliseconds, rising; durations above the last are counted too
   */
  constructor(boundsMs: readonly number[]) {
    this.#bounds = boundsMs;
    this.#counts = new Array<number>(boundsMs.length + 1).fill(0);
  }

  /** Counts a duration in milliseconds; a duration equal to a bound belongs to the bucket below it. */
  observe(ms: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && ms > (bounds[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sumMs += ms;
  }

  /** The samples in seconds: cumulative buckets up to `+Inf`, the sum, and the count. */
  samples(labels: Labels): readonly Sample[] {
    let count = 0;
    const buckets = this.#counts.map((own, i) => {
      count += own;
      const bound = this.#bounds[i] ?? Infinity;
      const le = numberText(bound / SECOND_MS);
      return { suffix: "_bucket", labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { suffix: "_sum", labels, value: this.#sumMs / SECOND_MS },
      { suffix: "_count", labels, value: count },
    ];
  }
}
