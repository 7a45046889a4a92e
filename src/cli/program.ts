import { readBuildInfo } from "../build-info.ts";
import { printable } from "../core/printable.ts";
import { oneOf } from "../core/validate.ts";
import { describeDiskFault } from "../storage/disk-fault.ts";
import { backupCommand } from "./backup.ts";
import { InputError, UsageError, type CliCommand, type Terminal } from "./command.ts";
import { guardCommand } from "./guard.ts";
import { keyCreateCommand } from "./key-create.ts";
import { moveCommand } from "./move.ts";
import { policyCommands } from "./policy.ts";
import { rolloutCommands } from "./policy-rollout.ts";
import { logKeyCommand, proveCommand } from "./prove.ts";
import { restoreCommand } from "./restore.ts";
import { serveCommand } from "./serve.ts";
import { userAddCommand } from "./user-add.ts";
import { verifyCommand } from "./verify.ts";
import { verifyProofCommand } from "./verify-proof.ts";

const COMMANDS: readonly CliCommand[] = [
  serveCommand,
  verifyCommand,
  backupCommand,
  restoreCommand,
  moveCommand,
  userAddCommand,
  keyCreateCommand,
  logKeyCommand,
  proveCommand,
  verifyProofCommand,
  ...policyCommands,
  ...rolloutCommands,
  guardCommand,
];

/**
 * Runs the program with its arguments.
 *
 * @returns the exit code: 0 success, 1 a fault or failure, 2 invalid arguments
 */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<number> {
  const command = COMMANDS.find(({ name }) => `${args.join(" ")} `.startsWith(`${name} `));
  const rest = command ? args.slice(command.name.split(" ").length) : args;
  if (rest.some((arg) => arg === "--help" || arg === "-h")) {
    const words = args.filter((arg) => !arg.startsWith("-"));
    terminal.out(command ? helpOf(command) : overviewOf(words));
    return 0;
  }
  try {
    if (command) return await command.run(rest, terminal);
    if (rest[0] === "--version") {
      terminal.out(`signalbox ${readBuildInfo().version}\n`);
      return 0;
    }
    throw new UsageError(absenceOf(rest));
  } catch (error) {
    const who = command ? `signalbox ${command.name}` : "signalbox";
    const message = error instanceof Error ? error.message : String(error);
    const reason = printable((describeDiskFault(error) ?? message).replaceAll("\n", " "));
    const isUsage = error instanceof UsageError;
    const help = ["signalbox", command?.name ?? groupIn(rest), "--help"].filter(Boolean).join(" ");
    terminal.error(`${who}: ${reason}${isUsage ? `; see ${help}` : ""}\n`);
    return error instanceof InputError ? 2 : 1;
  }
}

/** Says that no command has these words. A word that commands begin with, such as `policy`, needs another one. */
function absenceOf(args: readonly string[]): string {
  if (args[0] === undefined) return "No command";
  const words = unknown(args);
  const next = COMMANDS.flatMap(({ name }) =>
    name.startsWith(`${words} `) ? [name.slice(words.length + 1).split(" ")[0] ?? ""] : [],
  );
  if (next.length === 0) return `No command "${words}"`;
  return `${words}: expected ${oneOf([...new Set(next)])} after it`;
}

/** The words that name no command: those that commands begin with, and the one after them. */
function unknown(args: readonly string[]): string {
  return args.slice(0, sharedWords(args) + 1).join(" ");
}

/** The words that commands begin with, such as `policy rollout`. */
function groupIn(args: readonly string[]): string {
  return args.slice(0, sharedWords(args)).join(" ");
}

/** The number of words at the start that commands begin with. */
function sharedWords(args: readonly string[]): number {
  const begins = (words: string): boolean => COMMANDS.some(({ name }) => name.startsWith(words));
  const end = args.findIndex((_, i) => !begins(`${args.slice(0, i + 1).join(" ")} `));
  return end === -1 ? args.length : end;
}

/** The commands that begin with some words, such as `policy rollout`; without words, all of them. */
function overviewOf(words: readonly string[]): string {
  const group = words.map((word) => `${word} `).join("");
  const commands = COMMANDS.filter(({ name }) => name.startsWith(group));
  if (commands.length === 0) return overviewOf(words.slice(0, -1)); // the last word is in no command
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`);
  return `Usage: signalbox ${group}COMMAND [ARGUMENT…]

${lines.join("")}
signalbox ${group}COMMAND --help describes a command, signalbox --version prints the version.
Exit codes: 0 success, 1 a fault was found or the command failed, 2 invalid arguments.
`;
}

function helpOf({ name, usage, summary, details }: CliCommand): string {
  return `Usage: ${`signalbox ${name} ${usage}`.trimEnd()}\n\n${summary}.\n\n${details}\n`;
}
