import { FairLine } from "../../core/scheduling/fair-line.ts";
import type { Party } from "../../core/scheduling/fair-share.ts";
import { nextTurn } from "../../core/timers.ts";
import { Yielder } from "../../core/scheduling/yielder.ts";
import { SEPARATOR } from "./text.ts";

/** Reads the values of many keys with one query. */
export type LoadMany<V> = (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;

/** A request that waits for the value of a key. */
interface Waiting<V> {
  readonly key: string;
  readonly found: (value: V | undefined) => void;
  readonly failed: (error: unknown) => void;
}

/** A request whose query has ended. */
interface Ready {
  readonly party: Party;
  readonly goOn: () => void;
}

/**
 * Coalesced reads: requests that arrive while a query is under way share the next query, for all of their keys.
 * So a thousand requests cost two queries. The query of a request always begins after the request: a revoked key
 * or an older policy is never answered from memory.
 *
 * The requests of all queries go on in slices, in turn: those with a value and those without, then by key, whose parts
 * are groups. With a line for each query and only keys in turn, 6,000 connections with a new invalid API key in each
 * request held up every request with a valid one for 3 to 10 s. If all of a query's went on at once, so would their next
 * ones: with 8,000 connections of one user, each turn of the event loop took 300 ms, and it accepts one new connection.
 */
export class CoalescedReads<V> {
  readonly #load: LoadMany<V>;
  #underWay: Promise<unknown> | undefined;
  #next: Set<Waiting<V>> | undefined;
  readonly #ready = new FairLine<Ready>();
  #isGoingOn = false;

  constructor(load: LoadMany<V>) {
    this.#load = load;
  }

  get(key: string): Promise<V | undefined> {
    return new Promise((found, failed) => {
      (this.#next ??= this.#begin()).add({ key, found, failed });
    });
  }

  /** Begins the next query when the present one ends; if there is none, after this turn of the event loop. */
  #begin(): Set<Waiting<V>> {
    const requests = new Set<Waiting<V>>();
    const underWay = (this.#underWay ?? nextTurn()).then(() => this.#read(requests));
    this.#underWay = underWay;
    void underWay.then(() => {
      if (this.#underWay === underWay) this.#underWay = undefined;
    });
    return requests;
  }

  /** Reads the values for some requests. Resolves when the query has ended, and never rejects. */
  async #read(requests: ReadonlySet<Waiting<V>>): Promise<void> {
    this.#next = undefined;
    const keys = new Set(Array.from(requests, ({ key }) => key));
    try {
      const values = await this.#load([...keys]);
      for (const { key, found } of requests) {
        const value = values.get(key);
        this.#add(value === undefined ? "without" : "with", key, () => found(value));
      }
    } catch (error) {
      for (const { key, failed } of requests) this.#add("failed", key, () => failed(error));
    }
    void this.#goOn();
  }

  #add(how: string, key: string, goOn: () => void): void {
    this.#ready.add({ party: [how, ...key.split(SEPARATOR)], goOn });
  }

  /** Lets requests go on: a slice of them in each turn of the event loop. */
  async #goOn(): Promise<void> {
    if (this.#isGoingOn) return;
    this.#isGoingOn = true;
    const yielder = new Yielder();
    for (let next; (next = this.#ready.next(() => true)); await yielder.step()) next.goOn();
    this.#isGoingOn = false;
  }
}
