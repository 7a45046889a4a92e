/**
 * The forms of a command that rules compare. A long text has very many forms, and most rules compare only the first
 * words of a command. So lists of words and texts are made when a rule first needs them.
 */
import { plainWord, type Word } from "./command.ts";

/** One way to write a command. */
export interface Form {
  /** The word at a position, from 0. */
  wordAt(position: number): string | undefined;
  /** The command as one text, for exact patterns and globs. */
  readonly text: string;
}

/** The variable in which Bash puts the number of a file, as in `{name}> file`. It is no word of the command. */
const FILE_VARIABLE = /^\{[A-Za-z_]\w*(?:\[[^]*\])?\}$/;
/** The first part holds no comma: otherwise a text of commas would take the square of its length. */
const BRACES = /^\{([^{},]*,[^{}]*)\}$/;
/** The arguments, or the entries or keys of an array, each a word of its own: no word if there is none. */
const QUOTED_LIST = /^"\$(?:@|\{(?:@|!?\w+\[@\]|!\w+@)[^"}]*\})"$/;
/** An expansion that never becomes empty: with a default value, or an error in its place. */
const NEVER_EMPTY = /\$\{\w+:(?:\?|-[^}])/;

/** The words of a command without their quotes. */
export class UnquotedForm implements Form {
  readonly #words: readonly Word[];
  readonly #written: string | Form | undefined;
  #text: string | undefined;

  /**
   * @param written the text, or the form whose text is used if a word contains spaces: without its quotes, such a word
   *   would look like two words
   */
  constructor(words: readonly Word[], written?: string | Form) {
    this.#words = words;
    this.#written = written;
  }

  wordAt(position: number): string | undefined {
    return this.#words[position]?.value;
  }

  get text(): string {
    return (this.#text ??= this.#makeText());
  }

  #makeText(): string {
    const written = this.#written;
    if (typeof written === "string") return written;
    const values = this.#words.map(({ value }) => value);
    const readsLikeOthers = (value: string): boolean => value === "" || /\s/.test(value);
    return written && values.some(readsLikeOthers) ? written.text : values.join(" ");
  }
}

/** A text that is split only at white space. */
export class WrittenForm implements Form {
  readonly #written: string | readonly Word[];
  #text: string | undefined;
  #words: readonly string[] | undefined;

  /** @param written a text, or words with their quotes */
  constructor(written: string | readonly Word[]) {
    this.#written = written;
  }

  wordAt(position: number): string | undefined {
    return (this.#words ??= splitAtSpace(this.text))[position];
  }

  get text(): string {
    const written = this.#written;
    if (typeof written === "string") return written;
    return (this.#text ??= written.map(({ raw }) => raw).join(" "));
  }
}

/** The words after a shell's expansions: a list in braces becomes its entries, and variables are taken as empty. */
export class ExpandedForm implements Form {
  readonly #source: readonly Word[];
  #words: readonly string[] | undefined;

  constructor(words: readonly Word[]) {
    this.#source = words;
  }

  wordAt(position: number): string | undefined {
    return (position === 0 ? this.#program() : undefined) ?? this.#expanded[position];
  }

  get text(): string {
    return this.#expanded.join(" ");
  }

  /** The first word if it needs no expansion. It is read most often, so the other words are not expanded for it. */
  #program(): string | undefined {
    const [first] = this.#source;
    if (!first || isExpandable(first) || first.value === "") return undefined;
    return first.value.includes(" ") ? undefined : first.value;
  }

  get #expanded(): readonly string[] {
    return (this.#words ??= this.#source.flatMap(expansionOf));
  }
}

/** A form in which the program's name replaces its path. */
export class NamedForm implements Form {
  readonly #form: Form;
  readonly #path: string;
  readonly #name: string;

  constructor(form: Form, path: string, name: string) {
    this.#form = form;
    this.#path = path;
    this.#name = name;
  }

  wordAt(position: number): string | undefined {
    return position === 0 ? this.#name : this.#form.wordAt(position);
  }

  get text(): string {
    return this.#name + this.#form.text.slice(this.#path.length);
  }
}

/** Whether a shell may expand a word to other words. */
export function isExpandable({ raw, bare }: Word): boolean {
  return bare !== undefined || raw.startsWith("{");
}

/** The words that a shell may make of a word. One that begins with a double quote stays one word, unless it is a list. */
export function expandedWords(word: Word): readonly Word[] {
  const { raw, bare } = word;
  if (!isExpandable(word)) return [word];
  const isOne = bare !== undefined && raw.startsWith('"') && !QUOTED_LIST.test(raw);
  // Of one variable, it more likely has a value than is an empty argument.
  if (isOne && (bare === "" || NEVER_EMPTY.test(raw))) return [word];
  return (isOne ? [bare] : expansionOf(word)).map(plainWord);
}

function expansionOf({ raw, value, bare }: Word): readonly string[] {
  if (FILE_VARIABLE.test(raw)) return [];
  const [, list] = BRACES.exec(raw) ?? [];
  return (list?.split(",") ?? (bare ?? value).split(" ")).filter((word) => word !== "");
}

/** The words of a text, split at white space. */
export function splitAtSpace(text: string): readonly string[] {
  return text.split(/[ \t\r\n]+/).filter((word) => word !== "");
}
