/**
 * The order in which passwords are hashed. A hash occupies a core and one of the four threads that also
 * serve the disk, so only one hash runs at a time. Password guesses must not keep correct passwords from
 * being checked, even if the guesses come from many networks.
 *
 * - There are four lines of 50 requests, which take turns. A full line refuses only its own requests. So a
 *   flood in one line delays a request in another line by at most three hashes.
 * - A request has parties, such as its network. Each request costs them 1 when it arrives and 1
 *   when it is served. A wrong password costs them 100. A correct password takes back the cost of its
 *   request. Costs halve every minute. For a wider network only wrong passwords count, at a quarter of
 *   their cost, since other clients in it may be honest.
 * - The request with the lowest cost is served first, and a full line refuses the request with the highest
 *   cost. So networks without failures come before networks with failures, and busy networks come last.
 * - Of equal requests the oldest is served first, and a full line refuses the newest, where the callers are known:
 *   in the lines `known` and `setting`. In the other two the newest is served first, and the oldest refused. Assume
 *   that each guess comes from a new network: the opposite order would then serve only guesses, because they fill the
 *   line before an honest newcomer. This order serves the newcomer next.
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
 * The line in which a request waits:
 *
 * - `known`: a sign-in from a network where this email has signed in before
 * - `guessed`: a sign-in with an email that recently had wrong passwords
 * - `fresh`: any other sign-in
 * - `setting`: a request whose caller is already signed in
 */
export type Lane = "known" | "guessed" | "fresh" | "setting";

/** The cost of a wrong password, relative to a request. */
const FAILURE_COST = 100;

/** The lines without requests of strangers, in which of equal requests the oldest is served first. */
const OLDEST_FIRST: readonly Lane[] = ["known", "setting"];

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
  /** In the order of service: the line that was served last is at the end. */
  readonly #lines: Map<Lane, Line>;
  #isBusy = false;

  constructor(now: Clock) {
    const loads = (this.#loads = new Loads(now));
    const lanes: readonly Lane[] = ["known", "guessed", "fresh", "setting"];
    this.#lines = new Map(
      lanes.map((lane) => [lane, new Line(loads, OLDEST_FIRST.includes(lane))]),
    );
  }

  /**
   * Runs a task when its turn comes; settles as the task does.
   *
   * @param gone fires when the client disconnects: a request that still waits is then dropped
   * @throws TooMany when the line is or becomes full, and this request has the highest cost
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

  /** Records a correct password: the request then costs its parties nothing. */
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

  /** Begins the next task. The line stays busy in between, so that a newcomer cannot take the turn. */
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
  readonly #isOldestFirst: boolean;
  /** The oldest first. */
  readonly #waiting: Waiting[] = [];

  constructor(loads: Loads, isOldestFirst: boolean) {
    this.#loads = loads;
    this.#isOldestFirst = isOldestFirst;
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
      const most = Math.max(...costs);
      const last = this.#isOldestFirst ? costs.lastIndexOf(most) : costs.indexOf(most);
      const refused = this.#waiting[last];
      this.#refuse(refused, new TooMany(message, RETRY_AFTER_SECONDS));
    });
  }

  /** Removes the next request, and returns it. */
  take(): Waiting | undefined {
    const costs = this.#costs();
    const least = Math.min(...costs);
    const next = this.#isOldestFirst ? costs.indexOf(least) : costs.lastIndexOf(least);
    return this.#waiting.splice(next, 1)[0];
  }

  #refuse(request: Waiting | undefined, error: unknown): void {
    const index = request ? this.#waiting.indexOf(request) : -1;
    if (index >= 0) this.#waiting.splice(index, 1);
    request?.refuse(error);
  }

  /**
   * The cost of each request: the cost of its parties, plus the number of their requests that wait before it.
   * Costs are rounded, because they fall with time: otherwise the oldest of equal requests would come first in any line.
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
