/** Runs a few tasks at a time; the others wait in line, up to a number of them. */
export class Turns {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  /** Whether a task that comes now would find no place in the line. */
  get isFull(): boolean {
    return this.#waiting.length >= this.#maxWaiting;
  }

  /** Runs a task when its turn comes; settles as the task does. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.#maxRunning) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift(); // takes over this place
      if (next) next();
      else this.#running--;
    }
  }
}
