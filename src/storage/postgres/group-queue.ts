/** The number of groups, of different keys, that are written at a time. */
const AT_ONCE = 3;

/**
 * Group commit: items that arrive for a key while a group of that key is being written go into the next group, in
 * the order of arrival. Keys take turns, and only a few groups are written at a time, so that thousands of
 * organizations do not take every connection.
 */
export class GroupQueue<Item> {
  readonly #write: (key: string, items: readonly Item[]) => Promise<void>;
  readonly #most: number;
  readonly #waiting = new Map<string, Item[]>();
  readonly #busy = new Set<string>();
  #idle: (() => void)[] = [];

  /**
   * @param write writes a group. It settles every item of the group and never rejects
   * @param most the most items of a group
   */
  constructor(write: (key: string, items: readonly Item[]) => Promise<void>, most: number) {
    this.#write = write;
    this.#most = most;
  }

  add(key: string, item: Item): void {
    const waiting = this.#waiting.get(key);
    if (waiting) waiting.push(item);
    else this.#waiting.set(key, [item]);
    this.#next();
  }

  /** Resolves when the queue is empty: all items are written, including those that are added meanwhile. */
  idle(): Promise<void> {
    if (this.#busy.size === 0 && this.#waiting.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #next(): void {
    if (this.#busy.size >= AT_ONCE) return;
    for (const [key, items] of this.#waiting) {
      if (this.#busy.has(key)) continue;
      const group = items.splice(0, this.#most);
      this.#waiting.delete(key);
      if (items.length > 0) this.#waiting.set(key, items); // behind the other keys
      this.#busy.add(key);
      void this.#run(key, group);
      if (this.#busy.size >= AT_ONCE) return;
    }
  }

  async #run(key: string, group: readonly Item[]): Promise<void> {
    await this.#write(key, group);
    this.#busy.delete(key);
    this.#next();
    if (this.#busy.size > 0 || this.#waiting.size > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
