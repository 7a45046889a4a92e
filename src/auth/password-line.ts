/**
 * The order in which passwords are hashed. A hash occupies a core and one of the four threads that
 * also serve the disk, so one runs at a time and the others wait. A client that fills the line with
 * guesses must not keep right passwords out of it.
 *
 * - Signing in and setting passwords have a line each, and the two take turns.
 * - A request stands for its parties: the network that it came from, the wider network around that,
 *   and the organization whose password is set. Each request costs its parties 1 when it comes and 1
 *   when it is served, and a wrong password costs them 100. Costs halve every minute. Of a wider
 *   network only the wrong passwords count, and a quarter of them: others in it may be honest.
 * - The request with the least cost is served first, so networks without failures come before those
 *   with some, and networks that keep asking come behind the others. Of equal requests the newest is
 *   served first: a burst of first guesses then delays who comes next by one hash, not by all of them.
 * - A full line refuses the greatest cost in it: the newest request of the network with the most
 *   requests or failures, which is the newcomer only where that is its own network.
 *
 * Invariant: the place of a sign-in depends on the text of its email and on its address, never on
 * whether a user has that email. Therefore organizations take no turns at signing in: the organization
 * of an email is known only where a user has it.
 */
import type { Clock } from "../core/clock.ts";
import { TooMany } from "../core/errors.ts";
import { Loads } from "./loads.ts";

/** One of those that a request stands for. */
export interface Party {
  readonly key: string;
  /** A wider network, of which only failures count, and a quarter of them. */
  readonly isWide?: true;
}

/** Which line a request waits in. */
export type Lane = "sign-in" | "setting";

/** What a wrong password costs, where a request costs 1. */
const FAILURE_COST = 100;

const WIDE_WEIGHT = 0.25;
export const MAX_WAITING = 50;
const RETRY_AFTER_SECONDS = 10;

interface Waiting {
  readonly parties: readonly Party[];
  /** Taken off the cost. */
  readonly bonus: number;
  readonly begin: () => void;
  readonly refuse: (error: TooMany) => void;
}

/** Runs one task at a time; the others wait in one of two lines. */
export class PasswordLine {
  readonly #lines: Readonly<Record<Lane, Line>>;
  #turn: Lane = "sign-in";
  #isBusy = false;

  constructor(now: Clock) {
    this.#lines = { "sign-in": new Line(now), setting: new Line(now) };
  }

  /**
   * Runs a task when its turn comes; settles as the task does.
   *
   * @throws TooMany when the line is full, now or while it waits, and this request costs the most
   */
  async run<T>(
    lane: Lane,
    parties: readonly Party[],
    task: () => Promise<T>,
    bonus = 0,
  ): Promise<T> {
    const { loads } = this.#lines[lane];
    const own = parties.filter(({ isWide }) => !isWide);
    for (const { key } of own) loads.add(key, 1);
    if (!this.#isBusy) {
      this.#isBusy = true;
      this.#turn = lane;
    } else {
      await new Promise<void>((begin, refuse) =>
        this.#lines[lane].add({ parties, bonus, begin, refuse }),
      );
    }
    for (const { key } of own) loads.add(key, 1);
    try {
      return await task();
    } finally {
      this.#next();
    }
  }

  /** Tells that a password was wrong: to be called within its task, before the next one is chosen. */
  failed(lane: Lane, parties: readonly Party[]): void {
    for (const { key } of parties) this.#lines[lane].loads.add(key, FAILURE_COST);
  }

  /** Hands the place on: busy stays set, so that no newcomer takes it in between. */
  #next(): void {
    const other = this.#turn === "sign-in" ? "setting" : "sign-in";
    const next = this.#lines[other].take();
    if (next) this.#turn = other;
    const chosen = next ?? this.#lines[this.#turn].take();
    if (chosen) chosen.begin();
    else this.#isBusy = false;
  }
}

/** Those who wait for one kind of hash. */
class Line {
  readonly loads: Loads;
  /** The oldest first. */
  readonly #waiting: Waiting[] = [];

  constructor(now: Clock) {
    this.loads = new Loads(now);
  }

  /** Adds a request; when the line is full, the request with the greatest cost is refused. */
  add(newcomer: Waiting): void {
    this.#waiting.push(newcomer);
    if (this.#waiting.length <= MAX_WAITING) return;
    const costs = this.#costs();
    const [refused] = this.#waiting.splice(costs.indexOf(Math.max(...costs)), 1);
    const message = "Too many passwords are being checked: try again later";
    refused?.refuse(new TooMany(message, RETRY_AFTER_SECONDS));
  }

  /** Takes out who is next. */
  take(): Waiting | undefined {
    const costs = this.#costs();
    return this.#waiting.splice(costs.lastIndexOf(Math.min(...costs)), 1)[0];
  }

  /**
   * The cost of each request: what its parties have cost, and how many of theirs wait before it. In
   * whole numbers, or of equal requests the oldest would come first, as its cost has fallen a little.
   */
  #costs(): readonly number[] {
    const ahead = new Map<string, number>();
    return this.#waiting.map(({ parties, bonus }) => {
      let cost = -bonus;
      for (const { key, isWide } of parties) {
        const before = ahead.get(key) ?? 0;
        cost += isWide ? WIDE_WEIGHT * this.loads.of(key) : this.loads.of(key) + before;
        ahead.set(key, before + 1);
      }
      return Math.round(cost);
    });
  }
}
