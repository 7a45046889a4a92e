/**
 * Threads that make sidecars while the service goes on. Reading back a segment is nothing but
 * computing, about half a second for 64 MiB, so where many of them have lost their sidecars each
 * processor takes one at a time. A thread ends when nothing is left to be made. Where no thread can be
 * started, or one dies, whoever asked is told to make the sidecar itself.
 */
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { startThread } from "../../../../core/thread.ts";
import type { SegmentWithout } from "./remake.ts";

/** A thread takes up to 150 MiB while it works. */
const MOST_THREADS = 4;
/** To start one for less than this would take longer than the work. */
const WORTHWHILE_BYTES = 16 << 20;

interface Job {
  readonly segment: SegmentWithout;
  /** Takes whether it was made; `undefined` when the threads were closed before. */
  readonly done: (isMade: boolean | undefined) => void;
}

/** Makes sidecars in threads. */
export class IndexThreads {
  /** So many bytes of logs are worth to start threads for. */
  readonly worthwhileBytes: number;
  readonly #start: () => Worker;
  readonly #waiting: Job[] = [];
  readonly #threads = new Map<Worker, Promise<void>>();
  #isUsable = true;
  #isClosed = false;

  constructor(
    worthwhileBytes = WORTHWHILE_BYTES,
    start = () => startThread(import.meta.url, "index-worker"),
  ) {
    this.worthwhileBytes = worthwhileBytes;
    this.#start = start;
  }

  /**
   * Makes the sidecar of a segment; `false` when the caller has to.
   *
   * @throws Error when the threads are closed before it is made
   */
  make(segment: SegmentWithout): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const done: Job["done"] = (isMade) => {
        if (isMade !== undefined) resolve(isMade);
        else reject(new Error("The audit store was closed while an index was made"));
      };
      if (this.#isClosed || !this.#isUsable) return done(this.#isClosed ? undefined : false);
      this.#waiting.push({ segment, done });
      if (this.#threads.size < Math.min(MOST_THREADS, availableParallelism())) this.#add();
    });
  }

  /** Ends all threads; what they have not made is not made. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#dismiss();
    for (const thread of this.#threads.keys()) void thread.terminate();
    await Promise.all(this.#threads.values());
  }

  #add(): void {
    let thread: Worker;
    try {
      thread = this.#start();
    } catch {
      this.#isUsable = false;
      return this.#dismiss();
    }
    this.#threads.set(thread, this.#serve(thread));
  }

  /** Gives a thread one job after another. */
  async #serve(thread: Worker): Promise<void> {
    const ended = new Promise<undefined>((resolve) => {
      thread.once("error", () => resolve(undefined));
      thread.once("exit", () => resolve(undefined));
    });
    for (let job = this.#waiting.shift(); job !== undefined; job = this.#waiting.shift()) {
      const answer = new Promise<boolean>((resolve) => thread.once("message", resolve));
      thread.postMessage(job.segment);
      const isMade = await Promise.race([answer, ended]);
      if (isMade === undefined) this.#isUsable = false;
      job.done(isMade ?? (this.#isClosed ? undefined : false));
      if (isMade === undefined) this.#dismiss();
    }
    await thread.terminate();
    this.#threads.delete(thread);
  }

  /** Gives every waiting job back. */
  #dismiss(): void {
    for (const { done } of this.#waiting.splice(0)) done(this.#isClosed ? undefined : false);
  }
}
