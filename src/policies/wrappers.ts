/**
 * Programs that run another command, given as arguments or as a text. Only known options are read: with any other one it
 * is unclear which of the words is the command.
 */
import {
  fileCommand,
  GUARD_FILES,
  guardedCommand,
  STARTERS,
  startedCommand,
} from "./guarded-command.ts";
import { isHarmlessName } from "./harmless-variables.ts";
import { isSetting } from "./shell-builtins.ts";
import { isPattern, isUncertain, plainWord, type Word } from "./shell-command.ts";
import { chrootCommand, doasCommand, suCommand, sudoCommand } from "./user-wrappers.ts";
import {
  again,
  type Arguments,
  commandAfter,
  type Inner,
  innersAt,
  optionsOf,
  scriptAfter,
  scriptOf,
  scriptsIn,
} from "./wrapper-arguments.ts";

interface Wrapper {
  /** The commands that the program runs; empty if its arguments contain no command. */
  readonly innersOf: (words: readonly Word[], inputs: readonly string[]) => readonly Inner[];
  /** Whether the program itself has an effect, so that it must be allowed too. */
  readonly acts: boolean;
}

const NUMBER = "-?\\d+";
const FIND_ACTIONS: ReadonlySet<string> = new Set(["-exec", "-execdir", "-ok", "-okdir"]);
/** Stands for the arguments that `xargs` adds. With it, an exact pattern does not match the command without them. */
const MORE: Word = { raw: "{}", value: "{}", bare: "" };

const BASH = { isPosix: false, isOther: false };
const POSIX = { isPosix: true, isOther: false };
const OTHER = { isPosix: false, isOther: true };

/** The wrappers by name. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ["sudo", { acts: true, innersOf: sudoCommand }],
  ["doas", { acts: true, innersOf: doasCommand }],
  ["su", { acts: true, innersOf: suCommand }],
  ["find", { acts: true, innersOf: findActions }],
  ["trap", { acts: true, innersOf: trapAction }],
  ["chroot", { acts: true, innersOf: chrootCommand }],
  ["signalbox", { acts: true, innersOf: guardedCommand }],
  ...STARTERS.map((name) => [name, { acts: true, innersOf: startedCommand }] as const),
  ...GUARD_FILES.map((name) => [name, { acts: true, innersOf: fileCommand }] as const),
  ["env", { acts: false, innersOf: envCommand }],
  ["time", runs({ alone: /^-[pv]+$/, valued: /^-f$|^--format$/ })],
  ["nohup", runs({})],
  ["setsid", runs({ alone: /^-[cfw]+$|^--(?:ctty|fork|wait)$/ })],
  [
    "timeout",
    runs({
      alone:
        /^-v$|^--(?:foreground|preserve-status|verbose)$|^-[ks][\w.]+$|^--(?:kill-after|signal)=[\w.]+$/,
      valued: /^-[ks]$|^--(?:kill-after|signal)$/,
      operands: [/^\d+(?:\.\d+)?[smhd]?$/],
    }),
  ],
  ["nice", runs({ alone: numbered(`-n?${NUMBER}|--adjustment=${NUMBER}`), valued: /^-n$/ })],
  ["ionice", runs({ alone: /^-t$|^-[cn]\d$/, valued: /^-[cn]$/ })],
  ["stdbuf", runs({ alone: /^-[ioe]\w+$|^--(?:input|output|error)=\w+$/, valued: /^-[ioe]$/ })],
  ["busybox", runs({})],
  ["builtin", runs({})],
  // With `-c`, the program gets no variables, as from `env -i`.
  ["exec", runs({ alone: /^-l$/ })],
  ["command", { acts: false, innersOf: commandBuiltin }],
  ["xargs", { acts: false, innersOf: xargsCommand }],
  ["eval", { acts: false, innersOf: scriptAfter({}) }],
  ["watch", { acts: false, innersOf: watchCommand }],
  ...["bash", "rbash"].map((name) => shell(name, BASH)),
  ...["sh", "dash", "ash"].map((name) => shell(name, POSIX)),
  ...["zsh", "ksh", "mksh"].map((name) => shell(name, OTHER)),
]);

function shell(name: string, kind: typeof BASH) {
  return [name, { acts: false, innersOf: shellCommand(kind) }] as const;
}

function runs(settings: Arguments): Wrapper {
  return { acts: false, innersOf: commandAfter(settings) };
}

function numbered(alternatives: string): RegExp {
  return new RegExp(`^(?:${alternatives})$`);
}

const WATCH: Arguments = {
  alone: /^-[dtbegc]+$|^-n[\d.]+$|^--interval=[\d.]+$/,
  flags: /^-[dtbegcx]+$|^--exec$/,
  valued: /^-n$|^--interval$/,
};
const watchText = scriptAfter(WATCH);

/** With `-x`, the words are run as they are. */
function watchCommand(words: readonly Word[]): readonly Inner[] {
  const { at, isEndKnown } = optionsOf(words, WATCH);
  const isRun = words.slice(1, at).some(({ value }) => /^-[a-z]*x|^--exec$/.test(value));
  if (!isRun) return watchText(words);
  const inners = innersAt(words, at, true);
  return isEndKnown ? inners.slice(0, 1) : [...inners, ...again(words, at + 1)];
}

const ENV: Arguments = {
  alone: /^-u\w+$|^--unset=\w+$/,
  flags: /^-[iv0]+$|^--(?:ignore-environment|null|debug)$/,
  valued: /^-u$|^--unset$/,
  assigns: true,
};
const SPLIT_STRING = /^-(?:[iv0]*S|-s[a-z-]*=?)/;
const VALUED_BY_ENV = /^-[iv0]*[uCa]$|^--[uca][a-z0-9-]*$/;
const envArguments = commandAfter(ENV);
const ENV_WORD = plainWord("env");

/** Bash without a `PATH` looks for programs in the current directory too, and other variables may be there to protect. */
function envCommand(words: readonly Word[]): readonly Inner[] {
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
  const options = words.slice(1, optionsOf(words, ENV).at).map(({ value }) => value);
  const names = options.map((value) => value.replace(/^-u|^--unset=?|^--$/, ""));
  const isHarmless = names.every((name) => name === "" || isHarmlessName(name, true));
  const inners = envArguments(words);
  return isHarmless ? inners : inners.map((inner) => ({ ...inner, isUnclear: true }));
}

const plainArguments = commandAfter({ alone: /^-p$/ });

/** `command -v` only looks up a program and does not run it. */
function commandBuiltin(words: readonly Word[]): readonly Inner[] {
  return /^-p?[vV]p?$/.test(words[1]?.value ?? "") ? [] : plainArguments(words);
}

const XARGS: Arguments = {
  alone:
    /^-[0rtx]*(?:[nPLs]\d+|I\S+|d\S+)?$|^--(?:null|no-run-if-empty|verbose|exit)$|^--max-(?:args|procs|lines)=\d+$/,
  valued: /^-[0rtx]*[nPLsdI]$|^--(?:max-args|max-procs|max-chars|delimiter)$/,
};

/** The words in which `xargs -I` puts its input count as expanded: in a script they become commands. */
function xargsCommand(words: readonly Word[], inputs: readonly string[]): readonly Inner[] {
  const { at, isUnclear } = optionsOf(words, XARGS);
  if (at >= words.length) return innersAt(words, at, isUnclear);
  const options = words.slice(1, at).map(({ value }) => value);
  const isMark = (value: string): boolean => /^-[0rtx]*I/.test(value);
  const index = options.findIndex(isMark);
  const attached = options[index]?.replace(/^-[0rtx]*I/, "");
  const mark = attached === "" ? options[index + 1] : attached;
  // Letters could hide that the input replaces the program or its first arguments, and so could a second mark, which wins.
  const isSecond = options.slice(index + 1).some(isMark);
  const isHidden = mark !== undefined && (isSecond || !/^[^\w\s./-]+$/.test(mark));
  const own = words.slice(at).map((word) => withMark(word, mark));
  const inners = [...innersAt([...own, MORE], 0, isUnclear || isHidden)];
  // With `-a` and an empty file, the program runs without more arguments, and reads the input itself.
  if (inputs.length > 0) inners.push(...innersAt(own, 0, isUnclear || isHidden));
  return isUnclear ? [...inners, ...again(words, at + 1)] : inners;
}

function withMark(word: Word, mark: string | undefined): Word {
  if (!mark || !word.value.includes(mark)) return word;
  return { ...word, bare: (word.bare ?? word.value).replaceAll(mark, "") };
}

/** `trap ACTION SIGNAL…` sets an action. With one argument, or with `-`, it only removes or lists them. */
function trapAction(words: readonly Word[]): readonly Inner[] {
  // A shell could make an action and a signal of one word.
  if (words.slice(1).some(isUncertain)) {
    return scriptOf(words.slice(1), { isPosix: true, isUnclear: true });
  }
  const at = words[1]?.value === "--" ? 2 : 1;
  const isAction = words.length > at + 1 && !/^-[lp]?$/.test(words[at]?.value ?? "");
  return scriptOf(isAction ? words.slice(at, at + 1) : [], { isPosix: true });
}

/** Words of `find` that stay one word, and no option, whatever their variable contains. */
const QUOTED_PATH = /^"(?:[\w./~][^"@]*|\$\w+\/[^"$`]*)"$|^"\$\w+"\/[\w./-]*$/;

/** Patterns of which a shell makes names of files and no option of `find`. */
const PATH_PATTERN = /^(?:[\w./~]|\*\.\w+$)/;

/** Whether a shell can make an option of a word of `find`. */
function mayBeOption(word: Word): boolean {
  if (word.bare !== undefined) return !QUOTED_PATH.test(word.raw);
  return isPattern(word) && !PATH_PATTERN.test(word.raw);
}

function findActions(words: readonly Word[]): readonly Inner[] {
  const inners: Inner[] = [];
  // A shell can make the end of a command of `";"*`, and nothing of `x*` in `{} x* +`.
  const hasActions = words.some(({ value }) => FIND_ACTIONS.has(value));
  const isUnclear = words
    .slice(1)
    .some((word) => (hasActions && isPattern(word)) || mayBeOption(word));
  if (isUnclear) inners.push({ words: [], isUnclear: true });
  for (let at = 1; at < words.length; at++) {
    if (!FIND_ACTIONS.has(words[at]?.value ?? "")) continue;
    const start = at + 1;
    for (; at < words.length && words[at]?.value !== ";"; at++) {
      if (words[at]?.value === "+" && words[at - 1]?.value === "{}") break;
    }
    if (at > start) {
      const own = words.slice(start, at).map((word) => withMark(word, "{}"));
      inners.push({ words: own, isUnclear: false });
    }
  }
  return inners;
}

/** The text after `-c`, or the here-document that a shell without arguments reads. */
function shellCommand({ isPosix, isOther }: typeof BASH) {
  return (words: readonly Word[], inputs: readonly string[]): readonly Inner[] => {
    let isUnclear = false;
    let readsText = false;
    let readsInput = false;
    let at = 1;
    for (; at < words.length; at++) {
      const word = words[at] as Word;
      const { value } = word;
      if (value === "--" || value === "-") {
        at++;
        break;
      }
      if (!/^[-+]/.test(value)) break;
      if (value.startsWith("--")) {
        isUnclear ||= !/^--(?:login|norc|noprofile)$/.test(value) || isUncertain(word);
        if (value === "--rcfile" || value === "--init-file") at++;
        continue;
      }
      readsText ||= value.includes("c");
      readsInput ||= value.includes("s");
      isUnclear ||=
        isUncertain(word) || !isSetting(value.replace(/[clis]/g, ""), words[at + 1]?.value);
      at += value.replace(/[^oO]/g, "").length; // the next words are names of shell options
    }
    if (!readsText && !readsInput && at < words.length) {
      return isUnclear ? [{ words: [], isUnclear }] : [];
    }
    isUnclear ||= isOther || (readsText && readsInput); // `dash` reads both
    if (readsText) return scriptOf(words.slice(at, at + 1), { isPosix, isUnclear });
    return scriptsIn(inputs, isPosix);
  };
}
