/**
 * Divides a shared budget fairly, and finds the user that must give back its part when the budget is used
 * up. Users are counted in a tree: by surface, then by organization, then by network address. The search
 * goes from the top to the largest surface, its largest organization, and that organization's largest
 * address. So an organization keeps its share even if another organization uses many addresses, and
 * signed-in users keep their share even if many clients use the open surface.
 */

/** A user of a budget, as a path from the widest group to the narrowest: surface, organization, network. */
export type Party = readonly string[];

/** The client of a search, whose turns the search takes. The search ends when `gone` fires. */
export interface Searcher {
  readonly party?: Party | undefined;
  readonly gone?: AbortSignal | undefined;
}

/** One user's use of a budget: the bytes of a body, a connection, a stream. */
export class Holding<T> {
  /** The body, connection or stream. */
  readonly owner: T;
  /** The share to which it counts. */
  readonly share: Share<T>;
  #amount = 0;
  #isOpen = true;

  constructor(share: Share<T>, owner: T) {
    this.share = share;
    this.owner = owner;
  }

  get amount(): number {
    return this.#amount;
  }

  /** Sets the amount without making room for it (see `FairShare.makeRoom`). A closed holding stays empty. */
  set(amount: number): void {
    if (!this.#isOpen) return;
    this.share.change(amount - this.#amount);
    this.#amount = amount;
  }

  /** Returns the whole amount, and removes the holding. */
  close(): void {
    if (!this.#isOpen) return;
    this.set(0);
    this.#isOpen = false;
    this.share.remove(this);
  }
}

/** A node of the tree: all holdings of a user, or of a group of users. */
class Share<T> {
  /** The sum of all holdings. */
  amount = 0;
  readonly #key: string;
  readonly #parent: Share<T> | undefined;
  readonly #children = new Map<string, Share<T>>();
  readonly #holdings = new Set<Holding<T>>();
  /** The child that holds the most, to save a search through all children; `undefined` while unknown. */
  #largest: Share<T> | undefined;

  constructor(key = "", parent?: Share<T>) {
    this.#key = key;
    this.#parent = parent;
  }

  /** The holdings of a user, oldest first; empty for a group of users. */
  get holdings(): Iterable<Holding<T>> {
    return this.#holdings;
  }

  /** The newest holding with an amount above 0. */
  get newest(): Holding<T> | undefined {
    let newest: Holding<T> | undefined;
    for (const holding of this.#holdings) if (holding.amount > 0) newest = holding;
    return newest;
  }

  find(key: string): Share<T> | undefined {
    return this.#children.get(key);
  }

  child(key: string): Share<T> {
    const known = this.#children.get(key);
    if (known) return known;
    const child = new Share<T>(key, this);
    this.#children.set(key, child);
    return child;
  }

  hold(owner: T): Holding<T> {
    const holding = new Holding<T>(this, owner);
    this.#holdings.add(holding);
    return holding;
  }

  /** Makes a holding the newest one. */
  moveToEnd(holding: Holding<T>): void {
    if (this.#holdings.delete(holding)) this.#holdings.add(holding);
  }

  change(by: number): void {
    this.amount += by;
    const parent = this.#parent;
    if (!parent) return;
    const largest = parent.#largest;
    if (largest === this && by < 0) parent.#largest = undefined;
    else if (largest && this.amount > largest.amount) parent.#largest = this;
    parent.change(by);
  }

  remove(holding: Holding<T>): void {
    this.#holdings.delete(holding);
    this.#prune();
  }

  /** The child that holds the most, with `wanted` added for the user `asking`. At equal amounts it is that user's child. */
  largestChild(asking: Share<T> | undefined, wanted: number): Share<T> | undefined {
    const largest = (this.#largest ??= this.#findLargest());
    let own = asking;
    while (own && own.#parent !== this) own = own.#parent;
    return own && own.amount + wanted >= (largest?.amount ?? 0) ? own : largest;
  }

  #findLargest(): Share<T> | undefined {
    let largest: Share<T> | undefined;
    for (const child of this.#children.values()) {
      if (!largest || child.amount > largest.amount) largest = child;
    }
    return largest;
  }

  /** Removes empty shares, so that the tree does not grow with the number of past users. */
  #prune(): void {
    const parent = this.#parent;
    if (!parent || this.#holdings.size > 0 || this.#children.size > 0) return;
    parent.#children.delete(this.#key);
    if (parent.#largest === this) parent.#largest = undefined;
    parent.#prune();
  }
}

export type { Share };

/** The users of one budget. */
export class FairShare<T> {
  readonly #root = new Share<T>();

  /** The amount that all users hold, or the users of one group. */
  used(group: Party = []): number {
    return this.#find(group)?.amount ?? 0;
  }

  /** Opens an empty holding of a user. */
  hold(party: Party, owner: T): Holding<T> {
    return party.reduce((share, key) => share.child(key), this.#root).hold(owner);
  }

  /**
   * The user that holds the most.
   *
   * @param asking a user that wants more; it counts as if it held the wanted amount already
   * @param group the group to search; all users if absent
   */
  biggest(asking?: Share<T>, wanted = 0, group: Party = []): Share<T> | undefined {
    let share = this.#find(group);
    for (let next = share; next; next = share?.largestChild(asking, wanted)) share = next;
    return share;
  }

  /** Whether `makeRoom` would find room; changes nothing. */
  hasRoom({ share }: Holding<T>, wanted: number, limit: number, group: Party): boolean {
    if (this.used(group) + wanted <= limit) return true;
    return this.biggest(share, wanted, group) !== share;
  }

  /**
   * Makes room below a limit, so that a holding can grow, by taking it from users that hold more.
   * The newest holding of the biggest user is closed and passed to `cut`, until there is room.
   *
   * @param group the group that the limit applies to; all users if absent
   * @returns false if the asking user is the biggest, or would become the biggest
   */
  makeRoom(
    { share }: Holding<T>,
    wanted: number,
    limit: number,
    cut: (owner: T) => void,
    group: Party = [],
  ): boolean {
    while (this.used(group) + wanted > limit) {
      const biggest = this.biggest(share, wanted, group);
      const newest = biggest === share ? undefined : biggest?.newest;
      if (!newest) return false;
      newest.close();
      cut(newest.owner);
    }
    return true;
  }

  #find(group: Party): Share<T> | undefined {
    let share: Share<T> | undefined = this.#root;
    for (const key of group) share = share?.find(key);
    return share;
  }
}
