import type { Clock } from "../core/clock.ts";

/** What a command reads and writes, beside the disk. */
export interface Terminal {
  readonly now: Clock;
  out(text: string): void;
  error(text: string): void;
  /** Asks for a password: without echo at a terminal, else the first line of what is piped in. */
  readPassword(prompt: string): Promise<string>;
}

/** One of the program's commands. */
export interface Command {
  /** Its name, such as `user add`. */
  readonly name: string;
  /** What follows the name. */
  readonly usage: string;
  /** What it does, in a line. */
  readonly summary: string;
  /** What is to be known of it, beside usage and summary. */
  readonly details: string;
  /**
   * Does it.
   *
   * @returns the exit code: 0 when all is well, 1 when something was found to be wrong
   * @throws UsageError for arguments that are not understood; Error when it fails, with exit code 1
   */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

/** Arguments that are not understood: exit code 2. */
export class UsageError extends Error {}
