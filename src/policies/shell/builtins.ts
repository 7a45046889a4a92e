/**
 * Examines the builtins of Bash that evaluate their arguments once more, set variables, or change how the shell reads its
 * text. An argument that is not known to be harmless raises a doubt.
 */
import { beginsPlainly, isPattern, isUncertain, type Word } from "./command.ts";
import type { ShellDoubts } from "./doubts.ts";

const NAME = /^[A-Za-z_]\w*$/;
const DECLARATION = /^[A-Za-z_]\w*(?:\+?=|$)/;
/** Variables of Bash whose values it evaluates, at once or later. */
const EVALUATED =
  /^(?:PS4|RANDOM|SRANDOM|SECONDS|OPTIND|HISTCMD|BASHPID|BASH_\w+|COMP_\w+|COMPREPLY|COPROC|DIRSTACK|FUNCNAME|GROUPS|MAPFILE|PIPESTATUS)\b/;
/** Expansions of which a shell makes one word. */
const ONE_WORD = /^(?:"[^"@]*"|\$[#?!$]|\$\{#[A-Za-z_]\w*\})$/;
const UNARY = /^-[a-zA-Z]$/;
const BINARY = /^(?:==?|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;
/** The settings of a shell that change nothing about how it reads its text. */
const SETTINGS = new Set(
  "errexit nounset pipefail xtrace verbose noglob noclobber noexec errtrace functrace".split(" "),
);

const GLOB_SETTINGS = /^(?:null|fail|dot|nocase)glob$|^globstar$/;

/** Whether a word switches harmless settings of a shell on or off; `o` at its end takes the next word, their name. */
export function isSetting(option: string, name: string | undefined): boolean {
  return (
    /^[-+][befhnuvxCET]*o?$/.test(option) && (!option.endsWith("o") || SETTINGS.has(name ?? ""))
  );
}

/** Whether the arguments of a builtin are known to be harmless. */
type Examine = (words: readonly Word[], doubts: ShellDoubts) => boolean;

const EXAMINED: ReadonlyMap<string, Examine> = new Map<string, Examine>([
  ["test", (words) => isPlainTest(words.slice(1))],
  ["[", (words) => words.at(-1)?.raw === "]" && isPlainTest(words.slice(1, -1))],
  ["[[", isPlainCondition],
  ["printf", examinePrintf],
  ["read", examineRead],
  // Without a `PATH`, Bash looks for programs in the current directory.
  ["unset", (words) => isEach(words, /^-[vf]$/, /^(?!PATH$)[A-Za-z_]\w*$/)],
  ["jobs", (words) => isEach(words, /^-[lnprs]+$/, /^%\w+$/)],
  ...["declare", "typeset", "local", "export", "readonly"].map(
    (name) => [name, isPlainDeclaration] as const,
  ),
  ["wait", (words) => isEach(words, /^-n$/, /^"?(?:\d+|\$!|%\d+)"?$/)],
  ["set", isPlainSet],
  ["shopt", (words) => isEach(words, /^-[su]$/, GLOB_SETTINGS)],
  ...["let", "getopts", "mapfile", "readarray", "alias", "hash", "enable"].map(
    (name) => [name, () => false] as const,
  ),
  ...["compgen", "complete", "bind", "fc"].map((name) => [name, () => false] as const),
]);

/** Examines a builtin and its arguments. */
export function examineBuiltin(name: string, words: readonly Word[], doubts: ShellDoubts): void {
  if (EXAMINED.get(name)?.(words, doubts) === false) doubts.raise(`${name} with these arguments`);
}

/**
 * Examines a condition in `[[ ]]`, whose grammar is not that of commands and which evaluates numbers and subscripts. Only
 * one comparison of plain operands is known.
 */
function isPlainCondition(words: readonly Word[]): boolean {
  const [first, second, third, ...more] = words.slice(words[1]?.raw === "!" ? 2 : 1, -1);
  const isUnary = third === undefined && /^-[a-uw-zA-QS-Z]$/.test(first?.raw ?? "");
  const isBinary = isPlainOperand(first) && /^(?:==?|!=)$/.test(second?.raw ?? "");
  const isPlain = isPlainOperand(isUnary ? second : third) && more.length === 0;
  return (isUnary || isBinary) && isPlain && words.at(-1)?.raw === "]]";
}

function isPlainOperand(word: Word | undefined): boolean {
  return /^(?:[\w./:-]+|\$\w+|"[\w ./:$-]*")$/.test(word?.raw ?? "");
}

/** Examines `test`: variables and substitutions may only stand where the command cannot take them for operators. */
function isPlainTest(words: readonly Word[]): boolean {
  if (words.some(isPattern)) return false;
  const isKnown = words.every(({ bare }) => bare === undefined);
  for (const [at, { value }] of words.entries()) {
    if (/^-[vR]$/.test(value) && !NAME.test(words[at + 1]?.raw ?? "")) return false;
  }
  if (isKnown) return true;
  let at = 0;
  for (;;) {
    while (words[at]?.raw === "!") at++;
    const [first, second, third] = words.slice(at, at + 3);
    if (first && second && third && BINARY.test(second.raw)) {
      if (!isOneWord(first) || !isOneWord(third)) return false;
      at += 3;
    } else if (first && second && UNARY.test(first.raw)) {
      if (!isOneWord(second)) return false;
      at += 2;
    } else {
      if (!first || !isOneWord(first)) return false;
      at++;
    }
    if (at === words.length) return true;
    if (!/^-[ao]$/.test(words[at]?.raw ?? "")) return false;
    at++;
  }
}

/** Whether a shell makes exactly one word of a word, as it does of quoted expansions. */
function isOneWord({ raw, bare }: Word): boolean {
  return bare === undefined || ONE_WORD.test(raw);
}

/**
 * Examines the format of `printf`, which sets variables by `-v` and `%n`. A word that a shell could split, or take for an
 * option, may hold both.
 */
function examinePrintf(words: readonly Word[], doubts: ShellDoubts): boolean {
  let at = 1;
  if (words[at]?.raw === "-v" && NAME.test(words[at + 1]?.raw ?? "")) {
    doubts.set(words[at + 1]?.raw ?? "");
    at += 2;
  }
  const isBehindOptions = words[at]?.raw === "--";
  if (isBehindOptions) at++;
  const format = words[at];
  if (!format) return true;
  if (!isBehindOptions && !beginsPlainly(format)) return false;
  if (!isOneWord(format) || isPattern(format)) return false;
  const hasArguments = at + 1 < words.length;
  if (isUncertain(format)) return !hasArguments;
  return !hasArguments || !/%[^%A-Za-z]*[hlLjzt]*n/.test(format.value.replaceAll("%%", ""));
}

function examineRead(words: readonly Word[], doubts: ShellDoubts): boolean {
  for (let at = 1; at < words.length; at++) {
    const { raw } = words[at] as Word;
    const next = words[at + 1];
    if (/^-[rse]*[nNtu]\d+$/.test(raw)) continue;
    else if (/^-[rse]*[ptndNu]$/.test(raw) && !(next && isUncertain(next))) at++;
    else if (/^-[rse]+$/.test(raw)) continue;
    else if (NAME.test(raw)) doubts.set(raw);
    else return false;
  }
  return true;
}

/** Examines a declaration. An exported function is not plain: other shells read the print of it. */
function isPlainDeclaration(words: readonly Word[]): boolean {
  return words
    .slice(1)
    .every(({ raw }) => /^-[gxrp]+$/.test(raw) || (DECLARATION.test(raw) && !EVALUATED.test(raw)));
}

function isPlainSet(words: readonly Word[]): boolean {
  for (let at = 1; at < words.length; at++) {
    const word = words[at] as Word;
    const { raw } = word;
    if (raw === "--") return true;
    if (/^[-+]/.test(raw) ? !isSetting(raw, words[at + 1]?.raw) : !beginsPlainly(word)) {
      return false;
    }
    if (/^[-+].*o$/.test(raw)) at++;
  }
  return true;
}

function isEach(words: readonly Word[], options: RegExp, values: RegExp): boolean {
  return words.slice(1).every(({ raw }) => options.test(raw) || values.test(raw));
}
