/** How much is done at a time, and how much may wait. */
export interface TurnLimits {
  /** Tasks that run at a time. */
  readonly running: number;
  /** Tasks in line, of all who ask. */
  readonly waiting: number;
  /** Tasks in line of one who asks. */
  readonly waitingOfOne: number;
}

/**
 * Runs a few tasks at a time; the others wait in line, up to a number of them. Those who ask take
 * turns, so that one with many tasks makes the others wait for one of them, not for all.
 */
export class Turns {
  readonly #limits: TurnLimits;
  /** The tasks of each key that has some waiting; the key whose turn is next comes first. */
  readonly #lines = new Map<string, (() => void)[]>();
  #running = 0;
  #waiting = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Whether a task of this one that comes now would find no place in the line. */
  isFull(asker: string): boolean {
    const { waiting, waitingOfOne } = this.#limits;
    return this.#waiting >= waiting || (this.#lines.get(asker)?.length ?? 0) >= waitingOfOne;
  }

  /** Runs a task when its turn comes; settles as the task does. */
  async run<T>(asker: string, task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.running) this.#running++;
    else await new Promise<void>((resolve) => this.#wait(asker, resolve));
    try {
      return await task();
    } finally {
      const next = this.#next(); // takes over this place
      if (next) next();
      else this.#running--;
    }
  }

  #wait(asker: string, begin: () => void): void {
    const line = this.#lines.get(asker);
    if (line) line.push(begin);
    else this.#lines.set(asker, [begin]);
    this.#waiting++;
  }

  #next(): (() => void) | undefined {
    const [first] = this.#lines;
    if (!first) return undefined;
    const [asker, line] = first;
    const next = line.shift();
    this.#lines.delete(asker);
    if (line.length > 0) this.#lines.set(asker, line); // behind all others
    this.#waiting--;
    return next;
  }
}
