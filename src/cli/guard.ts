import type { CliCommand } from "./command.ts";

/** Only the entry in the help: `cli.ts` runs the guard without loading this program. */
export const guardCommand: CliCommand = {
  name: "guard",
  usage: "exec|hook|setup|sync|doctor [ARGUMENT…]",
  summary: "Decide commands on this machine by the policy, and report them",
  details: "docs/guard.md tells more; signalbox guard --help lists the commands.",
  run() {
    return Promise.reject(new Error("start it as signalbox guard"));
  },
};
