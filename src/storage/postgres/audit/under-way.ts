/** Two transactions: while the database commits one, it already reads the next. */
const MOST = 2;

/** What may begin: a transaction of organizations with some number of transactions under way, and its limits. */
export interface Opening {
  readonly underWay: 0 | 1;
  readonly events: number;
  readonly bytes: number;
  /** Whether it takes one append that exceeds its limits, alone. */
  readonly takesLonger: boolean;
}

const LARGE = { events: 4_000, bytes: 8 << 20, takesLonger: true } as const;
const SMALL = { underWay: 0, events: 250, bytes: 512 << 10, takesLonger: false } as const;
const OPEN: readonly Opening[] = [
  { underWay: 0, ...LARGE },
  { underWay: 1, ...LARGE },
];

/** Events that are sent together. */
interface Sent {
  readonly organization: string;
  readonly bytes: number;
  /** A named event has a key. */
  readonly events: readonly { readonly key: string | undefined }[];
}

/**
 * The transactions that store events. Each locks the heads of its organizations, so a second one of an organization waits
 * for the first, and all of its events do. So the events of an organization that has none under way share a transaction
 * only with others like it, and one more transaction is theirs. Without that, single events of one organization waited
 * for two seconds beside 500 connections of another one that sent batches of 50. It is a small one, so that it ends soon:
 * beside three such organizations, one of them had it with 4,000 events, and single events waited for a second.
 */
export class UnderWay {
  /** The number of transactions with events of an organization. */
  readonly #counts = new Map<string, number>();
  readonly #keys = new Set<string>();
  #large = 0;
  #small = 0;

  /** The transactions that may begin, in the order of preference. */
  get open(): readonly Opening[] {
    if (this.#large < MOST) return OPEN;
    return this.#small === 0 ? [SMALL] : [];
  }

  /** Whether events of an organization may begin at once. */
  hasRoomFor({ organization, events, bytes }: Sent): boolean {
    const count = this.of(organization);
    return this.open.some(
      (opening) =>
        opening.underWay === count &&
        (opening.takesLonger || (events.length <= opening.events && bytes <= opening.bytes)),
    );
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
  begin(group: readonly Sent[], opening: Opening): () => void {
    const organizations = new Set(group.map(({ organization }) => organization));
    const keys = group.flatMap(({ events }) => events.flatMap(({ key }) => key ?? []));
    const count = (by: 1 | -1): void => {
      if (opening === SMALL) this.#small += by;
      else this.#large += by;
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
