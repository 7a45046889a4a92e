/**
 * Examines the builtins of Bash that evaluate their arguments once more, set variables, or change how the shell reads its
 * text. An argument that is not known to be harmless raises a doubt.
 */
import { beginsPlainly, isPattern, isUncertain, type Word } from "./shell-command.ts";
import type { ShellDoubts } from "./shell-doubts.ts";

const NAME = /^[A-Za-z_]\w*$/;
const DECLARATION = /^[A-Za-z_]\w*(?:\+?=|$)/;
/** Variables of Bash whose values it evaluates, at once or later. */
const EVALUATED =
  /^(?:PS4|RANDOM|SRANDOM|OPTIND|HISTCMD|BASH_\w+|COMP_\w+|COMPREPLY|COPROC|DIRSTACK|FUNCNAME|GROUPS|MAPFILE|PIPESTATUS)\b/;
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
    /^[-+][abefhnuvxCET]*o?$/.test(option) && (!option.endsWith("o") || SETTINGS.has(name ?? ""))
  );
}

type Examine = (words: readonly Word[], doubts: ShellDoubts) => void;

const raise: Examine = (_, doubts) => doubts.raise();
const EXAMINED: ReadonlyMap<string, Examine> = new Map<string, Examine>([
  ["test", (words, doubts) => examineTest(words.slice(1), doubts)],
  ["[", examineBracket],
  ["printf", examinePrintf],
  ["read", examineRead],
  // Without a `PATH`, Bash looks for programs in the current directory.
  ["unset", (words, doubts) => examineEach(words, /^-[vf]$/, /^(?!PATH$)[A-Za-z_]\w*$/, doubts)],
  ["jobs", (words, doubts) => examineEach(words, /^-[lnprs]+$/, /^%\w+$/, doubts)],
  ...["declare", "typeset", "local", "export", "readonly"].map(
    (name) => [name, examineDeclaration] as const,
  ),
  ["wait", (words, doubts) => examineEach(words, /^-n$/, /^"?(?:\d+|\$!|%\d+)"?$/, doubts)],
  ["set", examineSet],
  ["shopt", (words, doubts) => examineEach(words, /^-[su]$/, GLOB_SETTINGS, doubts)],
  ["[[", examineCondition],
  ...["let", "getopts", "mapfile", "readarray", "alias", "hash", "enable"].map(
    (name) => [name, raise] as const,
  ),
  ...["compgen", "complete", "bind", "fc"].map((name) => [name, raise] as const),
]);

/** Examines a builtin and its arguments. */
export function examineBuiltin(name: string, words: readonly Word[], doubts: ShellDoubts): void {
  EXAMINED.get(name)?.(words, doubts);
}

/**
 * Examines a condition in `[[ ]]`, whose grammar is not that of commands and which evaluates numbers and subscripts. Only
 * one comparison of plain operands is known.
 */
function examineCondition(words: readonly Word[], doubts: ShellDoubts): void {
  const [first, second, third, ...more] = words.slice(words[1]?.raw === "!" ? 2 : 1, -1);
  const isUnary = third === undefined && /^-[a-uw-zA-QS-Z]$/.test(first?.raw ?? "");
  const isBinary = isPlainOperand(first) && /^(?:==?|!=)$/.test(second?.raw ?? "");
  const isPlain = isPlainOperand(isUnary ? second : third) && more.length === 0;
  if (!(isUnary || isBinary) || !isPlain || words.at(-1)?.raw !== "]]") doubts.raise();
}

function isPlainOperand(word: Word | undefined): boolean {
  return /^(?:[\w./:-]+|\$\w+|"[\w ./:$-]*")$/.test(word?.raw ?? "");
}

/** Examines `[`. A variable at its end could become more words and the `]`. */
function examineBracket(words: readonly Word[], doubts: ShellDoubts): void {
  if (words.at(-1)?.raw !== "]") doubts.raise();
  examineTest(words.slice(1, -1), doubts);
}

/** Examines `test`: variables and substitutions may only stand where the command cannot take them for operators. */
function examineTest(words: readonly Word[], doubts: ShellDoubts): void {
  if (words.some(isPattern)) return doubts.raise();
  const isKnown = words.every(({ bare }) => bare === undefined);
  for (const [at, { value }] of words.entries()) {
    if (/^-[vR]$/.test(value) && !NAME.test(words[at + 1]?.raw ?? "")) return doubts.raise();
  }
  if (isKnown) return;
  let at = 0;
  for (;;) {
    while (words[at]?.raw === "!") at++;
    const [first, second, third] = words.slice(at, at + 3);
    if (first && second && third && BINARY.test(second.raw)) {
      if (!isOneWord(first) || !isOneWord(third)) break;
      at += 3;
    } else if (first && second && UNARY.test(first.raw)) {
      if (!isOneWord(second)) break;
      at += 2;
    } else {
      if (!first || !isOneWord(first)) break;
      at++;
    }
    if (at === words.length) return;
    if (!/^-[ao]$/.test(words[at]?.raw ?? "")) break;
    at++;
  }
  doubts.raise();
}

/** Whether a shell makes exactly one word of a word, as it does of quoted expansions. */
function isOneWord({ raw, bare }: Word): boolean {
  return bare === undefined || ONE_WORD.test(raw);
}

function examinePrintf([, first, name]: readonly Word[], doubts: ShellDoubts): void {
  if (!first) return;
  if (first.raw === "-v" && NAME.test(name?.raw ?? "")) return doubts.set(name?.raw ?? "");
  if (isUncertain(first) ? !beginsPlainly(first) : first.value.startsWith("-v")) doubts.raise();
}

function examineRead(words: readonly Word[], doubts: ShellDoubts): void {
  for (let at = 1; at < words.length; at++) {
    const { raw } = words[at] as Word;
    const next = words[at + 1];
    if (/^-[rse]*[ptndNu]$/.test(raw) && !(next && isUncertain(next))) at++;
    else if (/^-[rse]+$/.test(raw)) continue;
    else if (NAME.test(raw)) doubts.set(raw);
    else return doubts.raise();
  }
}

function examineDeclaration(words: readonly Word[], doubts: ShellDoubts): void {
  for (const { raw } of words.slice(1)) {
    const isKnown = /^-[gxrpf]+$/.test(raw) || (DECLARATION.test(raw) && !EVALUATED.test(raw));
    if (!isKnown) return doubts.raise();
  }
}

function examineSet(words: readonly Word[], doubts: ShellDoubts): void {
  for (let at = 1; at < words.length; at++) {
    const word = words[at] as Word;
    const { raw } = word;
    if (raw === "--") return;
    if (/^[-+]/.test(raw) ? !isSetting(raw, words[at + 1]?.raw) : !beginsPlainly(word)) {
      return doubts.raise();
    }
    if (/^[-+].*o$/.test(raw)) at++;
  }
}

function examineEach(words: readonly Word[], options: RegExp, values: RegExp, doubts: ShellDoubts) {
  const isKnown = words.slice(1).every(({ raw }) => options.test(raw) || values.test(raw));
  if (!isKnown) doubts.raise();
}
