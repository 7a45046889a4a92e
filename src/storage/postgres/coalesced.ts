import { nextTurn } from "../../core/timers.ts";

/** Reads the values of many keys with one query. */
export type LoadMany<V> = (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;

interface Reading<V> {
  readonly keys: Set<string>;
  readonly found: Promise<ReadonlyMap<string, V>>;
}

/**
 * Coalesced reads: requests that arrive while a query is under way share the next query, for all of their keys.
 * So a thousand requests cost two queries. The query of a request always begins after the request: a revoked key
 * or an older policy is never answered from memory.
 */
export class CoalescedReads<V> {
  readonly #load: LoadMany<V>;
  #underWay: Promise<unknown> | undefined;
  #next: Reading<V> | undefined;

  constructor(load: LoadMany<V>) {
    this.#load = load;
  }

  async get(key: string): Promise<V | undefined> {
    const { keys, found } = (this.#next ??= this.#begin());
    keys.add(key);
    return (await found).get(key);
  }

  /** Begins the next query when the present one ends; if there is none, after this turn of the event loop. */
  #begin(): Reading<V> {
    const keys = new Set<string>();
    const found = (this.#underWay ?? nextTurn()).then(() => {
      this.#next = undefined;
      return this.#load([...keys]);
    });
    const end = (): void => {
      if (this.#underWay === underWay) this.#underWay = undefined;
    };
    const underWay: Promise<void> = found.then(end, end);
    this.#underWay = underWay;
    return { keys, found };
  }
}
