/**
 * Threads that examine documents. A thread examines one document at a time, and is ended if that takes
 * too much time or memory. Otherwise it stays idle for a while, since starting a thread costs more than
 * most examinations. The steps of an examination are limited too, so only an overloaded machine reaches
 * the time limit. The document is then not at fault.
 */
import type { Worker } from "node:worker_threads";
import { MINUTE_MS, SECOND_MS } from "../core/clock.ts";
import { Unavailable } from "../core/errors.ts";
import { startThread } from "../core/thread.ts";
import { clearTimeout, setTimeout } from "../core/timers.ts";
import { BEGUN, type Examined, type Question } from "./examine.ts";

export const TIME_LIMIT_MS = MINUTE_MS;
const RETRY_SECONDS = 30;
/** Well above what `MAX_TOKENS` needs. A larger young generation takes more memory and saves no time. */
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 320, maxYoungGenerationSizeMb: 16 };
const REST_MS = 5 * SECOND_MS;

/** Idle threads, each with the timer that ends it. They do not keep the process alive. */
const resting = new Map<Worker, NodeJS.Timeout>();

/**
 * Examines a document in a thread. A document that takes too much memory gets this as its only problem.
 *
 * @param timeLimitMs counted from the moment when the thread has loaded its modules
 * @throws Unavailable when the time limit is reached
 */
export async function examineInThread(
  question: Question,
  timeLimitMs = TIME_LIMIT_MS,
): Promise<Examined> {
  const thread = wake() ?? start();
  let timer: NodeJS.Timeout | undefined;
  let mayRest = false;
  try {
    return await new Promise<Examined>((resolve, reject) => {
      const late = new Unavailable(
        "The server is too busy to check this policy: try again later",
        RETRY_SECONDS,
      );
      thread.on("message", (message: typeof BEGUN | Examined) => {
        if (message === BEGUN) {
          timer = setTimeout(() => reject(late), timeLimitMs);
        } else {
          mayRest = true;
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
    stopListening(thread);
    if (mayRest) rest(thread);
    else await thread.terminate();
  }
}

function start(): Worker {
  return startThread(import.meta.url, "check-worker", { resourceLimits: MEMORY_LIMITS });
}

function wake(): Worker | undefined {
  const [next] = resting;
  if (!next) return undefined;
  const [thread, timer] = next;
  clearTimeout(timer);
  resting.delete(thread);
  stopListening(thread);
  thread.ref();
  return thread;
}

function rest(thread: Worker): void {
  thread.unref();
  const end = (): void => {
    clearTimeout(resting.get(thread));
    resting.delete(thread);
    void thread.terminate();
  };
  thread.once("exit", end);
  thread.once("error", end);
  resting.set(thread, setTimeout(end, REST_MS).unref());
}

/** Removes our listeners. `removeAllListeners` without an event would remove the thread's internal listeners too. */
function stopListening(thread: Worker): void {
  for (const event of ["message", "error", "exit"]) thread.removeAllListeners(event);
}

function refused(message: string): Examined {
  const problems = [{ message, line: 1, column: 1 }];
  return { problems, document: undefined, verdict: undefined, isGivenUp: true };
}
