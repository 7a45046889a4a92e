/**
 * Requests `/health` again and again, in a separate process: a process that sends a hundred
 * requests at once is busy for tens of milliseconds, which would count as the server's time.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { requireStatuses, WrongAnswer } from "./finding.ts";
import { timed } from "./wire.ts";

/** Begins to send requests; the returned function ends that and returns the latencies in milliseconds. */
export async function askHealth(url: string): Promise<() => Promise<readonly number[]>> {
  const asker = fork(fileURLToPath(import.meta.url), [url], { execArgv: ["--import", "tsx"] });
  const message = async (): Promise<readonly number[]> => {
    const failed = once(asker, "exit").then(() => {
      throw new WrongAnswer("/health was not answered with 200");
    });
    const [latencies] = await Promise.race([once(asker, "message"), failed]);
    return latencies as readonly number[];
  };
  await message(); // after its first answer: loading is not measured
  return () => {
    asker.send("end");
    return message();
  };
}

async function ask(url: string): Promise<void> {
  const latencies: number[] = [];
  let isOver = false;
  process.once("message", () => (isOver = true));
  const answer = async (): Promise<number> => {
    const { status, ms } = await timed(`${url}/health`);
    requireStatuses("/health", [status], [200]);
    return ms;
  };
  process.send?.([await answer()]);
  while (!isOver) latencies.push(await answer());
  process.send?.(latencies);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ask(process.argv[2] as string);
