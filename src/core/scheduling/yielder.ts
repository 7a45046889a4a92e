import { onQuietTurn } from "./arrivals.ts";
import type { Awaitable } from "../caller.ts";
import { FairLine } from "./fair-line.ts";
import type { Party } from "./fair-share.ts";
import { setImmediate, systemStopwatch } from "../timers.ts";
import { finishInTime, type Work } from "./work.ts";

const SLICE_MS = 0.5;
/**
 * A slice may take as long as everything else in its turn, up to this. Otherwise long work hardly goes on beside large
 * answers.
 */
const LONGEST_SLICE_MS = 2;

/** Work that is not made for one client, or of which only some is under way at a time. */
const NO_PARTY: Party = [""];

/**
 * Divides long work into slices of about half a millisecond, longer ones where turns of the event loop take long in any
 * case. The event loop serves other requests between two slices. All long work together gets one slice in each turn of the
 * loop, so other requests wait no longer for ten searches than for one. The slices go round between the parties for which
 * the work is done.
 */
export class Yielder {
  readonly #signal: AbortSignal | undefined;
  readonly #party: Party | undefined;
  #since = systemStopwatch();

  /**
   * @param party needed where one client may have any amount of work under way
   */
  constructor(signal?: AbortSignal, party?: Party) {
    signal?.throwIfAborted();
    this.#signal = signal;
    this.#party = party;
  }

  /** Whether the slice is used up; then call `step`. */
  get isDue(): boolean {
    const now = systemStopwatch();
    return now - this.#since > SLICE_MS && now > sliceEnd;
  }

  /** Ends the turn if the slice is used up; throws when the client has disconnected. */
  async step(): Promise<void> {
    if (!this.isDue) return;
    await ownTurn(this.#party);
    this.#signal?.throwIfAborted();
    this.#since = systemStopwatch();
  }

  /** Runs work that yields after every small part. Returns the result at once if one slice is enough. */
  run<T>(work: Work<T>): Awaitable<T> {
    while (!this.isDue) {
      const part = work.next();
      if (part.done === true) return part.value;
    }
    return this.#finish(work);
  }

  /** Runs work for some slices; `undefined` if it has not ended by then. */
  async runFor<T extends object>(work: Work<T>, slices: number): Promise<T | undefined> {
    for (let slice = 0; slice < slices; slice++) {
      const result = finishInTime(work, () => this.isDue);
      if (result !== undefined) return result;
      await this.step();
    }
    return undefined;
  }

  async #finish<T>(work: Work<T>): Promise<T> {
    for (;;) {
      await this.step();
      const part = work.next();
      if (part.done === true) return part.value;
    }
  }
}

/** The work that waits for a slice. */
const waiting = new FairLine<{ readonly party: Party; readonly wake: () => void }>();

/** When the last slice that waited for its turn must end. Later slices, which have not waited, are short. */
let sliceEnd = 0;
/** When the last slice ended, or was to end; or when work began to wait after none did. */
let waitingSince = 0;

/** Waits for an event loop turn in which no other long work runs. */
export function ownTurn(party = NO_PARTY): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.isEmpty) wakeNextAfter(systemStopwatch());
    waiting.add({ party, wake: resolve });
  });
}

function wakeNextAfter(time: number): void {
  waitingSince = time;
  onQuietTurn(wakeNext);
}

function wakeNext(): void {
  const now = systemStopwatch();
  sliceEnd = now + sliceAfter(now - waitingSince);
  const next = waiting.next(() => true);
  if (!waiting.isEmpty) wakeNextAfter(sliceEnd);
  next?.wake();
}

/** The milliseconds of a slice after other work of some milliseconds. */
export function sliceAfter(otherMs: number): number {
  return Math.min(Math.max(otherMs, SLICE_MS), LONGEST_SLICE_MS);
}

/** The time that slices without a turn take together in one turn of the event loop. */
const FREE_MS = 1;
/** The time that they took in this one. */
let freeMs = 0;

/** Runs a slice of work without a turn; `undefined` if the work has not ended, or others have used up the time. */
export function inFreeSlice<T extends object>(work: Work<T>): T | undefined {
  if (freeMs >= FREE_MS) return undefined;
  if (freeMs === 0) setImmediate(() => (freeMs = 0));
  const began = systemStopwatch();
  const slice = new Yielder();
  const result = finishInTime(work, () => slice.isDue);
  freeMs += systemStopwatch() - began;
  return result;
}
