/** Two transactions: while the database commits one, it already reads the next. */
const MOST = 2;

/** Events that are sent together. */
interface Sent {
  readonly organization: string;
  /** A named event has a key. */
  readonly events: readonly { readonly key: string | undefined }[];
}

/**
 * The transactions that store events. Each locks the heads of its organizations, so a second one of an organization waits
 * for the first, and all of its events do. So the events of an organization that has none under way share a transaction
 * only with others like it, and one more transaction is theirs. Without that, single events of one organization waited
 * for two seconds beside 500 connections of another one that sent batches of 50.
 */
export class UnderWay {
  /** The number of transactions with events of an organization. */
  readonly #counts = new Map<string, number>();
  readonly #keys = new Set<string>();
  #transactions = 0;

  /** How many transactions under way the organizations of the next one may have, in the order of preference. */
  get open(): readonly number[] {
    if (this.#transactions > MOST) return [];
    return this.#transactions === MOST ? [0] : [0, 1];
  }

  /** Whether events of an organization may begin at once. */
  hasRoomFor(organization: string): boolean {
    return this.open.includes(this.of(organization));
  }

  /** The number of transactions under way with events of an organization. */
  of(organization: string): number {
    return this.#counts.get(organization) ?? 0;
  }

  /** Whether an event of this key is under way. */
  has(key: string | undefined): boolean {
    return key !== undefined && this.#keys.has(key);
  }

  /** Counts a transaction. The result ends it. */
  begin(group: readonly Sent[]): () => void {
    const organizations = new Set(group.map(({ organization }) => organization));
    const keys = group.flatMap(({ events }) => events.flatMap(({ key }) => key ?? []));
    const count = (by: 1 | -1): void => {
      this.#transactions += by;
      for (const one of organizations) {
        const left = this.of(one) + by;
        if (left > 0) this.#counts.set(one, left);
        else this.#counts.delete(one);
      }
    };
    count(1);
    for (const key of keys) this.#keys.add(key);
    return () => {
      count(-1);
      for (const key of keys) this.#keys.delete(key);
    };
  }
}
