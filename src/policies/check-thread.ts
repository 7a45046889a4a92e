/** A thread in which one document is examined, and ended when it takes too much time or memory. */
import { startThread } from "../core/thread.ts";
import { BEGUN, type Examined, type Question } from "./examine.ts";

const TIME_LIMIT_MS = 10_000;
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64 };

/**
 * Examines a document in a thread of its own; one that takes too long, or too much memory, has that
 * as its only problem. The time runs from when the thread has loaded what it needs.
 */
export async function examineInThread(
  question: Question,
  timeLimitMs = TIME_LIMIT_MS,
): Promise<Examined> {
  const options = { workerData: question, resourceLimits: MEMORY_LIMITS };
  const thread = startThread(import.meta.url, "check-worker", options);
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Examined>((resolve, reject) => {
      const late = `The document takes longer than ${timeLimitMs / 1_000} s to check`;
      thread.on("message", (message: typeof BEGUN | Examined) => {
        if (message !== BEGUN) resolve(message);
        else timer = setTimeout(() => resolve(refused(late)), timeLimitMs);
      });
      thread.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "ERR_WORKER_OUT_OF_MEMORY") reject(error);
        else resolve(refused("The document takes too much memory to check"));
      });
      thread.once("exit", () => reject(new Error("The thread that checks policies ended early")));
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

function refused(message: string): Examined {
  const problems = [{ message, line: 1, column: 1 }];
  return { problems, document: undefined, verdict: undefined };
}
