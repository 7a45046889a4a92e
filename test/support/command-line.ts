import { runProgram } from "../../src/cli/program.ts";
import { START_TIME } from "./start.ts";

/** The result of running the program. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs the program within this process; `password` is what a user would type or pipe in. */
export async function run(
  args: readonly string[],
  password = "",
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  let [out, error] = ["", ""];
  const code = await runProgram(args, {
    now: () => Date.parse(START_TIME),
    env,
    isStyled: "COLOURS" in env,
    out: (text) => void (out += text),
    error: (text) => void (error += text),
    readPassword: async () => password,
  });
  return { code, out, error };
}
