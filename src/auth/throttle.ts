/**
 * Slows down the guessing of passwords: counts the failures of the last minute for each pair of email and
 * address, and for each address. Attempts under way count as failures until they end: otherwise all
 * guesses of a parallel burst would pass before the first one fails.
 */
import { networkOf } from "../core/address.ts";
import type { Awaitable } from "../core/caller.ts";
import { MINUTE_MS, SECOND_MS, type Clock } from "../core/clock.ts";
import { TooMany } from "../core/errors.ts";
import { setNewest } from "../core/set-newest.ts";

/** An attempt under way; call exactly one of its methods. */
export interface SignInAttempt {
  /** The password was wrong. */
  failed(): Awaitable<void>;
  /** The password was right: earlier failures for this email from this address are forgotten. */
  succeeded(): Awaitable<void>;
  /** The password was not checked. */
  abandoned(): Awaitable<void>;
}

/** Counts attempts to sign in. */
export interface LoginThrottle {
  /** @throws TooMany saying when the next attempt is allowed */
  begin(email: string, address: string): Awaitable<SignInAttempt>;
}

export const WINDOW_MS = MINUTE_MS;
export const FAILURES_PER_EMAIL = 5;
export const FAILURES_PER_ADDRESS = 20;
const MAX_COUNTERS = 20_000;

/** Creates a throttle in this process that remembers at most 20,000 pairs and 20,000 addresses. */
export function createLoginThrottle(now: Clock) {
  const pairs = new Counters(FAILURES_PER_EMAIL, now);
  const addresses = new Counters(FAILURES_PER_ADDRESS, now);
  return {
    begin(email: string, address: string) {
      const network = networkOf(address);
      const pair = pairs.at(pairOf(network, email));
      const all = addresses.at(network);
      refuseUntil(Math.max(pair.waitMs(), all.waitMs()));
      pair.begin();
      all.begin();
      return {
        failed() {
          pair.end(true);
          all.end(true);
        },
        succeeded() {
          pair.end(false);
          pair.forget();
          all.end(false);
        },
        abandoned() {
          pair.end(false);
          all.end(false);
        },
      };
    },
  } satisfies LoginThrottle;
}

/** The key under which attempts at one email from one network are counted. */
export function pairOf(network: string, email: string): string {
  return `${network} ${email.toLowerCase()}`;
}

/** Refuses an attempt if it has to wait. */
export function refuseUntil(waitMs: number): void {
  if (waitMs <= 0) return;
  const seconds = Math.ceil(waitMs / SECOND_MS);
  throw new TooMany("Too many failed attempts: try again later", seconds);
}

/**
 * The milliseconds until another attempt is allowed; 0 if it is allowed now.
 *
 * @param failures the times of the failures in the last minute, oldest first
 */
export function waitAfter(
  failures: readonly number[],
  underWay: number,
  limit: number,
  now: number,
): number {
  const excess = failures.length + underWay - limit;
  if (excess < 0) return 0;
  const freeing = failures[excess];
  // If too few failures expire, attempts under way fill the limit: they end soon.
  return freeing === undefined ? SECOND_MS : freeing + WINDOW_MS - now;
}

/** The counters of one kind, by key. At the limit the least recently used counter is dropped. */
class Counters {
  readonly #counters = new Map<string, Counter>();
  readonly #limit: number;
  readonly #now: Clock;

  constructor(limit: number, now: Clock) {
    this.#limit = limit;
    this.#now = now;
  }

  at(key: string): Counter {
    const counter = this.#counters.get(key) ?? new Counter(this.#limit, this.#now);
    setNewest(this.#counters, key, counter, MAX_COUNTERS);
    return counter;
  }
}

class Counter {
  readonly #limit: number;
  readonly #now: Clock;
  /** The times of the failures, oldest first; never more than the limit. */
  #failures: number[] = [];
  #underWay = 0;

  constructor(limit: number, now: Clock) {
    this.#limit = limit;
    this.#now = now;
  }

  /** The time until another attempt is allowed; 0 if it is allowed now. */
  waitMs(): number {
    const now = this.#now();
    // The clock may be set back.
    this.#failures = this.#failures.filter((at) => Math.abs(now - at) < WINDOW_MS);
    return waitAfter(this.#failures, this.#underWay, this.#limit, now);
  }

  begin(): void {
    this.#underWay++;
  }

  end(isFailure: boolean): void {
    this.#underWay--;
    if (isFailure) this.#failures.push(this.#now());
  }

  forget(): void {
    this.#failures = [];
  }
}
