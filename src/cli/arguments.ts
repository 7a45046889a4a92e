import { parseArgs, type ParseArgsConfig } from "node:util";
import { UsageError } from "./command.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** Written out, since a declaration cannot name what is inferred here. */
type Parsed<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T; allowPositionals: true; strict: true }>
>;

/**
 * Reads the arguments of a command that takes so many positional ones.
 *
 * @throws UsageError naming what is missing, or there and not understood
 */
export function readArguments<const T extends Options>(
  args: readonly string[],
  options: T,
  positionals: readonly string[] = [],
): Parsed<T> {
  let parsed: Parsed<T>;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError((error as Error).message.split("\n")[0]);
  }
  const missing = positionals[parsed.positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const extra = parsed.positionals[positionals.length];
  if (extra !== undefined) throw new UsageError(`"${extra}" is not expected`);
  return parsed;
}

/** The value of an option that has to be there. */
export function required(name: string, value: string | undefined): string {
  if (value === undefined || value === "") throw new UsageError(`--${name} is missing`);
  return value;
}
