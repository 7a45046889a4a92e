/** Reads the arguments of programs that run a command or a shell as another user. */
import { isUncertain, plainWord, type Word } from "./command.ts";
import {
  type Arguments,
  commandAfter,
  type Inner,
  scriptOf,
  scriptsIn,
} from "./wrapper-arguments.ts";

/** Each option of `sudo` and `doas` with a value, to find out whether there is a command behind the options. */
const VALUED_ANYHOW =
  /^-[a-zA-Z]*[aCDghpRrTtuU]$|^--(?:user|group|host|prompt|ch(?:dir|root)|close-from|command-timeout|role|type)$/;
const SHELL_OPTION = /^-[a-zA-Z]*[is]|^--(?:lo|sh)[a-z]*$/;

/** The position behind the options of a program, of which only some take the next word as their value. */
function endOfOptions(words: readonly Word[], valued: RegExp): number {
  let at = 1;
  for (; words[at]?.value.startsWith("-"); at++) {
    const value = words[at]?.value ?? "";
    if (value === "--") return at + 1;
    if (valued.test(value)) at++;
  }
  return at;
}

function commandOrShell(settings: Arguments) {
  const commandOf = commandAfter(settings);
  return (words: readonly Word[], inputs: readonly string[]): readonly Inner[] => {
    if (inputs.length === 0) return commandOf(words);
    const at = endOfOptions(words, VALUED_ANYHOW);
    const isShell = words.slice(1, at).some(({ value }) => SHELL_OPTION.test(value));
    const readsInput = isShell && at >= words.length;
    return [...commandOf(words), ...(readsInput ? scriptsIn(inputs, true) : [])];
  };
}

/** `sudo` runs the command as another user, or with `-i` and `-s` a shell, which reads its input. */
export const sudoCommand = commandOrShell({
  alone:
    /^-[nEHkSb]+$|^--(?:non-interactive|preserve-env|set-home|stdin|background)$|^--(?:user|group)=\w+$/,
  flags:
    /^-[nEHkSbisAPBNKelvV]+$|^--(?:login|shell|askpass|bell|edit|list|no-update|preserve-groups|reset-timestamp|validate)$|^--(?:preserve-env|user|group|prompt|host|chdir|chroot|close-from|command-timeout|login-class|other-user|role|type)=/,
  valued: /^-[nEHkSb]*[ugp]$|^--(?:user|group|prompt)$/,
  valuedFlags:
    /^-[nEHkSbisAPBNel]*[aCcDghpRrTtUu]$|^--(?:host|chdir|chroot|close-from|command-timeout|login-class|other-user|role|type)$/,
  assigns: true,
});

/** The same for `doas`. */
export const doasCommand = commandOrShell({
  alone: /^-n$/,
  flags: /^-[nsL]+$/,
  valued: /^-u$/,
  valuedFlags: /^-[nsL]*[aCu]$/,
});

const chrootArguments = commandAfter({
  flags: /^--(?:userspec|groups)=|^--skip-chdir$/,
  valuedFlags: /^--(?:userspec|groups)$/,
  operands: [/^/],
});

/** `chroot` runs the command below another root, or a shell, which reads its input. */
export function chrootCommand(words: readonly Word[], inputs: readonly string[]): readonly Inner[] {
  const at = endOfOptions(words, /^--[gu][a-z]*$/);
  const inners = chrootArguments(words);
  return at + 1 < words.length ? inners : [...inners, ...scriptsIn(inputs, true)];
}

const SU_COMMAND = /^(?:-[a-zA-Z]*?c|--(?:c|se)[a-z-]*=?)/;
const SU_SHELL = /^(?:-[a-zA-Z]*?s|--sh[a-z]*=?)/;

/**
 * `su` runs the text after `-c`, or a shell, which reads its input. The last `-c` counts; behind `--` it is an option of
 * the shell, and its text follows all of the shell's options. The shell may be any program.
 */
export function suCommand(words: readonly Word[], inputs: readonly string[]): readonly Inner[] {
  const [option, ...others] = words.filter(
    ({ value }) => value.startsWith("-") && !/^-l?$|^--login$/.test(value),
  );
  const isKnown = others.length === 0 && (!option || /^-c$|^--command$/.test(option.value));
  const isUnclear = !isKnown || words.slice(1).some(isUncertain);
  const inners = shellOf(words);
  let texts = 0;
  for (let at = 1; at < words.length; at++) {
    const { value } = words[at] as Word;
    if (!SU_COMMAND.test(value)) continue;
    texts++;
    const attached = value.replace(SU_COMMAND, "");
    const next = attached ? plainWord(attached) : words[at + 1];
    if (next) inners.push(...scriptOf([next], { isPosix: true, isUnclear }));
    if (attached || !next?.value.startsWith("-")) continue;
    while (words[at + 1]?.value.startsWith("-")) at++;
    inners.push(...scriptOf(words.slice(at + 1, at + 2), { isPosix: true, isUnclear }));
  }
  return texts === 0 && inputs.length > 0 ? [...inners, ...scriptsIn(inputs, true)] : inners;
}

/** The program that an option names as the shell, with the arguments behind the name of the user. */
function shellOf(words: readonly Word[]): Inner[] {
  const at = words.findIndex(({ value }, index) => index > 0 && SU_SHELL.test(value));
  if (at === -1) return [];
  const attached = words[at]?.value.replace(SU_SHELL, "");
  const shell = attached ? plainWord(attached) : words[at + 1];
  if (!shell) return [];
  const rest = [...words.slice(1, at), ...words.slice(attached ? at + 1 : at + 2)];
  const operands = rest.filter(({ value }) => !/^-[lmpP]?$|^--$|^--login$/.test(value));
  const user = operands.findIndex(({ value }) => !value.startsWith("-"));
  return [{ words: [shell, ...operands.filter((_, index) => index !== user)], isUnclear: true }];
}
