/** The command that `signalbox guard exec` decides and runs, in each form in which the guard can be started. */
import { isUncertain, plainWord, type Word } from "./command.ts";
import { again, type Arguments, type Inner, innersAt, optionsOf } from "./wrapper-arguments.ts";

/** Programs that start the one that an argument names. */
export const STARTERS = [
  ...["node", "nodejs", "tsx", "deno", "npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx"],
] as const;
/** The files of the guard that have a program's name of their own. Setup writes the second one into the agents' settings. */
export const GUARD_FILES = ["cli.js", "main.cjs"] as const;

const PACKAGE = /(?:^|[/:])signalbox(?:@[^/]*)?$/;
const CLI = /(?:^|\/)cli(?:\.[jt]s)?$/;
const BUNDLE = /(?:^|\/)guard\/main(?:\.(?:c?js|ts))?$|^(?:\.\/)*main\.cjs$/;

/** The options before `exec`. Earlier versions take settings there, such as `--env GUARD_MODE=observe`. */
const GUARD: Arguments = { alone: /^(?:--help|-h)$/, flags: /^--env=/, valuedFlags: /^--env$/ };
const EXEC: Arguments = { valued: /^--consumer$/ };

/** Whether a word is certainly not some word. */
function isOther(word: Word | undefined, name: string): boolean {
  return word === undefined || (!isUncertain(word) && word.value !== name);
}

/** Whether a word is certainly some word. */
function isWord(word: Word | undefined, name: string): boolean {
  return word !== undefined && !isUncertain(word) && word.value === name;
}

/**
 * `signalbox guard exec` decides its command, for any consumer that an option names. Other options may change how the
 * guard decides, and a variable may be several words, so with them it is unclear what the guard runs.
 */
export function guardedCommand(words: readonly Word[]): readonly Inner[] {
  const [, name] = words;
  if (!name || isOther(name, "guard")) return [];
  const options = optionsOf(words.slice(1), GUARD);
  const begin = options.at + 1;
  const isVague = options.isUnclear || isUncertain(name);
  if (!isVague && isOther(words[begin], "exec")) return [];
  const at = words.findIndex((word, index) => index >= begin && !isOther(word, "exec"));
  if (at === -1) return innersAt(words, begin, true);
  const own = words.slice(at);
  const { at: end, isUnclear, isEndKnown } = optionsOf(own, EXEC);
  const inners = innersAt(own, end, isVague || isUnclear || isUncertain(own[0] as Word));
  return isEndKnown ? inners : [...inners, ...again(own, end + 1)];
}

/** The same where the program is a file of the guard. */
export function fileCommand(words: readonly Word[]): readonly Inner[] {
  return guardedAt(words, 0) ?? [];
}

/** The same where the guard is an argument of the program that starts it. */
export function startedCommand(words: readonly Word[]): readonly Inner[] {
  for (let at = 1; at < words.length; at++) {
    const inners = guardedAt(words, at);
    if (inners) return inners;
  }
  return [];
}

/**
 * The command of the guard that is named at a position; `undefined` if another program is. The names of its files are
 * usual ones, so a variable behind them is not taken for `guard`.
 */
function guardedAt(words: readonly Word[], at: number): readonly Inner[] | undefined {
  const name = words[at] as Word;
  const next = words[at + 1]?.value === "--" ? at + 2 : at + 1; // `npm exec signalbox -- guard exec`
  const first = words[next];
  if (PACKAGE.test(name.value)) {
    return isOther(first, "guard") ? undefined : guardedCommand([name, ...words.slice(next)]);
  }
  const isBundle = BUNDLE.test(name.value);
  if (!isBundle && !CLI.test(name.value)) return undefined;
  if (isWord(first, "guard")) return guardedCommand([name, ...words.slice(next)]);
  const rest = words.slice(next);
  // Other programs have a file `main.cjs` and options, too.
  const hasExec =
    first?.value.startsWith("-") && rest.some((word) => isUncertain(word) || isWord(word, "exec"));
  if (!isBundle || !(isWord(first, "exec") || hasExec)) return undefined;
  return guardedCommand([name, plainWord("guard"), ...rest]);
}
