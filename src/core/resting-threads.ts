import type { Worker } from "node:worker_threads";
import { clearTimeout, setTimeout } from "./timers.ts";

/**
 * Threads that wait for further work, since starting a thread costs more than most of it. They do not keep the process
 * alive, and each ends after a while.
 */
export class RestingThreads {
  /** Each thread with the timer that ends it. */
  readonly #timers = new Map<Worker, NodeJS.Timeout>();
  readonly #restMs: number;

  constructor(restMs: number) {
    this.#restMs = restMs;
  }

  /** Takes a thread, without any listener of the one that used it before; `undefined` if none rests. */
  take(): Worker | undefined {
    const [next] = this.#timers;
    if (!next) return undefined;
    const [thread, timer] = next;
    clearTimeout(timer);
    this.#timers.delete(thread);
    stopListening(thread);
    thread.ref();
    return thread;
  }

  /** Lets a thread without work rest, and removes all of its listeners. */
  rest(thread: Worker): void {
    stopListening(thread);
    thread.unref();
    const end = (): void => {
      clearTimeout(this.#timers.get(thread));
      this.#timers.delete(thread);
      void thread.terminate();
    };
    thread.once("exit", end);
    thread.once("error", end);
    this.#timers.set(thread, setTimeout(end, this.#restMs).unref());
  }
}

/** Removes our listeners. `removeAllListeners` without an event would remove the thread's internal listeners too. */
function stopListening(thread: Worker): void {
  for (const event of ["message", "error", "exit"]) thread.removeAllListeners(event);
}
