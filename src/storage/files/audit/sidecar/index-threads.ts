/**
 * Threads that rebuild sidecars while the service answers requests. Indexing a segment of 64 MiB takes about two
 * seconds of processor time, so if many sidecars are missing, each processor rebuilds one at a time. A thread
 * ends when no job is left. If no thread can be started, or one dies, the caller rebuilds the sidecar itself.
 */
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { startThread } from "../../../../core/thread.ts";
import type { SegmentWithout } from "./writer.ts";

/** Each thread needs up to 150 MiB. */
const MOST_THREADS = 4;
/** For fewer bytes than this, starting a thread takes longer than the work. */
const WORTHWHILE_BYTES = 16 << 20;

interface Job {
  readonly segment: SegmentWithout;
  /** Receives whether the sidecar was made; `undefined` if the threads were closed before. */
  readonly done: (isMade: boolean | undefined) => void;
}

/** Makes sidecars in threads. */
export class IndexThreads {
  /** The least bytes of logs for which threads are started. */
  readonly worthwhileBytes: number;
  readonly #start: () => Worker;
  readonly #waiting: Job[] = [];
  readonly #threads = new Map<Worker, Promise<void>>();
  #isUsable = true;
  #isClosed = false;

  constructor(
    worthwhileBytes = WORTHWHILE_BYTES,
    start = () => startThread("storage/files/audit/sidecar/index-worker"),
  ) {
    this.worthwhileBytes = worthwhileBytes;
    this.#start = start;
  }

  /**
   * Makes the sidecar of a segment; resolves with `false` if the caller has to make it.
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

  /** Ends all threads. Unfinished sidecars are not made. */
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

  /** Passes a thread one job after another. */
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
