/**
 * Splits a command text into the commands that it runs, in the forms that rules compare. Denying rules also get forms
 * that only might be run; allowing rules do not.
 */
import { withoutStackTraces } from "../stack-traces.ts";
import type { StepBudget } from "../step-budget.ts";
import { examineBuiltin } from "./builtins.ts";
import {
  ExpandedForm,
  expandedWords,
  type Form,
  isExpandable,
  NamedForm,
  UnquotedForm,
  WrittenForm,
} from "./command-form.ts";
import {
  assignmentIn,
  givenWord,
  roughCommands,
  type Found,
  type SimpleCommand,
  Unsplittable,
  type Word,
} from "./command.ts";
import { ShellDoubts } from "./doubts.ts";
import { isHarmlessAssignment } from "./harmless-variables.ts";
import { withoutLeadingOptions } from "./leading-options.ts";
import { scanShell } from "./scanner.ts";
import type { Inner } from "./wrapper-arguments.ts";
import { WRAPPERS } from "./wrappers.ts";

/** Receives the commands of a text one by one: a long text has too many to keep them. */
export interface Parts {
  /** Receives the forms of a command. A text is allowed if rules allow at least one form of each command. */
  required(forms: readonly Form[]): void;
  /** Receives a form of a command that is run or might be run. One denied form denies the whole text. */
  suspected(form: Form): void;
}

/** The deepest nesting of wrappers and their texts. */
export const MAX_WRAPPERS = 8;

/** The steps for each character when a text is split. */
const SPLIT_STEPS = 10;
/** The steps for each piece of a text that cannot be split: most are given up by an error. */
const PIECE_STEPS = 500;

/** The operators that Bash reads otherwise than other POSIX shells. Found in quotes they only cost an allow rule. */
const NOT_POSIX =
  /&>|\btime\s+\d*[<>]|\$'|<<<|\|&|;&|[<>]\(|\d\d[<>]|\w\+=|\b(?:function|select|builtin)\s/;
const NONE: readonly never[] = [];
const NO_INNERS: readonly Inner[] = [];
/** The characters at which `read` splits its line. */
const SEPARATORS = /^IFS=(?:\$?'[^']*'|"[^"$`\\]*"|[\w,:;|.-]*)$/;
/** The trusted paths of wrappers. A program of the same name at another path could do anything. */
const TRUSTED = /^(?:(?:\/usr)?(?:\/local)?\/bin\/)?[^/\s]*$/;

/**
 * Splits a command.
 *
 * @param command a shell text, or the words of one command
 * @param work counts the characters
 * @returns the reason why the text cannot be split, as in "an array"; `undefined` if it was split
 * @throws TooMuchWork when they exceed its limit
 */
export function splitCommand(
  command: string | readonly string[],
  parts: Parts,
  work: StepBudget,
): string | undefined {
  const splitter = new Splitter(parts, work);
  withoutStackTraces(() => {
    if (typeof command === "string") splitter.split(command, 0);
    else splitter.unwrap({ words: command.map(givenWord), assignments: [], inputs: [] }, 0);
  });
  return splitter.doubt;
}

class Splitter {
  readonly #doubts = new ShellDoubts();
  readonly #parts: Parts;
  readonly #work: StepBudget;
  /** The receivers of commands, by the nesting of wrappers. Kept, because there can be many nested texts. */
  readonly #receivers: Found[] = [];

  constructor(parts: Parts, work: StepBudget) {
    this.#parts = parts;
    this.#work = work;
  }

  /** The reason why the text cannot be split. */
  get doubt(): string | undefined {
    return this.#doubts.first;
  }

  /** @param inherited the input of the program that runs the text; its commands may read it */
  split(text: string, level: number, inherited: readonly string[] = NONE): void {
    this.#work.spend(SPLIT_STEPS * text.length);
    const own = this.#receiver(level);
    const found: Found =
      inherited.length === 0
        ? own
        : (one) => own(one.inputs.length > 0 ? one : { ...one, inputs: inherited });
    try {
      scanShell(text, found, this.#doubts);
    } catch (error) {
      if (!(error instanceof Unsplittable)) throw error;
      this.#splitRoughly(text, found, "incomplete or unusual syntax");
      // In nested texts, each layer would be scanned three times.
      if (level === 0) this.#scanPieces(text, found);
    }
  }

  #receiver(level: number): Found {
    return (this.#receivers[level] ??= (command) => {
      this.unwrap(command, level);
      this.#unwrapExpanded(command, level);
    });
  }

  #splitRoughly(text: string, found: Found, doubt: string): void {
    this.#doubts.raise(doubt);
    roughCommands(text, found);
  }

  /** Finds commands for deny rules in the pieces of a text that are shell texts by themselves. */
  #scanPieces(text: string, found: Found): void {
    this.#work.spend(SPLIT_STEPS * text.length);
    for (const piece of text.split(/[;\n]/)) {
      if (piece.length === text.length) return;
      if (piece === "") continue;
      this.#work.spend(PIECE_STEPS);
      try {
        scanShell(piece, (one) => found({ ...one, isDoubtful: true }), this.#doubts);
      } catch (error) {
        if (!(error instanceof Unsplittable)) throw error;
      }
    }
  }

  /** Adds a command, and the commands that it runs. */
  unwrap(command: SimpleCommand, level: number): void {
    const { words, assignments, inputs, outputs, source, isDoubtful } = command;
    const [program] = words;
    const isPlain = assignments.length === 0 && !outputs?.length;
    const front = isPlain ? NONE : this.#frontOf(command);
    if (!program) {
      if (front.length > 0) this.#add(front, undefined, true);
      return;
    }
    if (isExpandable(program)) this.#unwrapBehindEmpty(command, level);
    const name = baseName(program.bare ?? program.value);
    if (!isDoubtful) {
      examineBuiltin(name, words, this.#doubts);
      if (program.bare?.includes(" ")) this.#doubts.raise("$IFS in the name of a program");
      // Rules write real assignments in the same way.
      if (assignmentIn(program.value)) this.#doubts.raise("a program named as an assignment");
    }
    const wrapper = WRAPPERS.get(program.raw === name ? name : name.trim());
    const inners = wrapper?.innersOf(words, inputs) ?? NO_INNERS;
    const mustBeAllowed =
      inners.length === 0 ||
      wrapper?.acts === true ||
      front.length > 0 ||
      program.bare !== undefined || // an expansion makes it another program
      !TRUSTED.test(program.value);
    if (front.length > 0) this.#suspect(words);
    const own = front.length === 0 ? words : [...front, ...words];
    this.#add(own, own === words ? source : undefined, mustBeAllowed && !isDoubtful);
    for (const inner of inners) {
      if (inner.isUnclear && !isDoubtful) this.#doubts.raise(`${name} with these arguments`);
      if (level === MAX_WRAPPERS) {
        this.#giveUp(inner);
      } else if ("script" in inner) {
        const { script, isPosix } = inner;
        if (isPosix && NOT_POSIX.test(script)) {
          this.#splitRoughly(script, this.#receiver(level + 1), `syntax of Bash in ${name} -c`);
        }
        this.split(script, level + 1, inputs);
        if (isDoubtful) this.#unwrapWithoutQuotes(script, command, level + 1);
      } else {
        const rest = { words: inner.words, assignments: inner.assignments ?? NONE, inputs };
        const isUnsure = isDoubtful ?? inner.isUnclear;
        if (inner.isAgain) this.#work.spend(PIECE_STEPS);
        const nextLevel = inner.isAgain ? level : level + 1;
        this.unwrap(isUnsure ? { ...rest, isDoubtful: true } : rest, nextLevel);
      }
    }
  }

  /** Looks into a script that may have lost its quotes, as in `bash -c git push`: all words from its first one. */
  #unwrapWithoutQuotes(script: string, { words, inputs }: SimpleCommand, level: number): void {
    const begin = words.findIndex(({ value }, at) => at > 0 && value === script);
    if (begin < 0) return;
    this.unwrap({ words: words.slice(begin), assignments: NONE, inputs, isDoubtful: true }, level);
  }

  /** Looks into a wrapper that the shell makes of expansions, as in `env$IFS-i` and `bash $empty -c`. */
  #unwrapExpanded({ words, inputs }: SimpleCommand, level: number): void {
    if (!words.some(isExpandable)) return;
    const [first] = words;
    // Expanding all words takes longer than the rest, and few programs are wrappers.
    if (first && !isExpandable(first) && !WRAPPERS.has(baseName(first.value))) return;
    const expanded = words.flatMap(expandedWords);
    const name = baseName(expanded[0]?.value ?? "");
    if (expanded[0] !== first) examineBuiltin(name, expanded, this.#doubts);
    if (!WRAPPERS.has(name)) return;
    this.unwrap({ words: expanded, assignments: NONE, inputs, isDoubtful: true }, level);
  }

  /** Looks into a wrapper behind empty words, as in `$SUDO timeout $T rm x`, where only `$SUDO` is taken for empty. */
  #unwrapBehindEmpty({ words, inputs }: SimpleCommand, level: number): void {
    const begin = words.findIndex((word) => expandedWords(word).length > 0);
    if (begin <= 0) return;
    this.unwrap({ words: words.slice(begin), assignments: NONE, inputs, isDoubtful: true }, level);
  }

  /** The assignments and redirections that a rule must write to allow a command. */
  #frontOf({ words, assignments, outputs = NONE }: SimpleCommand): readonly Word[] {
    // Bash evaluates the subscript of an element.
    if (assignments.some(isElement)) this.#doubts.raise("an array");
    const isExported = words.length > 0;
    const isRead = words[0]?.raw === "read";
    const isHarmless = (word: Word): boolean =>
      isHarmlessAssignment(word, isExported) || (isRead && SEPARATORS.test(word.raw));
    return [...assignments.filter((word) => !isHarmless(word)), ...outputs];
  }

  /** Adds the command inside all further wrappers, without reading their options. */
  #giveUp(inner: Inner): void {
    this.#doubts.raise("too many nested wrappers");
    const found = ({ words }: Pick<SimpleCommand, "words">): void => {
      const at = words.findIndex(({ value }) => !WRAPPERS.has(baseName(value)));
      this.#suspect(words.slice(Math.max(at, 0)));
    };
    if ("script" in inner) roughCommands(inner.script, found);
    else found(inner);
  }

  #add(words: readonly Word[], source: string | undefined, isRequired: boolean): void {
    const { length, isPlain } = this.#suspect(words);
    if (!isRequired) return;
    this.#work.spend(length);
    if (isPlain) {
      this.#parts.required([new UnquotedForm(words, source)]);
    } else {
      const written = new WrittenForm(source ?? words);
      this.#parts.required([new UnquotedForm(words, written), written]);
    }
  }

  /** Adds the forms for denying rules: without quotes, as written, with empty variables, and without options in front. */
  #suspect(words: readonly Word[]) {
    let length = Math.max(words.length - 1, 0);
    let isPlain = true;
    let isExpanded = false;
    for (const word of words) {
      length += word.value.length;
      isPlain &&= word.raw === word.value;
      isExpanded ||= isExpandable(word);
    }
    this.#suspectForm(new UnquotedForm(words), length);
    if (!isPlain) this.#parts.suspected(new WrittenForm(words));
    if (isExpanded) this.#suspectForm(new ExpandedForm(words), length);
    for (const written of isExpanded ? [words, words.flatMap(expandedWords)] : [words]) {
      for (const left of withoutLeadingOptions(written)) {
        this.#suspectForm(new UnquotedForm(left), left.length);
      }
    }
    return { length, isPlain };
  }

  /** Adds a form of a command, and the same form with the program's name instead of its path. */
  #suspectForm(form: Form, length: number): void {
    this.#work.spend(SPLIT_STEPS * length);
    this.#parts.suspected(form);
    const program = form.wordAt(0) ?? "";
    const name = baseName(program);
    if (name !== program && name !== "") this.#parts.suspected(new NamedForm(form, program, name));
  }
}

/** Whether a word assigns a value to an element of an array. */
function isElement({ raw, value }: Word): boolean {
  return (assignmentIn(raw) ?? assignmentIn(value))?.includes("[") === true;
}

/** The name of a program without its folder. */
function baseName(program: string): string {
  return program.includes("/") ? program.slice(program.lastIndexOf("/") + 1) : program;
}
