/** Reads the arguments of `env`: options, assignments, and a text that it splits itself. */
import { plainWord, type Word } from "./command.ts";
import { isHarmlessName } from "./harmless-variables.ts";
import {
  type Arguments,
  commandAfter,
  type Inner,
  optionsOf,
  scriptOf,
} from "./wrapper-arguments.ts";

const ENV: Arguments = {
  alone: /^-u\w+$|^--unset=\w+$/,
  flags:
    /^-[iv0]*$|^-[iv0]*C.+$|^--(?:ignore-environment|null|debug)$|^--(?:block|default|ignore)-signal(?:=|$)|^--chdir=/,
  valued: /^-u$|^--unset$/,
  valuedFlags: /^-[iv0]*[uC]$|^--chdir$/,
  assigns: true,
};
const SPLIT_STRING = /^-(?:[iv0]*S|-s[a-z-]*=?)/;
const VALUED_BY_ENV = /^-[iv0]*[uCa]$|^--[uca][a-z0-9-]*$/;
const envArguments = commandAfter(ENV);
const ENV_WORD = plainWord("env");

/** Bash without a `PATH` looks for programs in the current directory too, and other variables may be there to protect. */
export function envCommand(words: readonly Word[]): readonly Inner[] {
  for (let at = 1; at < words.length; at++) {
    const { raw, value, bare } = words[at] as Word;
    const isOption = value.startsWith("-");
    // In `-uS` and `-CS`, the letter is the value of an option.
    if (isOption && SPLIT_STRING.test(value)) {
      const attached = value.replace(SPLIT_STRING, "");
      const [text, ...more] = [{ raw, value: attached, bare }, ...words.slice(at + 1)].filter(
        (word) => word.value !== "",
      );
      // Only the first word is split, so the others keep their quotes. It is no text of a shell.
      const script = more.map((word) => ({ ...word, value: word.raw }));
      if (!text) return scriptOf([], { isUnclear: true });
      // Its words may be options of `env` too. A line feed and `\_` only separate them.
      const own = text.value.replace(/\n|\\_/g, " ");
      // A comment and `\c` end the first word only: what follows it in the command is still run.
      const shorter = own.replace(/(?:(?:^|\s)#|\\c)[^]*$/, "");
      const texts = shorter === own ? [own] : [own, shorter];
      return texts.flatMap((value) =>
        scriptOf([ENV_WORD, { ...text, value }, ...script], { isUnclear: true }),
      );
    }
    if (VALUED_BY_ENV.test(value)) at++;
    else if (!isOption && !value.includes("=")) break;
  }
  const { at: end } = optionsOf(words, ENV);
  const options = words.slice(1, end).map(({ value }) => value);
  const names = options.map((value) => value.replace(/^-u|^--unset=?|^--$/, ""));
  // Behind `--`, a single dash still means that no variables are kept.
  const isEmptied = words[end]?.value === "-";
  const isHarmless = !isEmptied && names.every((name) => name === "" || isHarmlessName(name, true));
  const inners = envArguments(isEmptied ? words.filter((_, at) => at !== end) : words);
  return isHarmless ? inners : inners.map((inner) => ({ ...inner, isUnclear: true }));
}
