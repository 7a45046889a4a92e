/** Reads the quotes and expansions of a shell text, and the substitutions that contain commands of their own. */
import { decodeAnsiC, endOfAnsiC } from "./ansi-c-quotes.ts";
import { type Found, Unsplittable, WordBuilder } from "./command.ts";
import { ARITHMETIC, type ShellDoubts } from "./doubts.ts";

/** The deepest nesting of groups and substitutions. */
export const MAX_SHELL_DEPTH = 32;

const OPENS = /(?:\\\n)*[$({[]/y;
const VARIABLE = /[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]/y;
/** The parameter in `${…}`; an exclamation mark would be an indirection. Of arrays, only that of exit codes is plain. */
const PARAMETER = /#?(?:PIPESTATUS\[(?:\d+|[@*])\]|[A-Za-z_]\w*|\d+|[@*#?$-])/y;
/** The operations on a parameter that set and evaluate nothing. */
const OPERATION = /(?=\})|:[ \t]*-?\d+(?::[ \t]*-?\d+)?(?=\})|:?[-+?]|##?|%%?|\/[/#%]?|\^\^?|,,?/y;
/** A quote, or an expansion with a bracket. */
const NESTED = /["'`]|\$[({"']/y;
/** Arithmetic with numbers alone. Bash evaluates a variable in it once more: with `x='a[$(cmd)]'`, `$((x))` runs `cmd`. */
const NUMBERS = /\$\(\([\d\s+*/%-]*\)\)/y;
/** A text in `$'…'` whose escapes all shells with such quotes decode in the same way. */
const PLAIN_ANSI_C = /^(?:[^\\]|\\[nt\\'])*$/;

/** A position in a shell text, and the rules for quotes and expansions. `shell-words.ts` adds those for words. */
export abstract class ExpansionReader {
  protected readonly text: string;
  protected readonly found: Found;
  protected readonly doubts: ShellDoubts;
  protected at = 0;
  protected depth: number;

  constructor(text: string, found: Found, doubts: ShellDoubts, depth: number) {
    this.text = text;
    this.found = found;
    this.doubts = doubts;
    this.depth = depth;
  }

  /** Reads the commands of a substitution, up to its closing parenthesis. */
  protected abstract substitution(): void;
  /** Reads the commands of a nested text whose escapes were removed. */
  protected abstract inner(text: string): void;

  protected enter(): void {
    if (++this.depth > MAX_SHELL_DEPTH) throw new Unsplittable();
  }

  protected take(token: string): string {
    this.at += token.length;
    return token;
  }

  /** Whether a sticky pattern matches here. */
  protected isAt(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    return pattern.test(this.text);
  }

  /** Takes what a sticky pattern matches here. */
  protected match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text) ?? undefined;
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  /** Reads a quoted or expanded piece of a word. */
  protected piece(word: WordBuilder): void {
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
        else this.doubts.raise("a word on two lines"); // in the middle of a word it can join operators, keywords and comments
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
    // `$[` is arithmetic in Bash only. A continued line joins the dollar sign with what follows.
    if (next === "[" || this.text.startsWith("\\\n", start + 1)) throw new Unsplittable();
    if (!isQuoted && next === "'") {
      const end = endOfAnsiC(this.text, start + 2);
      if (end === undefined) throw new Unsplittable();
      const content = this.text.slice(start + 2, end);
      if (!PLAIN_ANSI_C.test(content)) this.doubts.raise("an unusual escape in $'…'");
      this.at = end + 1;
      return word.add(decodeAnsiC(content));
    }
    if (!isQuoted && next === '"') {
      this.at++;
      this.doubts.raise('$"…"'); // other shells keep the dollar sign, and Bash may translate the text
      return this.#doubleQuoted(word);
    }
    if (next === "(") {
      if (!this.match(NUMBERS)) {
        if (this.text[start + 2] === "(") this.doubts.raise(ARITHMETIC);
        this.at += 2;
        this.substitution();
      }
    } else if (next === "{") {
      this.at += 2;
      this.#parameter(isQuoted);
    } else {
      this.at++;
      const name = this.match(VARIABLE)?.[0];
      if (name === undefined) {
        // Bash puts the entries of a list in front of what follows it: of `{a,$}{x@P}` it makes `${x@P}`.
        if (!isQuoted && /[,}]/.test(next ?? "")) this.doubts.raise("a dollar sign in braces");
        return word.add("$");
      }
      // In double quotes, Bash looks for the end of a `$(` or `${` that begins with the second dollar sign.
      if (name === "$" && this.isAt(OPENS)) this.doubts.raise("$$ before a bracket");
    }
    const raw = this.text.slice(start, this.at);
    const isSpace = !isQuoted && raw.includes("IFS") && /^\$\{?IFS\b/.test(raw);
    word.addDynamic(raw, isSpace ? " " : "");
  }

  /** Reads a parameter expansion, which may contain commands, after its `${`. */
  #parameter(isQuoted: boolean): void {
    this.enter();
    const parameter = this.match(PARAMETER);
    if (!parameter) throw new Unsplittable(); // `${ cmd; }` runs a command in new versions of Bash
    const operation = this.match(OPERATION)?.[0];
    if (operation === undefined) this.doubts.raise("an unusual expansion of a variable");
    const isPattern = operation !== undefined && /^[#%/^,]/.test(operation);
    for (let char = this.text[this.at]; char !== "}"; char = this.text[this.at]) {
      const next = this.text[this.at + 1];
      const isSubstitution = (char === "<" || char === ">") && next === "(";
      // Shells read quotes inside of a quoted expansion in different ways.
      const isUnclear = isQuoted && (char === "'" || (char === '"' && !isPattern));
      if (isSubstitution || isUnclear) throw new Unsplittable();
      // Bash reads a pattern several times, with simpler readers that find other ends of quotes and substitutions.
      if (isPattern && this.isAt(NESTED))
        this.doubts.raise("quotes in the pattern of an expansion");
      this.#skipPiece(isQuoted);
    }
    this.at++;
    this.depth--;
  }

  /** Skips a character or a quoted piece, and reads the commands in it. */
  #skipPiece(isQuoted: boolean): void {
    const ignored = new WordBuilder();
    const char = this.text[this.at];
    if (char === undefined) throw new Unsplittable();
    if (char === "\\") {
      // Bash joins the lines, and finds a substitution in `<\` and `(` on the next line.
      if (this.text[this.at + 1] === "\n") this.doubts.raise("a word on two lines");
      this.at += 2;
    } else if (char === '"') this.#doubleQuoted(ignored);
    else if (char === "'" && !isQuoted) this.#singleQuoted();
    else if (char === "$") {
      // In `"$(…)"`, Bash takes these quotes away, and evaluates what was in them.
      if (this.text[this.at + 1] === "'") this.doubts.raise("$'…' in an expansion");
      this.#dollar(ignored, isQuoted);
    } else if (char === "`") this.#backTicks(ignored, isQuoted);
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
    // Shells take other escapes away, and the reader of braces in Bash ends double quotes at those in back-ticks, and takes
    // a `$(` in a comment there for a substitution.
    if (/["'\\#]/.test(content)) this.doubts.raise("quotes or comments in back-ticks");
    const escapes = isQuoted ? /\\([`$\\"])/g : /\\([`$\\])/g;
    this.inner(content.includes("\\") ? content.replace(escapes, "$1") : content);
    word.addDynamic(this.text.slice(start, this.at));
  }
}
