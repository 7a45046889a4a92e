/**
 * The order in which passwords are hashed. A hash occupies a core and one of the four threads that
 * also serve the disk, so one runs at a time and the others wait. Guesses, from however many
 * networks, must not keep right passwords from being checked.
 *
 * - There are four lines of 50 requests, which take turns, and a full line refuses only its own
 *   requests. So a flood in one line delays a request in another one by three hashes at most.
 * - A request has parties, such as its network. Each request costs them 1 when it arrives and 1
 *   when it is served. A wrong password costs them 100, and a right one takes back the cost of its
 *   request. Costs halve every minute. For a wider network only wrong passwords count, at a quarter
 *   of their cost: other clients in it may be honest.
 * - The request with the lowest cost is served first, and a full line refuses the highest cost. So
 *   networks without failures come before those with some, and networks that keep asking come last.
 * - Of equal requests the newest is served first, and a full line refuses the oldest. If each guess
 *   comes from a new network, a newcomer is then served as often as the hashes allow; the opposite
 *   order would serve only guesses, because they fill the line before the newcomer.
 */
import type { Clock } from "../core/clock.ts";
import { TooMany } from "../core/errors.ts";
import { Loads } from "./loads.ts";

/** A network or user whose requests are counted. */
export interface LineParty {
  readonly key: string;
  /** A wider network: only failures count, at a quarter of their cost. */
  readonly isWide?: true;
}

/**
 * The line that a request waits in: a sign-in from a network where that email has signed in before
 * (`known`), with an email that recently had wrong passwords (`guessed`), any other sign-in
 * (`fresh`), or a request whose caller is signed in already (`setting`).
 */
export type Lane = "known" | "guessed" | "fresh" | "setting";

/** The cost of a wrong password, relative to a request. */
const FAILURE_COST = 100;

const WIDE_WEIGHT = 0.25;
/** The most requests that wait in each line. */
export const MAX_WAITING_PASSWORDS = 50;
const RETRY_AFTER_SECONDS = 10;

interface Waiting {
  readonly parties: readonly LineParty[];
  readonly begin: () => void;
  readonly refuse: (error: unknown) => void;
}

/** Runs one task at a time; the others wait in lines. */
export class PasswordLine {
  readonly #loads: Loads;
  /** The line that was served last comes last. */
  readonly #lines: Map<Lane, Line>;
  #isBusy = false;

  constructor(now: Clock) {
    const loads = (this.#loads = new Loads(now));
    const lanes: readonly Lane[] = ["known", "guessed", "fresh", "setting"];
    this.#lines = new Map(lanes.map((lane) => [lane, new Line(loads)]));
  }

  /**
   * Runs a task when its turn comes; settles as the task does.
   *
   * @param gone fires when the client disconnects: a request that still waits is then dropped
   * @throws TooMany when the line is full, now or while it waits, and this request costs the most
   */
  async run<T>(
    lane: Lane,
    parties: readonly LineParty[],
    task: () => Promise<T>,
    gone?: AbortSignal,
  ): Promise<T> {
    gone?.throwIfAborted();
    this.#add(parties, 1);
    if (this.#isBusy) await this.#lines.get(lane)?.wait(parties, gone);
    else this.#begin(lane);
    this.#add(parties, 1);
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  /** Records a wrong password. Call it within the task, before the next request is chosen. */
  failed(parties: readonly LineParty[]): void {
    for (const { key } of parties) this.#loads.add(key, FAILURE_COST);
  }

  /** Records a right password: the request costs its parties nothing. */
  succeeded(parties: readonly LineParty[]): void {
    this.#add(parties, -2);
  }

  #add(parties: readonly LineParty[], cost: number): void {
    for (const { key, isWide } of parties) if (!isWide) this.#loads.add(key, cost);
  }

  /** Moves the lane's line behind the others. */
  #begin(lane: Lane): void {
    this.#isBusy = true;
    const line = this.#lines.get(lane);
    this.#lines.delete(lane);
    if (line) this.#lines.set(lane, line);
  }

  /** Begins the next task. The line stays busy, so that a newcomer cannot take the turn in between. */
  #next(): void {
    for (const [lane, line] of this.#lines) {
      const next = line.take();
      if (!next) continue;
      this.#begin(lane);
      return next.begin();
    }
    this.#isBusy = false;
  }
}

/** The waiting requests of one lane. */
class Line {
  readonly #loads: Loads;
  /** The oldest first. */
  readonly #waiting: Waiting[] = [];

  constructor(loads: Loads) {
    this.#loads = loads;
  }

  /** Resolves when the turn comes. */
  wait(parties: readonly LineParty[], gone: AbortSignal | undefined): Promise<void> {
    return new Promise((begin, refuse) => {
      const newcomer: Waiting = { parties, begin, refuse };
      this.#waiting.push(newcomer);
      gone?.addEventListener("abort", () => this.#refuse(newcomer, gone.reason), { once: true });
      if (this.#waiting.length <= MAX_WAITING_PASSWORDS) return;
      const costs = this.#costs();
      const message = "Too many passwords are being checked: try again later";
      const refused = this.#waiting[costs.indexOf(Math.max(...costs))];
      this.#refuse(refused, new TooMany(message, RETRY_AFTER_SECONDS));
    });
  }

  /** Removes the next request, and returns it. */
  take(): Waiting | undefined {
    const costs = this.#costs();
    return this.#waiting.splice(costs.lastIndexOf(Math.min(...costs)), 1)[0];
  }

  #refuse(request: Waiting | undefined, error: unknown): void {
    const index = request ? this.#waiting.indexOf(request) : -1;
    if (index >= 0) this.#waiting.splice(index, 1);
    request?.refuse(error);
  }

  /**
   * The cost of each request: the cost of its parties, and how many of their requests wait before it. Whole
   * numbers, because costs fall with time: without rounding the oldest of equal requests would come first.
   */
  #costs(): readonly number[] {
    const ahead = new Map<string, number>();
    return this.#waiting.map(({ parties }) => {
      let cost = 0;
      for (const { key, isWide } of parties) {
        const before = ahead.get(key) ?? 0;
        cost += isWide ? WIDE_WEIGHT * this.#loads.of(key) : this.#loads.of(key) + before;
        ahead.set(key, before + 1);
      }
      return Math.round(cost);
    });
  }
}
