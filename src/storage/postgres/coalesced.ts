import { setImmediate } from "../../core/timers.ts";

/** Reads the values of many keys with one query. */
export type LoadMany<V> = (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;

interface Waiting<V> {
  readonly promise: Promise<V | undefined>;
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Coalesced reads: while a query is under way, all who ask share the next one, whichever keys they ask
 * for. So a thousand requests cost two queries, and each gets what a query found that began after it
 * asked: a revoked key or an older policy is never answered from memory.
 */
export class CoalescedReads<V> {
  readonly #load: LoadMany<V>;
  #next = new Map<string, Waiting<V>>();
  #isBusy = false;

  constructor(load: LoadMany<V>) {
    this.#load = load;
  }

  get(key: string): Promise<V | undefined> {
    let waiting = this.#next.get(key);
    if (!waiting) this.#next.set(key, (waiting = newWaiting<V>()));
    if (!this.#isBusy) {
      this.#isBusy = true;
      setImmediate(() => void this.#run()); // with all that ask in this turn of the loop
    }
    return waiting.promise;
  }

  async #run(): Promise<void> {
    while (this.#next.size > 0) {
      const asked = this.#next;
      this.#next = new Map();
      try {
        const found = await this.#load([...asked.keys()]);
        for (const [key, { resolve }] of asked) resolve(found.get(key));
      } catch (error) {
        for (const { reject } of asked.values()) reject(error);
      }
    }
    this.#isBusy = false;
  }
}

function newWaiting<V>(): Waiting<V> {
  let [resolve, reject]: [Waiting<V>["resolve"], Waiting<V>["reject"]] = [() => {}, () => {}];
  const promise = new Promise<V | undefined>((...ends) => ([resolve, reject] = ends));
  return { promise, resolve, reject };
}
