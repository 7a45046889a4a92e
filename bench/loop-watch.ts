/**
 * The longest turn of an event loop. A timer of one millisecond runs in every turn, so the time between two of its runs
 * holds a whole turn. Neighbours on the machine lengthen it by waits for a processor, which the program does not cause,
 * so the processor time of the thread in it is measured, too (Linux).
 */
import { closeSync, existsSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A turn in milliseconds. */
export interface Turn {
  readonly elapsed: number;
  /** Of the thread; the kernel counts it at its clock ticks, which may add up to 4. */
  readonly processor: number;
}

/** Watches the event loop of the thread that makes it, until `stop`. */
export class LoopWatch {
  readonly #schedule = openSync("/proc/thread-self/schedstat", "r");
  readonly #room = Buffer.alloc(64);
  readonly #timer: NodeJS.Timeout;
  #at = performance.now();
  #used = this.#processor();
  #elapsed = 0;
  #longest = 0;

  constructor() {
    this.#timer = setInterval(() => this.#turn(), 1);
    this.#timer.unref();
  }

  /** The greatest elapsed time of a turn so far, and the greatest processor time; begins anew. */
  take(): Turn {
    this.#turn();
    const turn = { elapsed: this.#elapsed, processor: this.#longest };
    this.#elapsed = this.#longest = 0;
    return turn;
  }

  /** Ends it, and returns the last turn. */
  stop(): Turn {
    clearInterval(this.#timer);
    const turn = this.take();
    closeSync(this.#schedule);
    return turn;
  }

  #turn(): void {
    const [at, used] = [performance.now(), this.#processor()];
    this.#elapsed = Math.max(this.#elapsed, at - this.#at);
    this.#longest = Math.max(this.#longest, used - this.#used);
    [this.#at, this.#used] = [at, used];
  }

  #processor(): number {
    const length = readSync(this.#schedule, this.#room, 0, this.#room.length, 0);
    return Number.parseInt(this.#room.toString("latin1", 0, length), 10) / 1e6;
  }
}

/** The longest turn of a program that `watched.ts` runs, since the last call. */
export async function longestTurn({ pid }: { readonly pid: number }, file: string): Promise<Turn> {
  process.kill(pid, "SIGUSR2");
  while (!existsSync(file)) await sleep(1);
  const turn = JSON.parse(readFileSync(file, "utf8")) as Turn;
  rmSync(file);
  return turn;
}
