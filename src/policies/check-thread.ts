/** A thread in which one document is examined, and ended when it takes too much time or memory. */
import { Worker, type WorkerOptions } from "node:worker_threads";
import type { Examined, Question } from "./examine.ts";

const TIME_LIMIT_MS = 10_000;
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64 };

/**
 * Examines a document in a thread of its own; one that takes too long, or too much memory, has that
 * as its only problem. The time runs from when the thread has started.
 */
export async function examineInThread(
  question: Question,
  timeLimitMs = TIME_LIMIT_MS,
): Promise<Examined> {
  const thread = startThread({ workerData: question, resourceLimits: MEMORY_LIMITS });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Examined>((resolve, reject) => {
      thread.once("online", () => {
        const late = `The document takes longer than ${timeLimitMs / 1_000} s to check`;
        timer = setTimeout(() => resolve(refused(late)), timeLimitMs);
      });
      thread.once("message", (examined) => resolve(examined as Examined));
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

/** What runs in the thread stands beside this module: JavaScript in `dist`, TypeScript in `src`. */
function startThread(options: WorkerOptions): Worker {
  if (import.meta.url.endsWith(".js")) {
    return new Worker(new URL("./check-worker.js", import.meta.url), options);
  }
  const source = new URL("./check-worker.ts", import.meta.url).href;
  return new Worker(runFromSource(source), { ...options, eval: true });
}

/**
 * A script that runs TypeScript where threads do not inherit what the process was started with, as
 * on Node 20: it then registers the same loader for itself. Nothing that is built comes by here.
 */
function runFromSource(file: string): string {
  const loader = import.meta.resolve("tsx/esm/api");
  return `import(${JSON.stringify(file)}).catch(async (error) => {
    if (error.code !== "ERR_UNKNOWN_FILE_EXTENSION") throw error;
    (await import(${JSON.stringify(loader)})).register();
    await import(${JSON.stringify(`${file}?with-loader`)});
  });`;
}
