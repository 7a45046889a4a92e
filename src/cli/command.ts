import type { ClientEnvironment } from "../config.ts";
import type { Clock } from "../core/clock.ts";

/** The input and output of a command, apart from the disk. */
export interface Terminal {
  readonly now: Clock;
  readonly env: ClientEnvironment;
  /** Whether people read the output in a terminal. */
  readonly isTerminal: boolean;
  out(text: string): void;
  error(text: string): void;
  /** Waits for a time in milliseconds. */
  pause(ms: number): Promise<void>;
  /** Asks for a password: without echo in a terminal, otherwise the first line of the standard input. */
  readPassword(prompt: string): Promise<string>;
}

/** One of the program's commands. */
export interface CliCommand {
  /** The name, such as `user add`. */
  readonly name: string;
  /** The arguments after the name. */
  readonly usage: string;
  /** The purpose of the command, in one line. */
  readonly summary: string;
  /** Further help, after usage and summary. */
  readonly details: string;
  /**
   * Runs the command.
   *
   * @returns the exit code: 0 for success, 1 if a fault was found, or one that the command documents
   * @throws UsageError or InputError, with exit code 2; Error for a failure, with exit code 1
   */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

/** A file that cannot be read, or a service that `signalbox policy` cannot reach: exit code 2. */
export class InputError extends Error {}

/** Invalid arguments: exit code 2. */
export class UsageError extends InputError {}
