import { parseArgs, type ParseArgsConfig } from "node:util";
import { nearest } from "../core/nearest.ts";
import { UsageError } from "./command.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;

/** Declared because the emitted declarations could not name the inferred type. */
type Parsed<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T; allowPositionals: true; strict: true }>
>;

/** The kinds of options: with one value, with several values, and without a value. */
export const text = { type: "string" } as const;
export const texts = { type: "string", multiple: true } as const;
export const flag = { type: "boolean" } as const;

/** The positional arguments that are not directories. */
const POSITIONALS = new Map([
  ["FILE", "a file"],
  ["EVENT_ID", "the id of an event"],
  ["NAME", "the name of a log"],
  ["VERSION", "the name of a policy version"],
]);

/**
 * Reads the arguments of a command.
 *
 * @param positionals the positional arguments that it needs
 * @param optional those that may follow
 * @throws UsageError naming an argument that is missing, empty, repeated or unknown
 */
export function readArguments<const T extends Options>(
  args: readonly string[],
  options: T,
  positionals: readonly string[] = [],
  optional: readonly string[] = [],
): Parsed<T> {
  let parsed: Parsed<T>;
  try {
    const settings = { options, allowPositionals: true, strict: true, tokens: true } as const;
    const { tokens, ...rest } = parseArgs({ args: [...args], ...settings });
    const given = tokens.flatMap((token) => (token.kind === "option" ? [token.name] : []));
    const single = given.filter((name) => options[name]?.multiple !== true);
    const repeated = single.find((name, i) => single.indexOf(name) !== i);
    if (repeated !== undefined) throw new Error(`--${repeated}: given twice, expected it once`);
    parsed = rest;
  } catch (error) {
    throw new UsageError(messageOf(error as Error, options));
  }
  const all = [...positionals, ...optional];
  const empty = all[parsed.positionals.indexOf("")];
  if (empty !== undefined) {
    const expected = POSITIONALS.get(empty) ?? "a directory";
    throw new UsageError(`${empty}: was empty, expected ${expected}`);
  }
  const missing = positionals[parsed.positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing`);
  const extra = parsed.positionals[all.length];
  if (extra !== undefined) throw new UsageError(`"${extra}" is not expected`);
  return parsed;
}

/** The first line of a message; without the advice of Node about arguments with a dash, which hides a typo. */
function messageOf({ message }: Error, options: Options): string | undefined {
  const [, unknown] = /^Unknown option '(--?[^']*)'/.exec(message) ?? [];
  if (unknown === undefined) return message.split("\n")[0];
  const near = nearest(unknown.replace(/^-+/, ""), Object.keys(options));
  return `${unknown}: unknown option${near === undefined ? "" : `, did you mean --${near}?`}`;
}

/** The value of a required option. */
export function required(name: string, value: string | undefined): string {
  if (value === undefined || value === "") throw new UsageError(`--${name} is missing`);
  return value;
}
