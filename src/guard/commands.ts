/** The slow commands of the guard: they load the network and the policy parser. */
import { parseArgs } from "node:util";
import { doctor } from "./doctor.ts";
import type { Machine } from "./machine.ts";
import { setup } from "./setup.ts";
import { sync } from "./sync.ts";

const USAGE = `Usage: signalbox guard COMMAND

  exec [--consumer human|ai|ci] -- CMD ARGS…   decide a command, run it and report it
  hook AGENT                                   answer a hook: a payload on the standard input
  setup AGENT [--project|--user|--managed FILE|--print] [--remove]
                                               put the hooks into an agent's settings
  sync [--every 5m]                            fetch the policy, send events and a heartbeat
  doctor                                       say what works and what does not

Agents: claude-code, codex, gemini-cli, cursor, copilot. docs/guard.md has the settings.
`;

/** Runs a command of the guard; returns the exit code. */
export async function runCommand(
  command: string,
  args: readonly string[],
  machine: Machine,
): Promise<number> {
  if (args.includes("--help") || command === "--help" || command === "-h") {
    machine.out(USAGE);
    return 0;
  }
  if (command === "sync") return sync(args, machine);
  if (command === "setup") return setup(args, machine);
  if (command === "doctor") {
    parseArgs({ args: [...args] }); // refuses any
    return doctor(machine);
  }
  const what = command === "" ? "no command" : `no command "${command}"`;
  machine.error(`signalbox guard: ${what}; see signalbox guard --help\n`);
  return 2;
}
