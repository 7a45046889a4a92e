/**
 * Removes old segments of one organization. A segment disappears from new answers at once; its files, when no earlier
 * answer reads them any more. Segments must leave in their order, so one slow reader of an old one keeps all later ones on
 * disk as well: an answer that keeps too many, or for too long, is cut.
 */
import type { Clock } from "../../../core/clock.ts";
import type { SegmentIndex } from "./index/segment-index.ts";
import type { Leases } from "./leases.ts";
import type { SegmentSet } from "./segment-set.ts";

/** The segments that were removed, counted. */
interface Removed {
  readonly events: number;
  readonly bytes: number;
}

/** Removes segments. */
export class Removals {
  readonly #segments: SegmentSet;
  readonly #leases: Leases;
  readonly #now: Clock;
  readonly #failed: (error: unknown) => void;
  /** The segments that were dropped and whose files are still there: a removal that fails is repeated. */
  readonly #leaving = new Set<SegmentIndex>();
  /** The removals that have not ended. Together they remove all that leaves: another one would only wait behind them. */
  #running = 0;

  /** @param failed takes the error of a removal that waited for readers */
  constructor(segments: SegmentSet, leases: Leases, now: Clock, failed: (error: unknown) => void) {
    this.#segments = segments;
    this.#leases = leases;
    this.#now = now;
    this.#failed = failed;
  }

  /**
   * Removes segments, and those whose removal failed before.
   *
   * @param allowedBytes the bytes that may be stored; if absent, there is no limit
   */
  async remove(old: readonly SegmentIndex[], allowedBytes?: number): Promise<Removed | undefined> {
    const now = this.#now();
    this.#leases.cut(now, allowedBytes); // before the others leave: each answer has the time between two removals
    if (old.length === 0 && (this.#leaving.size === 0 || this.#running > 0)) return undefined;
    for (const index of old) {
      this.#segments.drop(index.segment);
      this.#leaving.add(index);
      this.#leases.keep(index.bytes, now);
    }
    const due = [...this.#leaving]; // not those that leave later: the readers between do not end with these
    this.#running++;
    await this.#leases.remove(async () => {
      const there = due.filter((index) => this.#leaving.has(index));
      await this.#segments.remove(there, this.#leaving).finally(() => this.#running--);
    }, this.#failed);
    if (old.length === 0) return undefined;
    return {
      events: old.reduce((sum, { rows }) => sum + rows, 0),
      bytes: old.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }
}
