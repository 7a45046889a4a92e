/**
 * Programs that run another command, given as arguments or as a text. Only known options are read: with any other one it
 * is unclear which of the words is the command.
 */
import { isSetting } from "./builtins.ts";
import { isPattern, isUncertain, type Word } from "./command.ts";
import { envCommand } from "./env-wrapper.ts";
import {
  fileCommand,
  GUARD_FILES,
  guardedCommand,
  STARTERS,
  startedCommand,
} from "./guarded-command.ts";
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
  [
    "time",
    runs({
      alone: /^-[pv]+$/,
      flags: /^-[pvahlq]+$|^--(?:append|portability|quiet|verbose)$|^--(?:format|output)=/,
      valued: /^-f$|^--format$/,
      valuedFlags: /^-[pvahlq]*[fo]$|^--output$/,
    }),
  ],
  ["nohup", runs({})],
  ["setsid", runs({ alone: /^-[cfw]+$|^--(?:ctty|fork|wait)$/ })],
  [
    "timeout",
    runs({
      alone:
        /^-v$|^--(?:foreground|preserve-status|verbose)$|^-[ks][\w.]+$|^--(?:kill-after|signal)=[\w.]+$/,
      flags: /^-[vfp]+$|^--(?:kill-after|signal)=/,
      valued: /^-[ks]$|^--(?:kill-after|signal)$/,
      operands: [/^\d+(?:\.\d+)?[smhd]?$/],
    }),
  ],
  [
    "nice",
    runs({
      alone: numbered(`-n?${NUMBER}|--adjustment=${NUMBER}`),
      valued: /^-n$/,
      valuedFlags: /^--adjustment$/,
    }),
  ],
  [
    "ionice",
    runs({
      alone: /^-t$|^-[cn]\d$/,
      flags: /^-t?[cn]\w+$|^--(?:class|classdata)=|^--ignore$/,
      valued: /^-[cn]$/,
      valuedFlags: /^-t[cn]$|^--(?:class|classdata)$/,
    }),
  ],
  [
    "stdbuf",
    runs({
      alone: /^-[ioe]\w+$|^--(?:input|output|error)=\w+$/,
      valued: /^-[ioe]$/,
      valuedFlags: /^--(?:input|output|error)$/,
    }),
  ],
  ["busybox", runs({})],
  ["builtin", runs({})],
  // With `-c`, the program gets no variables, as from `env -i`.
  ["exec", runs({ alone: /^-l$/ })],
  ["command", { acts: false, innersOf: commandBuiltin }],
  ["xargs", { acts: false, innersOf: xargsCommand }],
  ["source", { acts: true, innersOf: sourceCommand }],
  [".", { acts: true, innersOf: sourceCommand }],
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
  flags:
    /^-[dtbegcxpw]+$|^--(?:beep|chgexit|color|differences|errexit|exec|no-title|no-wrap|precise)$|^--differences=/,
  valued: /^-n$|^--interval$/,
  valuedFlags: /^-[tbegcxpw]+n$/,
};
const watchText = scriptAfter(WATCH);

/** With `-x`, the words are run as they are. In `-dx` and `-sx`, the letter may be the value before it. */
function watchCommand(words: readonly Word[]): readonly Inner[] {
  const { at, isEndKnown } = optionsOf(words, WATCH);
  const options = words.slice(1, at).map(({ value }) => value);
  if (!options.some((value) => /^-[a-z]*x|^--exec$/.test(value))) return watchText(words);
  const isSurelyRun = options.some((value) => /^-[bcegptw]*x|^--exec$/.test(value));
  const inners = innersAt(words, at, true);
  const runs = isEndKnown ? inners.slice(0, 1) : [...inners, ...again(words, at + 1)];
  return isSurelyRun ? runs : [...runs, ...watchText(words)];
}

const plainArguments = commandAfter({ alone: /^-p$/ });

/** `command -v` only looks up a program and does not run it. */
function commandBuiltin(words: readonly Word[]): readonly Inner[] {
  return /^-p?[vV]p?$/.test(words[1]?.value ?? "") ? [] : plainArguments(words);
}

const XARGS: Arguments = {
  alone:
    /^-[0rtx]*(?:[nPLs]\d+|I\S+|d\S+)?$|^--(?:null|no-run-if-empty|verbose|exit)$|^--max-(?:args|procs|lines)=\d+$/,
  flags:
    /^-[0rtxop]*(?:[ie]\S*|[aE]\S+|l\d*|[nPLs]\d+)?$|^--(?:interactive|open-tty|replace|eof|max-lines)$|^--(?:arg-file|delimiter|eof|max-\w+|process-slot-var|replace)=/,
  valued: /^-[0rtx]*[nPLsdI]$|^--(?:max-args|max-procs|max-chars|delimiter)$/,
  valuedFlags: /^-[0rtxop]*[aEnPLsd]$|^--(?:arg-file|process-slot-var)$/,
};

/** The options that name the text that the input replaces: the next word, or `{}`, if they are without one. */
const MARK = /^-[0rtxop]*[Ii]|^--replace(?:=|$)/;

/** The words in which `xargs -I` puts its input count as expanded: in a script they become commands. */
function xargsCommand(words: readonly Word[], inputs: readonly string[]): readonly Inner[] {
  const { at, isUnclear, isEndKnown } = optionsOf(words, XARGS);
  if (at >= words.length) return innersAt(words, at, isUnclear);
  const options = words.slice(1, at).map(({ value }) => value);
  const isMark = (value: string): boolean => MARK.test(value);
  const index = options.findIndex(isMark);
  const attached = options[index]?.replace(MARK, "");
  const next = /I$/.test(options[index] ?? "") ? words[index + 2]?.value : "{}";
  const mark = attached === "" ? next : attached;
  // Letters could hide that the input replaces the program or its first arguments, and so could a second mark, which wins.
  const isSecond = options.slice(index + 1).some(isMark);
  const isHidden = mark !== undefined && (isSecond || !/^[^\w\s./-]+$/.test(mark));
  const own = words.slice(at).map((word) => withMark(word, mark));
  // A program's name without the mark, as in `-I ID docker rm ID`, stays as it is.
  const isKept = mark !== undefined && !isSecond && /^\w+$/.test(mark) && own[0] === words[at];
  const isSure = isEndKnown && (!isHidden || isKept);
  const inners = innersAt([...own, MORE], 0, isUnclear || isHidden).slice(0, isSure ? 1 : 2);
  // Most kinds of `xargs` keep the name of the program as it is.
  if (isHidden) {
    inners.push(...innersAt([...words.slice(at), MORE], 0, true).slice(0, isEndKnown ? 1 : 2));
  }
  // With `-a` and an empty file, the program runs without more arguments, and reads the input itself.
  if (inputs.length > 0)
    inners.push(...innersAt(own, 0, isUnclear || isHidden).slice(0, isSure ? 1 : 2));
  return isEndKnown ? inners : [...inners, ...again(words, at + 1)];
}

function withMark(word: Word, mark: string | undefined): Word {
  if (!mark || !word.value.includes(mark)) return word;
  return { ...word, bare: (word.bare ?? word.value).replaceAll(mark, "") };
}

/** `trap ACTION SIGNAL…` sets an action. With one argument, or with `-`, it only removes or lists them. */
function trapAction(words: readonly Word[]): readonly Inner[] {
  const at = words[1]?.value === "--" ? 2 : 1;
  // A shell could make an action and a signal of one word.
  if (words.slice(at).some(isUncertain)) {
    return scriptOf(words.slice(at), { isPosix: true, isUnclear: true });
  }
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

/**
 * Whether a word may name the input of the program as a file. `/dev/stdin` and `/proc/self/fd/0` have many other
 * spellings, such as `/dev/./stdin`, and any file descriptor may be the input, so only the last part of the name counts.
 */
function mayBeInput(word: Word): boolean {
  const name = word.value.slice(word.value.lastIndexOf("/") + 1);
  return /^(?:stdin|\d+)$/.test(name) || (isUncertain(word) && !/^[\w.-]+$/.test(name));
}

/** `source` runs the text of a file, which may be the input under any name, in the same shell. */
function sourceCommand(_: readonly Word[], inputs: readonly string[]): readonly Inner[] {
  return scriptsIn(inputs, false);
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
    const file = words[at];
    const isInput = !file || (inputs.length > 0 && mayBeInput(file));
    if (!readsText && !readsInput && !isInput) {
      return isUnclear ? [{ words: [], isUnclear }] : [];
    }
    isUnclear ||= isOther || (readsText && readsInput); // `dash` reads both
    if (readsText) return scriptOf(words.slice(at, at + 1), { isPosix, isUnclear });
    return scriptsIn(inputs, isPosix);
  };
}
