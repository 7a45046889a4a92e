import type { CliCommand } from "./command.ts";

/** The entry of `guard` in the help. `cli.ts` runs the guard itself without loading this module. */
export const guardCommand: CliCommand = {
  name: "guard",
  usage: "exec|hook|setup|sync|doctor [ARGUMENT…]",
  summary: "Decide commands on this machine by the policy, and report them",
  details: "signalbox guard --help lists the commands; docs/guard.md describes them.",
  run() {
    return Promise.reject(new Error("start it as signalbox guard"));
  },
};
