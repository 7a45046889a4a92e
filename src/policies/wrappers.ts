/** Programs that run another command, given as arguments or as a text. */
import { assignmentIn, type Word } from "./shell-command.ts";

/** A command inside another one. */
export type Inner =
  | { readonly words: readonly Word[] }
  | {
      readonly script: string;
      /** Whether the shell expands variables or substitutions in the text before the program reads it. */
      readonly isDynamic: boolean;
    };

interface Wrapper {
  /** The commands that the program runs; empty if its arguments contain no command. */
  readonly innersOf: (words: readonly Word[], inputs: readonly string[]) => readonly Inner[];
  /** Whether the program itself has an effect, so that it must be allowed too. */
  readonly acts: boolean;
}

interface Arguments {
  /** The options that take the next word as their value. */
  readonly valued?: string;
  /** The number of arguments before the command. */
  readonly operands?: number;
  /** Whether `NAME=value` may stand before the command. */
  readonly assigns?: boolean;
}

const SUDO =
  "-u -g -h -p -C -T -R -D -r -t -U --user --group --host --prompt --close-from --command-timeout --chroot --chdir --role --type --other-user";
const XARGS = namesIn(
  "-I -n -P -L -d -E -s -a --max-args --max-procs --max-lines --delimiter --arg-file --max-chars",
);
const FIND_ACTIONS: ReadonlySet<string> = new Set(["-exec", "-execdir", "-ok", "-okdir"]);
const SHELLS = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash"];
/** Stands for the arguments that `xargs` adds. With it, an exact pattern does not match the command without them. */
const MORE: Word = { raw: "{}", value: "{}", bare: undefined };

/** The wrappers by name. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ["sudo", { acts: true, innersOf: commandAfter({ valued: SUDO, assigns: true }) }],
  ["doas", { acts: true, innersOf: commandAfter({ valued: "-u -C" }) }],
  ["su", { acts: true, innersOf: suCommand }],
  ["find", { acts: true, innersOf: findActions }],
  [
    "trap",
    { acts: true, innersOf: (words) => scriptOf(words.length > 2 ? words.slice(1, 2) : []) },
  ],
  ["chroot", { acts: true, innersOf: commandAfter({ operands: 1 }) }],
  ["env", { acts: false, innersOf: envCommand }],
  ["time", runs({ valued: "-f -o --format --output" })],
  ["nohup", runs({})],
  ["setsid", runs({})],
  ["timeout", runs({ valued: "-k -s --kill-after --signal", operands: 1 })],
  ["nice", runs({ valued: "-n --adjustment" })],
  ["ionice", runs({ valued: "-c -n --class --classdata" })],
  ["stdbuf", runs({ valued: "-i -o -e --input --output --error" })],
  ["busybox", runs({})],
  ["builtin", runs({})],
  ["exec", runs({ valued: "-a" })],
  ["command", { acts: false, innersOf: commandBuiltin }],
  ["xargs", { acts: false, innersOf: xargsCommand }],
  ["eval", { acts: false, innersOf: scriptAfter("") }],
  ["watch", { acts: false, innersOf: scriptAfter("-n --interval") }],
  ...SHELLS.map((name) => [name, { acts: false, innersOf: shellCommand }] as const),
]);

function runs(settings: Arguments): Wrapper {
  return { acts: false, innersOf: commandAfter(settings) };
}

function commandAfter({ valued = "", operands = 0, assigns = false }: Arguments) {
  const takesValue = namesIn(valued);
  return (words: readonly Word[]): readonly Inner[] => {
    let at = optionsEnd(words, takesValue) + operands;
    if (assigns) while (assignmentIn(words[at]?.value ?? "") !== undefined) at++;
    return at < words.length ? [{ words: words.slice(at) }] : [];
  };
}

function namesIn(names: string): ReadonlySet<string> {
  return new Set(names.split(" "));
}

/** The position of the first word after a program and its options. */
function optionsEnd(words: readonly Word[], takesValue: ReadonlySet<string>): number {
  let at = 1;
  for (; at < words.length; at++) {
    const value = words[at]?.value ?? "";
    if (!value.startsWith("-")) break;
    if (value === "--") return at + 1;
    if (takesValue.has(value)) at++;
  }
  return at;
}

function scriptOf(words: readonly Word[]): readonly Inner[] {
  if (words.length === 0) return [];
  const script = words.map(({ value }) => value).join(" ");
  return [{ script, isDynamic: words.some(({ bare }) => bare !== undefined) }];
}

function scriptAfter(valued: string) {
  const takesValue = namesIn(valued);
  return (words: readonly Word[]) => scriptOf(words.slice(optionsEnd(words, takesValue)));
}

const envArguments = commandAfter({ valued: "-u -C --unset --chdir", assigns: true });

function envCommand(words: readonly Word[]): readonly Inner[] {
  for (let at = 1; at < words.length; at++) {
    const { raw, value, bare } = words[at] as Word;
    const isOption = value.startsWith("-");
    if (isOption && /^-(?:\w*S|-split-string)/.test(value)) {
      const attached = value.replace(/^-(?:\w*?S|-split-string=?)/, "");
      return scriptOf([{ raw, value: attached, bare }, ...words.slice(at + 1)]);
    }
    if (!isOption && !value.includes("=")) break;
  }
  return envArguments(words);
}

const plainArguments = commandAfter({});

/** `command -v` only looks up a program and does not run it. */
function commandBuiltin(words: readonly Word[]): readonly Inner[] {
  return /^-\w*v/i.test(words[1]?.value ?? "") ? [] : plainArguments(words);
}

function xargsCommand(words: readonly Word[]): readonly Inner[] {
  const at = optionsEnd(words, XARGS);
  return at < words.length ? [{ words: [...words.slice(at), MORE] }] : [];
}

function suCommand(words: readonly Word[]): readonly Inner[] {
  const at = words.findIndex(({ value }) => value === "-c" || value === "--command");
  return at === -1 ? [] : scriptOf(words.slice(at + 1, at + 2));
}

function findActions(words: readonly Word[]): readonly Inner[] {
  const inners: Inner[] = [];
  for (let at = 1; at < words.length; at++) {
    if (!FIND_ACTIONS.has(words[at]?.value ?? "")) continue;
    const start = at + 1;
    while (at < words.length && words[at]?.value !== ";" && words[at]?.value !== "+") at++;
    if (at > start) inners.push({ words: words.slice(start, at) });
  }
  return inners;
}

/** The text after `-c`, or the here-document that a shell without arguments reads. */
function shellCommand(words: readonly Word[], inputs: readonly string[]): readonly Inner[] {
  let readsText = false;
  let at = 1;
  for (; at < words.length; at++) {
    const value = words[at]?.value ?? "";
    if (value === "--" || value === "-") {
      at++;
      break;
    }
    if (!/^[-+]/.test(value)) break;
    if (value === "--rcfile" || value === "--init-file") at++;
    else if (!value.startsWith("--")) {
      readsText ||= value.includes("c");
      if (value.includes("o")) at++; // the next word is the name of a shell option
    }
  }
  if (readsText) return scriptOf(words.slice(at, at + 1));
  if (at < words.length) return [];
  return inputs.slice(-1).map((script) => ({ script, isDynamic: /[$`]/.test(script) }));
}
