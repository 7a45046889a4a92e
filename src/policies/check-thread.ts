/**
 * Threads that examine documents. A thread examines one document at a time, and is ended if that takes
 * too much time or memory. Otherwise it stays idle for a while, since starting a thread costs more than
 * most examinations. The steps of an examination are limited too, so only an overloaded machine reaches
 * the time limit. The document is then not at fault.
 */
import type { Worker } from "node:worker_threads";
import { MINUTE_MS } from "../core/clock.ts";
import { Unavailable } from "../core/errors.ts";
import { RestingThreads } from "../core/resting-threads.ts";
import { startThread } from "../core/thread.ts";
import { clearTimeout, setTimeout } from "../core/timers.ts";
import { BEGUN, type Examined, type Question } from "./examine.ts";

export const TIME_LIMIT_MS = MINUTE_MS;
const RETRY_SECONDS = 30;
/** Well above what `MAX_TOKENS` needs. A larger young generation takes more memory and saves no time. */
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 16 };
/** As long as a person works with policies: the start of a thread is the longest part of a page that needs one. */
const REST_MS = 10 * MINUTE_MS;
const resting = new RestingThreads(REST_MS);

/**
 * Examines a document in a thread. A document that takes too much memory gets this as its only problem.
 *
 * @param gone ends the examination when it fires; the promise rejects with its reason
 * @param timeLimitMs counted from the moment when the thread has loaded its modules
 * @throws Unavailable when the time limit is reached
 */
export async function examineInThread(
  question: Question,
  gone?: AbortSignal,
  timeLimitMs = TIME_LIMIT_MS,
): Promise<Examined> {
  gone?.throwIfAborted();
  const thread = resting.take() ?? start();
  let timer: NodeJS.Timeout | undefined;
  let mayRest = false;
  const done = new AbortController();
  try {
    return await new Promise<Examined>((resolve, reject) => {
      const leave = (): void => reject(gone?.reason as Error);
      gone?.addEventListener("abort", leave, { signal: done.signal });
      const late = new Unavailable(
        "The server is too busy to check this policy: try again later",
        RETRY_SECONDS,
      );
      thread.on("message", (message: typeof BEGUN | Examined) => {
        if (message === BEGUN) {
          timer = setTimeout(() => reject(late), timeLimitMs);
        } else {
          // A large document leaves a large heap behind, and takes longer than the start of a thread.
          mayRest = question.maxSteps !== undefined;
          resolve(message);
        }
      });
      thread.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "ERR_WORKER_OUT_OF_MEMORY") reject(error);
        else resolve(refused("The document takes too much memory to check"));
      });
      thread.once("exit", () => reject(new Error("The thread that checks policies ended early")));
      thread.postMessage(question);
    });
  } finally {
    clearTimeout(timer);
    done.abort();
    if (mayRest) resting.rest(thread);
    else await thread.terminate();
  }
}

function start(): Worker {
  return startThread("policies/check-worker", { resourceLimits: MEMORY_LIMITS });
}

function refused(message: string): Examined {
  const problems = [{ message, line: 1, column: 1 }];
  return { problems, document: undefined, verdict: undefined, isGivenUp: true };
}
