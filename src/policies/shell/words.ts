/** Reads the words of a shell text. */
import { assignmentIn, plainWord, Unsplittable, type Word, WordBuilder } from "./command.ts";
import { ExpansionReader } from "./expansions.ts";

// Classes of characters; the end of the text is ordinary.
const ORDINARY = 0;
const QUOTING = 1; // quotes, backslash, dollar and back-tick
const OPERATOR = 2;
const SPACE = 3; // blank or line feed

const classes = new Uint8Array(128);
for (const char of "\\'\"$`") classes[char.charCodeAt(0)] = QUOTING;
for (const char of ";&|()<>") classes[char.charCodeAt(0)] = OPERATOR;
for (const char of " \t\n") classes[char.charCodeAt(0)] = SPACE;

/** Adds the rules for words to those for quotes and expansions. `shell-scanner.ts` adds those for commands. */
export abstract class WordReader extends ExpansionReader {
  /** Skips blanks, comments and line feeds. */
  protected abstract skipLines(): void;

  /** Reads the word here if it has neither quotes nor expansions. */
  protected unquotedWord(): string | undefined {
    const start = this.at;
    this.at = ordinaryEnd(this.text, start);
    if (this.at === start) return undefined;
    if (this.classHere() === QUOTING && !this.#isContinuedBeforeSpace()) return undefined;
    return this.text.slice(start, this.at);
  }

  /** Whether a line is continued here with a space, so that the word ends. */
  #isContinuedBeforeSpace(): boolean {
    return /^\\\n[ \t\n]/.test(this.text.slice(this.at, this.at + 3));
  }

  /** The class of the character here. */
  protected classHere(): number {
    if (this.at >= this.text.length) return ORDINARY; // to index by NaN is slow
    return classes[this.text.charCodeAt(this.at)] ?? ORDINARY;
  }

  /**
   * Reads a word.
   *
   * @throws Unsplittable if no word begins here
   */
  protected word(): Word {
    const { text, at: start } = this;
    let from = start;
    let word: WordBuilder | undefined;
    for (;;) {
      this.at = ordinaryEnd(text, this.at);
      const found = this.classHere();
      if (found === ORDINARY || found === SPACE) break; // ordinary: the end of the text
      const isQuoting = found === QUOTING;
      const isSubstitution = !isQuoting && this.#isSubstitution();
      if (!isQuoting && !isSubstitution) {
        if (text[this.at] !== "(") break;
        if (!isAssignment((word?.value ?? "") + text.slice(from, this.at))) break;
      }
      word ??= new WordBuilder();
      if (this.at > from) word.add(text.slice(from, this.at));
      if (isQuoting) this.piece(word);
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
    if (this.text[this.at] === "(") this.doubts.raise("two parentheses"); // Bash counts them, whatever is between them
    this.substitution();
    word.addDynamic(this.text.slice(start, this.at));
  }

  /** Reads the list of an assignment to an array. Bash evaluates subscripts, and some values, once more. */
  #array(word: WordBuilder): void {
    this.doubts.raise("an array");
    this.enter();
    const start = this.at++;
    for (this.skipLines(); this.text[this.at] !== ")"; this.skipLines()) this.word();
    this.at++;
    this.depth--;
    word.add(this.text.slice(start, this.at));
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
