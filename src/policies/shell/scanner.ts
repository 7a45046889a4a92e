/**
 * Finds the simple commands of a shell text, as a POSIX shell or Bash would run them. It takes linear time: it reads each
 * character once, apart from nested back-ticks, whose texts are read again without their escapes, to a bounded depth.
 */
import {
  assignmentIn,
  isReserved,
  plainWord,
  type Found,
  Unsplittable,
  type Word,
} from "./command.ts";
import { ARITHMETIC, type ShellDoubts } from "./doubts.ts";
import { type Redirections, RedirectionReader } from "./redirections.ts";

const END = "the end";
const NONE: readonly never[] = [];
/** The options of the keyword `time`. */
const TIME_OPTIONS = /(?:[ \t]+-p)?(?:[ \t]+--)?(?![^\s;&|()<>])/y;

/** A range from capital to small letters, or back: Bash makes a backslash and a back-tick of it, among others. */
const MIXED_RANGE = /\{(?:[A-Z]\.\.[a-z]|[a-z]\.\.[A-Z])/;

/** Bash uses two of these characters as marks in its own texts, where they take the meaning of the next character away. */
const CONTROL = /[^\P{Cc}\t\n]/u;
/** Given to a shell, these become U+FFFD: two different delimiters of a here-document become one. */
const UNPAIRED = /\p{Cs}/u;

/** By character code: 1 if the character ends a simple command. */
const isEnd = new Uint8Array(128);
for (const char of "\n;&|)") isEnd[char.charCodeAt(0)] = 1;

/**
 * Finds the simple commands of a text.
 *
 * @param found receives the commands; those inside a substitution come before the command around it
 * @param doubts receives the reasons why the text may run more than these commands
 * @throws Unsplittable if the text is not a complete shell program; `found` has received the commands before the fault
 */
export function scanShell(text: string, found: Found, doubts: ShellDoubts): void {
  // Programs other than Bash take a carriage return for space.
  if (text.includes("\0") || text.includes("\r")) throw new Unsplittable();
  if (CONTROL.test(text)) doubts.raise("a control character");
  if (UNPAIRED.test(text)) doubts.raise("an unpaired surrogate");
  if (text.includes("..") && MIXED_RANGE.test(text.replaceAll("\\\n", ""))) {
    doubts.raise("a range of letters in braces");
  }
  new ShellScanner(text, found, doubts, 0).program();
}

class ShellScanner extends RedirectionReader {
  program(): void {
    this.list([END]);
    this.reportWaiting();
  }

  protected readerOf(text: string): ShellScanner {
    return new ShellScanner(text, this.found, this.doubts, this.depth);
  }

  protected inner(text: string): void {
    this.readerOf(text).program();
  }

  protected list(closers: readonly string[]): string {
    this.enter();
    for (;;) {
      this.skipSpace();
      const char = this.text[this.at];
      let closer: string | undefined;
      if (char !== undefined && char !== "\n" && char !== ")") this.elements++;
      if (char === undefined) closer = END;
      else if (char === "\n") this.newLine();
      else if (char === ")") closer = this.take(")");
      else if (char === ";") closer = this.#semicolons();
      else if (char === "|" || (char === "&" && this.text[this.at + 1] !== ">")) this.at++;
      else if (char === "(") this.#parentheses();
      else closer = this.#command();
      if (closer === undefined) continue;
      if (!closers.includes(closer)) throw new Unsplittable();
      this.depth--;
      return closer;
    }
  }

  #semicolons(): string | undefined {
    const next = this.text[++this.at];
    if (next !== ";" && next !== "&") return undefined;
    this.at += this.text[this.at + 1] === "&" ? 2 : 1;
    return ";;";
  }

  /** Reads a subshell. Two parentheses may be arithmetic, but `dash` takes them for two subshells. */
  #parentheses(): void {
    this.at++;
    this.doubtCompound();
    if (this.text[this.at] === "(") this.doubts.raise(ARITHMETIC);
    this.list([")"]);
    this.redirections();
  }

  /** Reads a command. Returns the word if it closes a list, such as `done`. */
  #command(): string | undefined {
    const start = this.at;
    const word = this.unquotedWord();
    if (word === undefined || !isReserved(word)) {
      // An operator can continue a word, or follow the number of a file descriptor.
      const isWhole = word !== undefined && !"(<>".includes(this.text[this.at] ?? " ");
      if (!isWhole) this.at = start;
      this.#simple(start, isWhole ? word : undefined);
      return undefined;
    }
    if (word !== "!" && word !== "time") this.doubtCompound();
    // `case<(ls)` is one word of a simple command.
    if (/^[<>]\(/.test(this.text.slice(this.at, this.at + 2))) throw new Unsplittable();
    switch (word) {
      case "!":
        return undefined;
      case "time":
        this.match(TIME_OPTIONS);
        this.skipSpace();
        if (!this.#beginsProgram()) this.doubts.raise("time with these arguments");
        // With other options, some shells run the program of this name.
        if (this.text[this.at] === "-") {
          this.at = start + word.length;
          this.#simple(start, word);
        }
        return undefined;
      case "coproc":
        this.doubts.raise("a co-process"); // it sets variables, and may have a name
        return undefined;
      case "function":
        this.skipSpace();
        this.word();
        this.skipSpace();
        if (this.text[this.at] === "(") this.#emptyParentheses();
        return undefined;
      case "{":
        this.list(["}"]);
        break;
      case "if":
        this.#branches();
        break;
      case "for":
      case "select":
        this.#loopHead();
        this.list(["done"]);
        break;
      case "while":
      case "until":
        this.list(["do"]);
        this.list(["done"]);
        break;
      case "case":
        this.#cases();
        break;
      default:
        return word;
    }
    this.redirections();
    return undefined;
  }

  /** Whether the plain name of a program is here: after a pipe, and in `dash`, `time` is a program. */
  #beginsProgram(): boolean {
    const start = this.at;
    const word = this.unquotedWord();
    this.at = start;
    if (word === undefined || word.startsWith("-") || isReserved(word)) return false;
    return assignmentIn(word) === undefined;
  }

  #emptyParentheses(): void {
    if (!this.match(/\([ \t]*\)/y)) throw new Unsplittable();
  }

  #branches(): void {
    for (let closer = "if"; closer !== "fi";) {
      if (closer !== "else") this.list(["then"]);
      closer = this.list(closer === "else" ? ["fi"] : ["elif", "else", "fi"]);
    }
  }

  /** Reads the head of a `for` or `select` loop, up to its `do`. */
  #loopHead(): void {
    this.skipSpace();
    if (this.text.startsWith("((", this.at)) {
      this.#parentheses();
    } else {
      this.doubts.set(this.word().raw);
      this.skipLines();
      if (/^in(?:[ \t\n;]|$)/.test(this.text.slice(this.at, this.at + 3))) {
        this.at += 2;
        for (this.skipSpace(); !this.#isAtEnd(); this.skipSpace()) this.word();
      }
    }
    this.skipSpace();
    if (this.text[this.at] === ";") this.at++;
    this.skipLines();
    if (this.unquotedWord() !== "do") throw new Unsplittable();
  }

  #isAtEnd(): boolean {
    const code = this.text.charCodeAt(this.at);
    return code < isEnd.length ? isEnd[code] === 1 : Number.isNaN(code);
  }

  /** Reads the branches of a `case`, from its first word on. */
  #cases(): void {
    this.enter();
    this.skipSpace();
    this.word();
    this.skipLines();
    if (this.unquotedWord() !== "in") throw new Unsplittable();
    for (;;) {
      this.skipLines();
      const start = this.at;
      if (this.unquotedWord() === "esac") break;
      this.at = start;
      if (this.text[this.at] === "(") this.at++;
      for (let char: string | undefined = "|"; char !== ")"; this.at++) {
        if (char !== "|") throw new Unsplittable();
        this.skipSpace();
        // Bash prints `(esac)` without its parenthesis, and reads its print again.
        if (this.word().raw === "esac") throw new Unsplittable();
        this.skipSpace();
        char = this.text[this.at];
      }
      if (this.list([";;", "esac"]) === "esac") break;
    }
    this.depth--;
  }

  /**
   * Reads a simple command, or the name of a function. The function's body is then the next command.
   *
   * @param first the first word if it was read already and has neither quotes nor expansions
   */
  #simple(begin: number, first: string | undefined): void {
    const words: Word[] = [];
    let assignments: Word[] | undefined;
    let redirections: Redirections | undefined;
    let redirection = "";
    let writing = "";
    let start = begin;
    let end = this.at;
    if (first !== undefined) {
      if (assignmentIn(first) === undefined) words.push(plainWord(first));
      else assignments = [plainWord(first)];
    }
    for (this.skipSpace(); ; this.skipSpace()) {
      if (this.isRedirection()) {
        redirection = this.redirection((redirections ??= { inputs: [], outputs: [] }));
        if (redirection !== "<") writing = redirection;
      } else if (this.#isAtEnd()) {
        break;
      } else if (words.length === 1 && !assignments && this.text[this.at] === "(") {
        this.doubtCompound();
        return this.#emptyParentheses();
      } else {
        if (words.length === 0) start = this.at;
        const word = this.word();
        const isAssignment = words.length === 0 && assignmentIn(word.raw) !== undefined;
        if (isAssignment) (assignments ??= []).push(word);
        else words.push(word);
        end = this.at;
      }
    }
    const source = redirection === "" ? this.text.slice(start, end) : undefined;
    const { inputs = NONE, outputs = NONE } = redirections ?? {};
    // A redirection of output without a command still creates or empties a file.
    const isBare = words.length === 0 && writing !== "" && outputs.length === 0;
    if (isBare) words.push(plainWord(writing));
    const command = { words, assignments: assignments ?? NONE, inputs, outputs, source };
    this.report(command);
    // In a substitution, Bash prints `<file ! name` as `! name <file`, and reads its print again.
    const [program, ...rest] = words;
    if (rest.length > 0 && redirections && isReserved(program?.raw ?? ""))
      this.report({ ...command, words: rest, isDoubtful: true });
  }
}
