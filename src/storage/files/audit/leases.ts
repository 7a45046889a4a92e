import { removedMeanwhile } from "../../../audit/removed-meanwhile.ts";
import { DAY_MS } from "../../../core/clock.ts";
import { closing, type Pieces } from "../../../core/pieces.ts";
import { Queue } from "../../../core/scheduling/queue.ts";

/** The longest time for which an answer keeps removed files. */
export const LONGEST_MS = DAY_MS;
/** The removed files that an answer keeps at most, as a part of the bytes that may be stored. */
export const KEPT_PART = 1 / 2;

/** The removed files that stay on disk for a reader. */
interface Kept {
  readonly bytes: number;
  /** When the first of them was removed, in milliseconds. */
  readonly since: number;
}

/**
 * Makes an answer that a client reads piece by piece.
 *
 * @param pieces makes the pieces; reading them must end when the signal fires
 */
export type AnswerInPieces = (pieces: (lost: AbortSignal) => AsyncIterable<Buffer>) => Pieces;

interface Lease {
  readonly ended: Promise<void>;
  /** Ends an answer that is read at its client's pace. The other readers end by themselves, within seconds. */
  readonly cut: (() => void) | undefined;
  kept?: Kept;
}

/**
 * Readers in progress. Removed files stay on disk until every reader that may need them is done. An answer is read at its
 * client's pace, so it can be cut.
 */
export class Leases {
  readonly #open = new Set<Lease>();
  readonly #removals = new Queue();

  /** Whether no reader and no removal is in progress. */
  get areNone(): boolean {
    return this.#open.size === 0;
  }

  /**
   * Adds a reader, before it reads anything: retention may run before a client takes the first piece of an answer. The
   * reader calls the returned function when it is done.
   */
  take(cut?: () => void): () => void {
    let done = (): void => {};
    const ended = new Promise<void>((resolve) => {
      done = () => {
        this.#open.delete(lease);
        resolve();
      };
    });
    const lease: Lease = { ended, cut };
    this.#open.add(lease);
    return done;
  }

  /**
   * Runs a search. An answer that a client reads piece by piece keeps the lease of its search: with one of its own, a
   * removal during the search would wait for the search only, and remove the files before the answer is read.
   */
  async search<T>(search: (answer: AnswerInPieces) => Promise<T>): Promise<T> {
    const lost = new AbortController();
    const end = this.take(() =>
      lost.abort(removedMeanwhile("It kept too many removed files, or for too long")),
    );
    let isRead = false;
    const answer: AnswerInPieces = (pieces) => {
      isRead = true;
      return closing(pieces(lost.signal), end, lost.signal);
    };
    try {
      const found = await search(answer);
      if (!isRead) end();
      return found;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Notes that files are removed at a moment (milliseconds), and stay for the readers in progress. */
  keep(bytes: number, now: number): void {
    for (const lease of this.#open) {
      const { kept = { bytes: 0, since: now } } = lease;
      lease.kept = { ...kept, bytes: kept.bytes + bytes };
    }
  }

  /**
   * Cuts the answers that keep too much, or have kept anything for too long.
   *
   * @param allowedBytes the bytes that may be stored; if absent, there is no limit
   */
  cut(now: number, allowedBytes = Infinity): void {
    const mostBytes = KEPT_PART * allowedBytes;
    for (const { kept, cut } of this.#open) {
      if (kept && (kept.bytes > mostBytes || now - kept.since >= LONGEST_MS)) cut?.();
    }
  }

  /**
   * Removes files, after earlier removals, when the readers of this moment are done. Later ones do not see the files. A
   * removal that waits for readers is not waited for, since their clients decide when it ends.
   *
   * @param failed takes the error of a removal that is not waited for
   */
  async remove(remove: () => Promise<void>, failed: (error: unknown) => void): Promise<void> {
    const readers = [...this.#open].map(({ ended }) => ended);
    const done = this.take();
    const removing = this.#removals
      .run(async () => {
        await Promise.all(readers);
        await remove();
      })
      .finally(done);
    if (readers.length === 0) await removing;
    else removing.catch(failed);
  }

  /** Resolves when the removals have ended. */
  async removed(): Promise<void> {
    await this.#removals.idle();
  }
}
