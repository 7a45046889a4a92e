/** Reads the words of a shell text: quotes, variables, and the substitutions that contain commands of their own. */
import { decodeAnsiC } from "./ansi-c-quotes.ts";
import {
  assignmentIn,
  plainWord,
  type Found,
  Unsplittable,
  type Word,
  WordBuilder,
} from "./shell-command.ts";

/** The deepest nesting of groups and substitutions. */
export const MAX_SHELL_DEPTH = 32;

// Classes of characters; the end of the text is ordinary.
export const ORDINARY = 0;
const QUOTING = 1; // quotes, backslash, dollar and back-tick
export const OPERATOR = 2;
export const SPACE = 3; // blank or line feed

const classes = new Uint8Array(128);
for (const char of "\\'\"$`") classes[char.charCodeAt(0)] = QUOTING;
for (const char of ";&|()<>") classes[char.charCodeAt(0)] = OPERATOR;
for (const char of " \t\n\r") classes[char.charCodeAt(0)] = SPACE;

const VARIABLE = /[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]/y;

/** A position in a shell text, and the rules for words. `shell-scanner.ts` adds those for commands. */
export abstract class WordReader {
  protected readonly text: string;
  protected readonly found: Found;
  protected at = 0;
  protected depth: number;

  constructor(text: string, found: Found, depth: number) {
    this.text = text;
    this.found = found;
    this.depth = depth;
  }

  /** Reads commands up to a closing word, and returns that word. */
  protected abstract list(closers: readonly string[]): string;
  /** Skips blanks, comments and line feeds. */
  protected abstract skipLines(): void;
  /** Reads the commands of a nested text whose escapes were removed. */
  protected abstract inner(text: string): void;

  protected enter(): void {
    if (++this.depth > MAX_SHELL_DEPTH) throw new Unsplittable();
  }

  protected take(token: string): string {
    this.at += token.length;
    return token;
  }

  /** Reads the word here if it has neither quotes nor expansions. */
  protected unquotedWord(): string | undefined {
    const start = this.at;
    this.at = ordinaryEnd(this.text, start);
    if (this.at === start || this.classHere() === QUOTING) return undefined;
    return this.text.slice(start, this.at);
  }

  /** The class of the character here. */
  protected classHere(): number {
    return classes[this.text.charCodeAt(this.at)] ?? ORDINARY;
  }

  /**
   * Reads a word.
   *
   * @param end the class of the characters that end the word, besides space
   * @throws Unsplittable if no word begins here
   */
  protected word(end: typeof OPERATOR | typeof SPACE): Word {
    const { text, at: start } = this;
    let from = start;
    let word: WordBuilder | undefined;
    for (;;) {
      this.at = ordinaryEnd(text, this.at);
      const found = this.classHere();
      if (found === ORDINARY || found === SPACE) break; // ordinary: the end of the text
      if (found === OPERATOR && end === SPACE) {
        this.at++;
        continue;
      }
      const isQuoting = found === QUOTING;
      const isSubstitution = !isQuoting && this.#isSubstitution();
      if (!isQuoting && !isSubstitution) {
        if (text[this.at] !== "(") break;
        if (!isAssignment((word?.value ?? "") + text.slice(from, this.at))) break;
      }
      word ??= new WordBuilder();
      if (this.at > from) word.add(text.slice(from, this.at));
      if (isQuoting) this.#piece(word);
      else if (isSubstitution) this.#processSubstitution(word);
      else this.#array(word);
      from = this.at;
    }
    if (this.at === start) throw new Unsplittable();
    const raw = text.slice(start, this.at);
    if (!word) return plainWord(raw);
    if (this.at > from) word.add(text.slice(from, this.at));
    return { raw, value: word.value, bare: word.isDynamic ? word.bare : undefined };
  }

  /** Whether `<(` or `>(` begins here. */
  #isSubstitution(): boolean {
    const char = this.text[this.at];
    return (char === "<" || char === ">") && this.text[this.at + 1] === "(";
  }

  #processSubstitution(word: WordBuilder): void {
    const start = this.at;
    this.at += 2;
    this.list([")"]);
    word.addDynamic(this.text.slice(start, this.at));
  }

  /** Reads the list of an assignment to an array. */
  #array(word: WordBuilder): void {
    this.enter();
    const start = this.at++;
    for (this.skipLines(); this.text[this.at] !== ")"; this.skipLines()) this.word(OPERATOR);
    this.at++;
    this.depth--;
    word.add(this.text.slice(start, this.at));
  }

  /** Reads a quoted or expanded piece of a word. */
  #piece(word: WordBuilder): void {
    switch (this.text[this.at]) {
      case "'":
        return word.add(this.#singleQuoted());
      case '"':
        return this.#doubleQuoted(word);
      case "`":
        return this.#backTicks(word, false);
      case "$":
        return this.#dollar(word, false);
      default: {
        const escaped = this.text[this.at + 1];
        if (escaped === undefined) throw new Unsplittable();
        if (escaped !== "\n") word.add(escaped);
        this.at += 2;
      }
    }
  }

  #singleQuoted(): string {
    const end = this.text.indexOf("'", this.at + 1);
    if (end === -1) throw new Unsplittable();
    const content = this.text.slice(this.at + 1, end);
    this.at = end + 1;
    return content;
  }

  #doubleQuoted(word: WordBuilder): void {
    this.at++;
    while (this.text[this.at] !== '"') this.quotedPiece(word);
    this.at++;
  }

  /** Reads one piece inside double quotes, or of a here-document. */
  protected quotedPiece(word: WordBuilder): void {
    const start = this.at;
    for (; this.at < this.text.length; this.at++) {
      const char = this.text[this.at];
      if (char === "$" || char === "`" || char === "\\" || char === '"') break;
    }
    if (this.at > start) return word.add(this.text.slice(start, this.at));
    const next = this.text[this.at + 1] ?? "";
    switch (this.text[this.at]) {
      case "$":
        return this.#dollar(word, true);
      case "`":
        return this.#backTicks(word, true);
      case "\\":
        if (next !== "\n") word.add(next !== "" && '$`"\\'.includes(next) ? next : `\\${next}`);
        this.at += 2;
        return;
      case '"': // in a here-document, which has no other quotes
        return word.add(this.take('"'));
      default:
        throw new Unsplittable();
    }
  }

  /** Reads an expansion, or a quoted text, that begins with a dollar sign. */
  #dollar(word: WordBuilder, isQuoted: boolean): void {
    const start = this.at;
    const next = this.text[start + 1];
    if (!isQuoted && next === "'") {
      const [decoded, end] = decodeAnsiC(this.text, start + 2);
      if (end === -1) throw new Unsplittable();
      this.at = end;
      return word.add(decoded);
    }
    if (!isQuoted && next === '"') {
      this.at++;
      return this.#doubleQuoted(word);
    }
    if (next === "(") {
      const isArithmetic = this.text[start + 2] === "(" && this.isArithmetic(start + 3);
      this.at += isArithmetic ? 3 : 2;
      if (isArithmetic) this.arithmetic();
      else this.list([")"]);
    } else if (next === "{") {
      this.at += 2;
      this.#parameter(isQuoted);
    } else {
      VARIABLE.lastIndex = start + 1;
      if (!VARIABLE.test(this.text)) return word.add(this.take("$"));
      this.at = VARIABLE.lastIndex;
    }
    const raw = this.text.slice(start, this.at);
    const isSpace = !isQuoted && raw.includes("IFS") && /^\$\{?IFS\b/.test(raw);
    word.addDynamic(raw, isSpace ? " " : "");
  }

  /** Reads a parameter expansion, which may contain commands, after its `${`. */
  #parameter(isQuoted: boolean): void {
    this.enter();
    while (this.text[this.at] !== "}") this.#skipPiece(isQuoted);
    this.at++;
    this.depth--;
  }

  /** Whether the two parentheses before `from` are closed by `))`, as in arithmetic. */
  protected isArithmetic(from: number): boolean {
    let depth = 2;
    for (let at = from; at < this.text.length; at++) {
      const char = this.text[at];
      if (char === "\\") at++;
      else if (char === "'" || char === '"') {
        const end = this.text.indexOf(char, at + 1);
        if (end === -1) break;
        at = end;
      } else if (char === "(") depth++;
      else if (char === ")" && --depth === 1) return this.text[at + 1] === ")";
    }
    // An unclosed parenthesis makes the whole text incomplete, so no further search is needed.
    throw new Unsplittable();
  }

  /** Reads arithmetic, which may contain commands, after its `((`. */
  protected arithmetic(): void {
    this.enter();
    for (let depth = 2; depth > 0;) {
      const char = this.text[this.at];
      if (char === "(") depth++;
      if (char === ")") depth--;
      this.#skipPiece(false);
    }
    this.depth--;
  }

  /** Skips a character or a quoted piece, and reads the commands in it. */
  #skipPiece(isQuoted: boolean): void {
    const ignored = new WordBuilder();
    const char = this.text[this.at];
    if (char === undefined) throw new Unsplittable();
    if (char === "\\") this.at += 2;
    else if (char === '"') this.#doubleQuoted(ignored);
    else if (char === "'" && !isQuoted) this.#singleQuoted();
    else if (char === "$") this.#dollar(ignored, isQuoted);
    else if (char === "`") this.#backTicks(ignored, isQuoted);
    else this.at++;
  }

  /** Reads a substitution in back-ticks: removes its escapes, then reads the text between them. */
  #backTicks(word: WordBuilder, isQuoted: boolean): void {
    const start = this.at++;
    for (; this.text[this.at] !== "`"; this.at++) {
      if (this.text[this.at] === "\\") this.at++;
      if (this.at >= this.text.length) throw new Unsplittable();
    }
    const content = this.text.slice(start + 1, this.at++);
    const escapes = isQuoted ? /\\([`$\\"])/g : /\\([`$\\])/g;
    this.inner(content.includes("\\") ? content.replace(escapes, "$1") : content);
    word.addDynamic(this.text.slice(start, this.at));
  }
}

/** The position of the first character, from a position on, that is not ordinary. */
function ordinaryEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && (classes[text.charCodeAt(at)] ?? ORDINARY) === ORDINARY) at++;
  return at;
}

function isAssignment(text: string): boolean {
  return assignmentIn(text) === text;
}
