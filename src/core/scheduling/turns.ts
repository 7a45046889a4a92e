import { areArriving, onQuietTurn } from "./arrivals.ts";
import type { Awaitable } from "../caller.ts";
import { SECOND_MS } from "../clock.ts";
import { Unavailable } from "../errors.ts";
import { FairLine } from "./fair-line.ts";
import { FairShare, type Holding, type Party } from "./fair-share.ts";
import { clearInterval, setInterval } from "../timers.ts";
import type { Work } from "./work.ts";
import { inFreeSlice, Yielder } from "./yielder.ts";

/** The most tasks that run at a time, in total and for one user, and the most that wait. */
export interface TurnLimits {
  readonly atOnce: number;
  readonly atOnceOfOne: number;
  /** The most tasks of the users that share the first part of the party, of those that share the first two, and so on. */
  readonly atOnceOfGroups?: readonly number[];
  readonly waiting: number;
  /** The answers are short: any number may begin in one turn of the event loop, unless connections arrive. */
  readonly areShort?: true;
}

/** The limits of short answers; those that wait are bounded by the number of connections. */
export const SHORT_ANSWERS: TurnLimits = {
  atOnce: 8,
  atOnceOfOne: 8,
  waiting: Infinity,
  areShort: true,
};

/**
 * The limits of costly work: a user leaves a turn to the others of the organization, an organization to the others under
 * the prefix, and a prefix to the other one.
 */
export const COSTLY_WORK = { atOnce: 4, atOnceOfOne: 1, atOnceOfGroups: [3, 2] } as const;

/** A client that waits for its turn. */
export interface Asker {
  /** Surface, organization and network. */
  readonly party: Party;
  /** Fires when the client disconnects: a request that still waits is then dropped. */
  readonly gone?: AbortSignal;
  /** Throws the refusal if the client's credentials have ended while it waited. */
  recheck?(): Awaitable<void>;
}

/** The client that receives an answer during its turn. */
export interface Reader {
  /** The bytes that the client's connection has taken; `undefined` while no bytes wait for it. */
  taken(): number | undefined;
  /** Cuts the response, which ends its turn. */
  cut(): void;
}

/** A request that waits for its turn. */
interface Waiting {
  readonly party: Party;
  readonly begin: (end: () => void) => void;
  readonly refuse: (error: Unavailable) => void;
  readonly reader: Reader | undefined;
  holding?: Holding<Waiting>;
}

/** An answer that has its turn. */
interface Begun {
  readonly party: Party;
  readonly reader: Reader | undefined;
  /** The bytes that the reader had taken at the last check. */
  taken: number;
  /** The consecutive checks at which the reader was slow. */
  slowChecks: number;
}

/**
 * The most turns of the event loop between two answers, while connections arrive. A page over PostgreSQL takes some
 * 10 ms. With one in each eight turns the last of 10,000 connections waited for 12 seconds; with this, for two.
 */
export const TURNS_BETWEEN = 64;
const RETRY_SECONDS = 2;
/** The slices in one turn of work that takes several: some ten milliseconds, or a few times as long beside large answers. */
const SLICES_OF_A_TURN = 16;
/** A reader is slow when it takes fewer bytes than this in a second. */
export const SLOW_BYTES = 128 * 1024;
/** A response whose reader was slow for this many seconds in a row is cut while others wait. */
export const SLOW_SECONDS = 3;

/**
 * Bounds the number of large answers, or of checks of costly policies, that run at a time; other requests
 * wait. Turns go round between surfaces, within a surface between organizations, and within an
 * organization between addresses. So a client that sends a thousand requests delays another client by only
 * a few answers. At most one answer begins in each turn of the event loop, and fewer while connections
 * arrive (see `arrivals.ts`). So small requests wait for a few large answers, not for all that arrived
 * together.
 *
 * If an answer keeps its turn until it is sent, clients on a few addresses could hold all turns by
 * reading slowly. So slow readers are cut while every turn, or every turn of their group, is taken
 * and a request waits.
 */
export class Turns {
  readonly #limits: TurnLimits;
  /** One for all: to make the stack trace of each would take as long as the rest of a refused request. */
  readonly #refusal: Unavailable;
  readonly #line = new FairLine<Waiting>();
  readonly #shares = new FairShare<Waiting>();
  readonly #begun = new Set<Begun>();
  #checks: NodeJS.Timeout | undefined;
  /** Whether no further answer may begin in this event loop turn. */
  #pauses = false;

  /**
   * @param refusal the error message when the line is full
   */
  constructor(limits: TurnLimits, refusal = "Too many large answers are being made: try again") {
    this.#limits = limits;
    this.#refusal = new Unavailable(refusal, RETRY_SECONDS);
  }

  /**
   * Calls `begin` at once if there is room, otherwise when the turn comes; its argument ends the turn. When
   * the line is full, the user with the most waiting requests loses its newest one: `refuse` is called.
   *
   * @param isAdmitted whether the request has had a turn before: it is not refused when the line is full, and stands before
   *   the others of its user. If they took turns, none would end before the last one.
   * @returns cancels a turn that has not begun; `undefined` if it began without waiting in the line
   * @throws Unavailable if this user has the most waiting requests
   */
  take(
    party: Party,
    begin: Waiting["begin"],
    refuse: Waiting["refuse"],
    reader?: Reader,
    isAdmitted = false,
  ): (() => void) | undefined {
    const request: Waiting = { party, begin, refuse, reader };
    if (!this.#pauses && this.#line.isEmpty && this.#hasRoom(request)) {
      this.#begin(request);
      return undefined;
    }
    if (!isAdmitted) this.#hold(request);
    this.#line.add(request, isAdmitted);
    this.#checks ??= setInterval(() => this.check(), SECOND_MS).unref();
    this.#beginNext(); // there may be room for it, but not for those before it
    return () => {
      request.holding?.close();
      this.#line.remove(request);
    };
  }

  /** Makes room for a request in the line; throws the refusal if its user has the most waiting ones. */
  #hold(request: Waiting): void {
    const holding = this.#shares.hold(request.party, request);
    const drop = (other: Waiting): void => {
      this.#line.remove(other);
      other.refuse(this.#refusal);
    };
    if (!this.#shares.makeRoom(holding, 1, this.#limits.waiting, drop)) {
      holding.close();
      throw this.#refusal;
    }
    holding.set(1);
    request.holding = holding;
  }

  /**
   * Waits for a turn; the result ends it. If `signal` has aborted, or aborts first, the request leaves the line
   * and the promise rejects with the signal's reason.
   *
   * @throws Unavailable when the line is full
   */
  wait(
    party: Party,
    signal?: AbortSignal,
    reader?: Reader,
    isAdmitted?: boolean,
  ): Promise<() => void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const onAbort = (): void => {
        cancel?.();
        reject(signal?.reason as Error);
      };
      const begin = (end: () => void): void => {
        hasBegun = true;
        signal?.removeEventListener("abort", onAbort);
        resolve(end);
      };
      let hasBegun = false;
      const cancel = this.take(party, begin, reject, reader, isAdmitted);
      if (!hasBegun) signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /**
   * Runs a task when its turn comes, if the client's credentials are then still accepted; settles as the task does.
   *
   * @throws Unavailable when the line is full
   */
  async run<T>(asker: Asker, task: () => Awaitable<T>): Promise<T> {
    const end = await this.wait(asker.party, asker.gone);
    try {
      await asker.recheck?.();
      return await task();
    } finally {
      end();
    }
  }

  /**
   * Runs work that yields after every small part: its first slice at once if there is time, and the rest in turns of some
   * slices each. So short work does not wait for long work, and long work of many users takes turns.
   *
   * @throws Unavailable when the line is full
   */
  runInParts<T extends object>(asker: Asker, work: Work<T>): Awaitable<T> {
    return inFreeSlice(work) ?? this.#goOn(asker, work);
  }

  async #goOn<T extends object>(asker: Asker, work: Work<T>): Promise<T> {
    const { party, gone } = asker;
    let turn = this.wait(party, gone);
    for (let isAdmitted = false; ; isAdmitted = true) {
      const end = await turn;
      try {
        if (!isAdmitted) await asker.recheck?.();
        const result = await new Yielder(gone).runFor(work, SLICES_OF_A_TURN);
        if (result !== undefined) {
          if (isAdmitted) await asker.recheck?.();
          return result;
        }
        turn = this.wait(party, gone, undefined, true); // before the end, so that no other of its user takes the turn
      } finally {
        end();
      }
    }
  }

  /** Cuts slow readers that block others; called every second while requests wait. */
  check(): void {
    if (this.#line.isEmpty) {
      clearInterval(this.#checks);
      this.#checks = undefined;
    } else {
      for (const begun of this.#begun) {
        if (this.#isFullFor(begun.party) && isTooSlow(begun)) begun.reader?.cut();
      }
    }
  }

  /** Whether all turns are taken, or all of a group of this party. */
  #isFullFor(party: Party): boolean {
    const { atOnce, atOnceOfGroups = [] } = this.#limits;
    return (
      this.#begun.size >= atOnce ||
      atOnceOfGroups.some((most, i) => this.#line.heldBy(party.slice(0, i + 1)) >= most)
    );
  }

  #hasRoom = ({ party }: Waiting): boolean =>
    !this.#isFullFor(party) && this.#line.heldBy(party) < this.#limits.atOnceOfOne;

  #begin({ party, begin, reader }: Waiting): void {
    const begun = { party, reader, taken: 0, slowChecks: 0 };
    this.#begun.add(begun);
    this.#line.hold(party, 1);
    if (!this.#limits.areShort || areArriving()) this.#pause();
    begin(() => {
      if (!this.#begun.delete(begun)) return;
      this.#line.hold(party, -1);
      this.#beginNext();
    });
  }

  #pause(): void {
    this.#pauses = true;
    onQuietTurn(() => {
      this.#pauses = false;
      this.#beginNext();
    }, TURNS_BETWEEN);
  }

  /** Begins the next request that has room; of short answers, all of them. */
  #beginNext(): void {
    while (!this.#pauses) {
      const next = this.#line.next(this.#hasRoom);
      if (!next) return;
      next.holding?.close();
      this.#begin(next);
    }
  }
}

function isTooSlow(begun: Begun): boolean {
  const taken = begun.reader?.taken();
  const isSlow = taken !== undefined && taken - begun.taken < SLOW_BYTES;
  begun.slowChecks = isSlow ? begun.slowChecks + 1 : 0;
  begun.taken = taken ?? begun.taken;
  return begun.slowChecks >= SLOW_SECONDS;
}
