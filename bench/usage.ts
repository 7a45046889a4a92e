import { parseArgs, type ParseArgsConfig } from "node:util";
import { describeDiskFault } from "../src/storage/disk-fault.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** Written out, since a declaration cannot name the inferred type. */
type Parsed<T extends Options> = ReturnType<
  typeof parseArgs<{ options: T; allowPositionals: true; strict: true }>
>;

/** Ends a script: 0 success, 1 a failure, 2 invalid arguments. */
export type Exit = (code: 0 | 1 | 2, text: string) => never;

/** The command line of a script for users; `--help` prints it and ends the script. */
export class Usage {
  readonly #text: string;
  readonly #exit: Exit;

  /**
   * @param text begins with `Usage: ` and names every option
   */
  constructor(text: string, exit: Exit = leave) {
    this.#text = text;
    this.#exit = exit;
  }

  /** Reads the arguments, with at most `most` positional ones. */
  read<const T extends Options>(
    options: T,
    { most = 0, args = process.argv.slice(2) }: { most?: number; args?: readonly string[] } = {},
  ): Parsed<T> {
    if (args.some((arg) => arg === "--help" || arg === "-h")) this.#exit(0, this.#text);
    let parsed: Parsed<T>;
    try {
      parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
    } catch (error) {
      return this.fail((error as Error).message.split("\n")[0] ?? "");
    }
    const extra = parsed.positionals[most];
    return extra === undefined ? parsed : this.fail(`"${extra}" is not expected`);
  }

  /** The value of an option that is a number in a range. */
  number(name: string, given: string, least: number, greatest: number): number {
    const value = given.trim() === "" ? Number.NaN : Number(given);
    if (value >= least && value <= greatest) return value;
    return this.fail(`--${name}: expected a number from ${least} to ${greatest}`);
  }

  /** Like `number`, for a whole number. */
  integer(name: string, given: string, least: number, greatest: number): number {
    const value = this.number(name, given, least, greatest);
    if (Number.isSafeInteger(value)) return value;
    return this.fail(`--${name}: expected a whole number`);
  }

  /** Ends the script because of invalid arguments. */
  fail(message: string): never {
    return this.#exit(2, `${message}\n${this.#text}`);
  }

  /**
   * Runs an action that may fail for an external reason, such as a missing directory; a failure
   * ends the script.
   */
  async attempt<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      return this.#exit(1, describeDiskFault(error) ?? (error as Error).message);
    }
  }
}

function leave(code: number, text: string): never {
  if (code === 0) console.log(text);
  else console.error(text);
  process.exit(code);
}
