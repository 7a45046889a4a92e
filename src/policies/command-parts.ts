/**
 * Takes a command text apart into the commands that it runs, in the forms that the rules of a policy compare. What a
 * rule for denials sees is wider than what a rule for permissions sees: it also gets the forms that only might be run.
 */
import {
  plainWord,
  roughCommands,
  type SimpleCommand,
  Unsplittable,
  type Word,
} from "./shell-command.ts";
import { scanShell } from "./shell-scanner.ts";
import type { StepBudget } from "./step-budget.ts";
import { type Inner, WRAPPERS } from "./wrappers.ts";

/** One way to write a command. */
export interface Form {
  readonly words: readonly string[];
  /** The same as one text, for exact patterns and globs. */
  readonly text: string;
}

/** Takes the commands of a text, one by one: a long text has too many to be kept. */
export interface Parts {
  /** Takes the forms of a command; a permission needs a rule for one form of every command. */
  required(forms: readonly Form[]): void;
  /** Takes a form of a command that is run, or might be; one denied form denies the text. */
  suspected(form: Form): void;
}

/** The most wrappers and texts inside one another. */
export const MAX_WRAPPERS = 8;

/** The steps for each character when a text is split. */
const SPLIT_STEPS = 10;

/** Variables that choose the programs, or the code, that a command runs. */
const DANGEROUS = /^(?:PATH|IFS|ENV|BASH_ENV|SHELLOPTS|PS4|PROMPT_COMMAND|LD_\w+|DYLD_\w+)\+?=/;
const NONE: readonly Word[] = [];
/** The paths of wrappers; at another path could be any program. */
const TRUSTED = /^(?:\/usr)?(?:\/local)?\/bin\/[^/]*$|^[^/]*$/;
const BRACES = /^\{([^{}]*,[^{}]*)\}$/;

/**
 * Splits a command.
 *
 * @param command a shell text, or the words of one command
 * @param work counts the characters
 * @returns whether the whole text was understood
 * @throws TooMuchWork when they exceed its limit
 */
export function splitCommand(
  command: string | readonly string[],
  parts: Parts,
  work: StepBudget,
): boolean {
  const splitter = new Splitter(parts, work);
  if (typeof command === "string") splitter.split(command, 0);
  else splitter.unwrap({ words: command.map(plainWord), assignments: [], inputs: [] }, 0);
  return splitter.isComplete;
}

class Splitter {
  isComplete = true;
  readonly #parts: Parts;
  readonly #work: StepBudget;

  constructor(parts: Parts, work: StepBudget) {
    this.#parts = parts;
    this.#work = work;
  }

  split(text: string, level: number): void {
    this.#work.spend(SPLIT_STEPS * text.length);
    const found = (command: SimpleCommand): void => this.unwrap(command, level);
    try {
      scanShell(text, found);
    } catch (error) {
      if (!(error instanceof Unsplittable)) throw error;
      this.isComplete = false;
      roughCommands(text, found);
    }
  }

  /** Adds a command, and those that it runs. */
  unwrap(command: SimpleCommand, level: number): void {
    const { words, assignments, inputs, source, isDoubtful } = command;
    const dangerous = assignments.length === 0 ? NONE : assignments.filter(isDangerous);
    const [program] = words;
    if (!program) {
      if (dangerous.length > 0) this.#add(dangerous, undefined, true);
      return;
    }
    const wrapper = WRAPPERS.get(baseName((program.bare ?? program.value).trim()));
    const inners = wrapper?.innersOf(words, inputs) ?? [];
    const mustBeAllowed =
      inners.length === 0 ||
      wrapper?.acts === true ||
      dangerous.length > 0 ||
      !TRUSTED.test(program.value);
    if (dangerous.length > 0) this.#suspect(words);
    const own = dangerous.length === 0 ? words : [...dangerous, ...words];
    this.#add(own, own === words ? source : undefined, mustBeAllowed && !isDoubtful);
    for (const inner of inners) {
      if (level === MAX_WRAPPERS) {
        this.#giveUp(inner);
      } else if ("script" in inner) {
        this.isComplete &&= !inner.isDynamic || isDoubtful === true;
        this.split(inner.script, level + 1);
      } else {
        const rest = { words: inner.words, assignments: [], inputs };
        this.unwrap(isDoubtful ? { ...rest, isDoubtful } : rest, level + 1);
      }
    }
  }

  /** Looks behind all further wrappers at once. */
  #giveUp(inner: Inner): void {
    this.isComplete = false;
    const found = ({ words }: Pick<SimpleCommand, "words">): void => {
      const at = words.findIndex(({ value }) => !WRAPPERS.has(baseName(value)));
      this.#suspect(words.slice(Math.max(at, 0)));
    };
    if ("script" in inner) roughCommands(inner.script, found);
    else found(inner);
  }

  #add(words: readonly Word[], source: string | undefined, isRequired: boolean): void {
    const form = this.#suspect(words);
    if (isRequired) this.#parts.required(this.#formsOf(words, form, source));
  }

  /** The forms of a command for permissions: without quotes, which is given, and as it was written. */
  #formsOf(
    words: readonly Word[],
    { words: values, text }: Form,
    source?: string,
  ): readonly Form[] {
    this.#work.spend(text.length);
    const raw = source ?? words.map((word) => word.raw).join(" ");
    if (words.every((word) => word.raw === word.value)) return [{ words: values, text: raw }];
    // Without its quotes, one word with a space would read like two.
    const isPlain = values.every((value) => value !== "" && !/\s/.test(value));
    return [{ words: values, text: isPlain ? text : raw }, formOf(raw)];
  }

  /**
   * Adds the forms of a command for denials: without quotes, which is returned, as it was written, and with empty
   * variables.
   */
  #suspect(words: readonly Word[]): Form {
    const form = this.#suspectWords(words.map(({ value }) => value));
    if (words.some(({ raw, value }) => raw !== value)) {
      this.#parts.suspected(formOf(words.map(({ raw }) => raw).join(" ")));
    }
    if (words.some(({ raw, bare }) => bare !== undefined || raw.startsWith("{"))) {
      this.#suspectWords(words.flatMap(({ raw, value, bare }) => expansionOf(raw, bare ?? value)));
    }
    return form;
  }

  #suspectWords(words: readonly string[]): Form {
    const [program = ""] = words;
    const text = words.join(" ");
    this.#work.spend(SPLIT_STEPS * text.length);
    const form = { words, text };
    this.#parts.suspected(form);
    const name = baseName(program);
    if (name !== program && name !== "") {
      const rest = words.slice(1);
      this.#parts.suspected({ words: [name, ...rest], text: name + text.slice(program.length) });
    }
    return form;
  }
}

function isDangerous({ raw }: Word): boolean {
  return DANGEROUS.test(raw);
}

/** A text as a form, split at white space alone. */
export function formOf(text: string): Form {
  return { words: text.split(/\s+/).filter((word) => word !== ""), text };
}

/** The words that a shell makes of one: of a list in braces its entries, and of an empty variable nothing. */
function expansionOf(raw: string, bare: string): readonly string[] {
  const [, list] = BRACES.exec(raw) ?? [];
  return (list?.split(",") ?? bare.split(" ")).filter((word) => word !== "");
}

/** The name of a program without its folder. */
function baseName(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1);
}
