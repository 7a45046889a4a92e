/**
 * Removes old segments of one organization. A segment disappears from new answers at once; its files, when no earlier
 * answer reads them any more.
 */
import { Queue } from "../../queue.ts";
import type { SegmentIndex } from "./index/segment-index.ts";
import type { Leases } from "./leases.ts";
import type { SegmentSet } from "./segment-set.ts";

/** The segments that were removed, counted. */
interface Removed {
  readonly events: number;
  readonly bytes: number;
}

/** Removes segments in a queue. */
export class Removals {
  readonly #segments: SegmentSet;
  readonly #leases: Leases;
  readonly #queue = new Queue();
  /** The segments that were dropped and whose files are still there: a removal that fails is repeated. */
  readonly #leaving = new Set<SegmentIndex>();

  constructor(segments: SegmentSet, leases: Leases) {
    this.#segments = segments;
    this.#leases = leases;
  }

  /** Removes segments, and those whose removal failed before. */
  async remove(old: readonly SegmentIndex[]): Promise<Removed | undefined> {
    if (old.length === 0 && this.#leaving.size === 0) return undefined;
    for (const index of old) {
      this.#segments.drop(index.segment);
      this.#leaving.add(index);
    }
    const due = [...this.#leaving]; // not those that leave later: the readers between do not end with these
    const wasRead = !this.#leases.areNone;
    const unread = this.#leases.ended(); // by earlier readers: later ones do not see the segments
    const done = this.#leases.take();
    const removing = this.#queue.run(async () => {
      await unread;
      const there = due.filter((index) => this.#leaving.has(index));
      await this.#segments.remove(there, this.#leaving).finally(done);
    });
    if (!wasRead) await removing;
    if (old.length === 0) return undefined;
    return {
      events: old.reduce((sum, { rows }) => sum + rows, 0),
      bytes: old.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }
}
