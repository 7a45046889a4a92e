/**
 * The thread that decides the events of a replay. A decision about one command by a hostile document can take seconds,
 * and cannot be divided into slices; so the event loop only reads the rows, and a thread parses and decides them.
 */
import type { Worker } from "node:worker_threads";
import { SECOND_MS } from "../core/clock.ts";
import { BadInput } from "../core/errors.ts";
import { RestingThreads } from "../core/resting-threads.ts";
import { startThread } from "../core/thread.ts";
import type { FromJudge, Judged, JudgeQuestion, ToJudge, Unfit } from "./judge-worker.ts";

/** Enough for the tokens of a document, as for checks, and for the commands that are kept. */
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 448, maxYoungGenerationSizeMb: 32 };

/** A message that waits for its answer. */
interface Asked {
  readonly resolve: (answer: FromJudge) => void;
  readonly reject: (error: unknown) => void;
}

/** Short, since a thread that rests keeps the commands that it knows. */
const REST_MS = 5 * SECOND_MS;
const resting = new RestingThreads(REST_MS);

/**
 * Decides the events of one replay in a thread, which later replays may use again. Invariant: after `close` nothing
 * reaches the thread, since it may decide the events of another organization by then.
 */
export class JudgeThread {
  readonly #thread: Worker;
  readonly #isLarge: boolean;
  readonly #asked: Asked[] = [];
  #failure: unknown;

  /**
   * Takes a thread that rests, or a new one.
   *
   * @param isLarge whether the documents are large: they leave a large heap behind, so the thread does not rest after them
   */
  static take(isLarge: boolean): JudgeThread {
    const options = { resourceLimits: MEMORY_LIMITS };
    const thread = resting.take() ?? startThread("replay/judge-worker", options);
    return new JudgeThread(thread, isLarge);
  }

  private constructor(thread: Worker, isLarge: boolean) {
    this.#thread = thread;
    this.#isLarge = isLarge;
    this.#thread.on("message", (answer: FromJudge) => this.#asked.shift()?.resolve(answer));
    this.#thread.on("error", (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      this.#fail(isMemory ? new BadInput("The policy takes too much memory to replay") : error);
    });
    this.#thread.on("exit", () => this.#fail(new Error("The thread of a replay ended early")));
  }

  /** Reads the documents; returns the first one that cannot decide. */
  async begin(question: JudgeQuestion): Promise<Unfit | undefined> {
    const answer = await this.#ask(question);
    return "unfit" in answer ? answer.unfit : undefined;
  }

  /** Takes rows as JSON lines, or a part of a long one; resolves with the number of events so far. */
  async take(rows: Uint8Array): Promise<number> {
    const copy = new Uint8Array(rows); // the store may use the memory of a piece again
    const answer = await this.#ask(copy, [copy.buffer]);
    return "events" in answer ? answer.events : 0;
  }

  async end(): Promise<Judged> {
    const answer = await this.#ask("end");
    if (!("judged" in answer)) throw new Error("The thread of a replay gave no result");
    return answer.judged;
  }

  /** Ends the replay. A thread that still decides is ended with it. */
  close(): void {
    const isIdle = this.#failure === undefined && this.#asked.length === 0;
    this.#fail(new Error("The replay has ended"));
    if (isIdle && !this.#isLarge) resting.rest(this.#thread);
    else void this.#thread.terminate();
  }

  async #ask(message: ToJudge, moved: readonly ArrayBuffer[] = []): Promise<FromJudge> {
    if (this.#failure !== undefined) throw this.#failure as Error;
    const answer = await new Promise<FromJudge>((resolve, reject) => {
      this.#asked.push({ resolve, reject });
      this.#thread.postMessage(message, [...moved]);
    });
    if (!("tooMuch" in answer)) return answer;
    throw new BadInput(
      `The replay ${answer.tooMuch}: choose fewer events by from, to or another filter, or shorten the policy`,
    );
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const { reject } of this.#asked.splice(0)) reject(error);
  }
}
