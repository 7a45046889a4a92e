/**
 * Judges scripts that a shell reads from its standard input. Bash reads such a script command by command, so a command in
 * it that reads the same input takes the following text away: what seemed to be the text of a here-document becomes a
 * command.
 */
import type { Word } from "./shell-command.ts";

/** Programs that read nothing, or everything, from their standard input. */
const KNOWN = new Set([
  ..."[ [[ : basename cat cd date declare dirname echo exit export false local ls mkdir printf".split(
    " ",
  ),
  ..."pwd readonly return set sleep test touch true uname unset wc which whoami".split(" "),
  ...["git branch", "git diff", "git log", "git show", "git status"],
]);
/** The longest script that each of these programs reads at once. */
const LONGEST = 16_000;

/** Whether a command could take away a part of such a script and leave the rest. */
export function mayTakePart([program, argument]: readonly Word[]): boolean {
  if (program === undefined || KNOWN.has(program.value)) return false;
  return !KNOWN.has(`${program.value} ${argument?.value}`);
}

/** Whether a script has more than one line: all of a line is read before its commands run. */
export function hasLines(script: string): boolean {
  return script.trim().includes("\n");
}

/** Whether a script is too long for a program to read it at once, or has a loop that reads lines. */
export function isUnsafe(script: string): boolean {
  return script.length > LONGEST || /\bselect\b/.test(script);
}
