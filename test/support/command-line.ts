import { runProgram } from "../../src/cli/program.ts";
import { START_TIME } from "./start.ts";

/** The result of running the program. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** The clock of a command, and its pauses between two looks at a service. */
export interface Waiting {
  pause(ms: number): Promise<void>;
  now(): number;
}

const AT_ONCE: Waiting = { pause: async () => {}, now: () => Date.parse(START_TIME) };

/** Runs the program within this process; `password` is what a user would type or pipe in. */
export async function run(
  args: readonly string[],
  password = "",
  env: Readonly<Record<string, string>> = {},
  { now, pause } = AT_ONCE,
): Promise<Ran> {
  let [out, error] = ["", ""];
  const code = await runProgram(args, {
    ...{ now, pause },
    env,
    isTerminal: "TERMINAL" in env,
    out: (text) => void (out += text),
    error: (text) => void (error += text),
    readPassword: async () => password,
  });
  return { code, out, error };
}
