import { FairLine } from "../../core/fair-line.ts";
import { nextTurn } from "../../core/timers.ts";
import { Yielder } from "../../core/yielder.ts";

/** Reads the values of many keys with one query. */
export type LoadMany<V> = (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;

/** A request that waits for the value of a key. */
interface Waiting<V> {
  readonly party: readonly [key: string];
  readonly found: (value: V | undefined) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Coalesced reads: requests that arrive while a query is under way share the next query, for all of their keys.
 * So a thousand requests cost two queries. The query of a request always begins after the request: a revoked key
 * or an older policy is never answered from memory.
 *
 * The requests go on in slices, and the keys in turn. If all of a query's went on at once, so would their next ones: with
 * 8,000 connections of one user, each turn of the event loop took 300 ms, and it accepts one new connection.
 */
export class CoalescedReads<V> {
  readonly #load: LoadMany<V>;
  #underWay: Promise<unknown> | undefined;
  #next: Set<Waiting<V>> | undefined;

  constructor(load: LoadMany<V>) {
    this.#load = load;
  }

  get(key: string): Promise<V | undefined> {
    return new Promise((found, failed) => {
      (this.#next ??= this.#begin()).add({ party: [key], found, failed });
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
    const keys = new Set(Array.from(requests, ({ party: [key] }) => key));
    try {
      const values = await this.#load([...keys]);
      void inTurn(requests, ({ party: [key], found }) => found(values.get(key)));
    } catch (error) {
      void inTurn(requests, ({ failed }) => failed(error));
    }
  }
}

/** Lets requests go on: a slice of them in each turn of the event loop. */
async function inTurn<V>(
  requests: ReadonlySet<Waiting<V>>,
  goOn: (request: Waiting<V>) => void,
): Promise<void> {
  const line = new FairLine<Waiting<V>>();
  for (const request of requests) line.add(request);
  const yielder = new Yielder();
  for (let next; (next = line.next(() => true)); await yielder.step()) goOn(next);
}
