/** Reads the arguments of programs that run a command or a shell as another user. */
import { isUncertain, plainWord, type Word } from "./shell-command.ts";
import {
  type Arguments,
  commandAfter,
  type Inner,
  optionsOf,
  scriptOf,
  scriptsIn,
} from "./wrapper-arguments.ts";

/** Each option of `sudo` and `doas` with a value, to find out whether there is a command behind the options. */
const VALUED_ANYHOW =
  /^-[a-zA-Z]*[aCDghpRrTtuU]$|^--(?:user|group|host|prompt|ch(?:dir|root)|close-from|command-timeout|role|type)$/;
const SHELL_OPTION = /^-[a-zA-Z]*[is]|^--(?:login|shell)$/;

function commandOrShell(settings: Arguments) {
  const commandOf = commandAfter(settings);
  return (words: readonly Word[], inputs: readonly string[]): readonly Inner[] => {
    if (inputs.length === 0) return commandOf(words);
    const { at } = optionsOf(words, { valued: VALUED_ANYHOW });
    const isShell = words.slice(1, at).some(({ value }) => SHELL_OPTION.test(value));
    const readsInput = isShell && at >= words.length;
    return [...commandOf(words), ...(readsInput ? scriptsIn(inputs, true) : [])];
  };
}

/** `sudo` runs the command as another user, or with `-i` and `-s` a shell, which reads its input. */
export const sudoCommand = commandOrShell({
  alone:
    /^-[nEHkSb]+$|^--(?:non-interactive|preserve-env|set-home|stdin|background)$|^--(?:user|group)=\w+$/,
  valued: /^-[nEHkSb]*[ugp]$|^--(?:user|group|prompt)$/,
  assigns: true,
});

/** The same for `doas`. */
export const doasCommand = commandOrShell({ alone: /^-n$/, valued: /^-u$/ });

const SU_COMMAND = /^(?:-[a-z]*?c|--(?:c|se)[a-z-]*=?)/;

/** `su` runs the text after `-c`, or a shell, which reads its input. */
export function suCommand(words: readonly Word[], inputs: readonly string[]): readonly Inner[] {
  const at = words.findIndex(({ value }) => SU_COMMAND.test(value));
  const [option, ...others] = words.filter(
    ({ value }) => value.startsWith("-") && !/^-l?$|^--login$/.test(value),
  );
  const isKnown = others.length === 0 && (!option || /^-c$|^--command$/.test(option.value));
  const isUnclear = !isKnown || words.slice(1).some(isUncertain);
  if (at === -1 && inputs.length > 0) return scriptsIn(inputs, true);
  const attached = words[at]?.value.replace(SU_COMMAND, "");
  const script = attached ? [plainWord(attached)] : words.slice(at + 1, at + 2);
  return scriptOf(at === -1 ? [] : script, { isPosix: true, isUnclear });
}
