/** Reads the parts of a shell text between words and commands: space, comments, redirections and here-documents. */
import {
  isPattern,
  plainWord,
  type SimpleCommand,
  Unsplittable,
  type Word,
  WordBuilder,
} from "./command.ts";
import { WordReader } from "./words.ts";

const REDIRECTION = /<<<|<<-|<<|<&|<>|<|&>>|&>|>>|>&|>\||>/y;
const FILE_NUMBER = /\d+(?=[<>])/y;
const LONGEST_NUMBER = 5;
const [ZERO, NINE, AMPERSAND, LESS, GREATER] = [0x30, 0x39, 0x26, 0x3c, 0x3e] as const;

/** Delimiters of here-documents that all shells read in the same way. Bash prints `<< -E` as `<<-E`, and reads its print. */
const DELIMITER = /^(?:[A-Za-z_]\w*|'[^'\n]+'|"[^"\\$`\n]+"|\\\w+)$/;
/**
 * Files that may be written: devices, and plain names below the current directory or `/tmp`. Other files than the
 * standard outputs could be connections, which are opened for reading and for writing.
 */
const HARMLESS_FILE =
  /^\/dev\/(?:null|stdout|stderr|tty|fd\/[12])$|^(?![^]*(?:^|\/)(?:\.(?!\/)|-))(?:\/tmp\/|\.\/)?[^\s/~*?[\]{}-][^\n~*?[\]{}]*$/;

/** A file whose name Bash takes for a connection to another machine. The home of the user `sys` is often `/dev`. */
const CONNECTION = /^(?:\/dev|~[^/]*)\/(?:tcp|udp)\//;
/** The beginning of a name that no expansion makes the name of a connection. */
const NO_CONNECTION = /^"?(?:\/(?!d(?:e|\W|$))\w|[\w.*?[]|<\()/;

interface HereDocument {
  readonly delimiter: string;
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
  readonly inputs: string[];
}

/** The redirections of a command. */
export interface Redirections {
  /** The texts of `<<` and `<<<`. */
  readonly inputs: string[];
  /** Those that may write settings or programs, each as operator and file. */
  readonly outputs: Word[];
}

/** Adds the rules for space and redirections to those for words. */
export abstract class RedirectionReader extends WordReader {
  #hereDocuments: HereDocument[] = [];
  /** The inputs of commands whose here-documents are on the following lines. */
  readonly #unread = new Set<readonly string[]>();
  /** The number of here-documents that began. */
  #begun = 0;
  /** The number of commands, keywords and operators that began. */
  protected elements = 0;
  /** The number of substitutions around this place. */
  #substitutions = 0;
  /** Commands whose here-documents are on the following lines. */
  #waiting: SimpleCommand[] = [];

  /** A reader of another text with the same commands. */
  protected abstract readerOf(text: string): RedirectionReader;
  /** Reads commands up to a closing word, and returns that word. */
  protected abstract list(closers: readonly string[]): string;

  /** Skips blanks, comments and line continuations, but not the end of a line. */
  protected skipSpace(): void {
    for (;;) {
      const char = this.text[this.at];
      if (char === " " || char === "\t") this.at++;
      else if (char === "\\" && this.text[this.at + 1] === "\n") this.#continuation();
      else if (char === "#") {
        const end = this.text.indexOf("\n", this.at);
        this.at = end === -1 ? this.text.length : end;
      } else return;
    }
  }

  /** Skips the end of a continued line. It may join two characters to a word or to another operator, such as `&>`. */
  #continuation(): void {
    const before = this.text.slice(Math.max(this.at - 2, 0), this.at);
    if (before !== "" && !/(?:\s|&&|\|)$/.test(before)) this.doubts.raise("a word on two lines");
    this.at += 2;
  }

  protected skipLines(): void {
    for (this.skipSpace(); this.text[this.at] === "\n"; this.skipSpace()) this.newLine();
  }

  /** Reads the commands of a substitution. Shells differ in where its here-documents may be. */
  protected substitution(): void {
    const waiting = this.#hereDocuments.length;
    const begun = this.#begun;
    const { elements } = this;
    this.#substitutions++;
    this.list([")"]);
    this.#substitutions--;
    if (waiting + this.#hereDocuments.length > 0) throw new Unsplittable();
    // In Bash's print of the commands, a here-document can be in another place.
    if (this.#begun > begun && this.elements > elements + 1) {
      this.doubts.raise("a here-document beside other commands in a substitution");
    }
  }

  /** Doubts a compound command in a substitution. Bash prints it and reads its print again, which can differ. */
  protected doubtCompound(): void {
    if (this.#substitutions > 0) this.doubts.raise("a compound command in a substitution");
  }

  /** Ends a line, and reads the here-documents that follow it. */
  protected newLine(): void {
    this.at++;
    const documents = this.#hereDocuments;
    if (documents.length === 0) return;
    this.#hereDocuments = [];
    this.#unread.clear();
    for (const document of documents) this.#readHereDocument(document);
    this.reportWaiting();
  }

  /** Reports a command, as soon as its input has been read. */
  protected report(command: SimpleCommand): void {
    if (this.#unread.has(command.inputs)) this.#waiting.push(command);
    else this.found(command);
  }

  /** Reports the commands that wait for their input. */
  protected reportWaiting(): void {
    if (this.#waiting.length === 0) return;
    const commands = this.#waiting;
    this.#waiting = [];
    for (const command of commands) this.found(command);
  }

  #readHereDocument({ delimiter, isQuoted, stripsTabs, inputs }: HereDocument): void {
    const { text, at: start } = this;
    let end: number | undefined;
    while (this.at < text.length) {
      const line = this.at;
      const feed = text.indexOf("\n", line);
      const lineEnd = feed === -1 ? text.length : feed;
      this.at = Math.min(lineEnd + 1, text.length);
      let from = line;
      if (stripsTabs) while (text[from] === "\t") from++;
      if (!text.startsWith(delimiter, from)) continue;
      if (lineEnd - from !== delimiter.length) {
        // In `$(…)`, Bash ends the text at a line that begins with the delimiter and has a parenthesis.
        const more = text.slice(from + delimiter.length, lineEnd);
        if (/^\W/.test(more) || more.includes(")")) throw new Unsplittable();
        continue;
      }
      end = line;
      break;
    }
    if (end === undefined) throw new Unsplittable();
    const body = text.slice(start, end);
    // A continued line can hide or make a delimiter.
    if (!isQuoted && body.includes("\\\n")) throw new Unsplittable();
    inputs.push(isQuoted ? body : body.replace(/\\([\\$`])/g, "$1"));
    if (!isQuoted && /[$`]/.test(body)) this.readerOf(body).readExpansions();
  }

  /** Reads the substitutions of a here-document. */
  protected readExpansions(): void {
    const ignored = new WordBuilder();
    while (this.at < this.text.length) this.quotedPiece(ignored);
  }

  /** Reads the redirections of a compound command. */
  protected redirections(): void {
    const found: Redirections = { inputs: [], outputs: [] };
    for (this.skipSpace(); this.isRedirection(); this.skipSpace()) this.redirection(found);
    const { outputs } = found;
    if (outputs.length > 0) this.found({ words: [], assignments: [], inputs: [], outputs });
  }

  /** Whether a redirection begins here, with or without the number of a file descriptor. */
  protected isRedirection(): boolean {
    const code = this.text.charCodeAt(this.at);
    if (code >= ZERO && code <= NINE) {
      FILE_NUMBER.lastIndex = this.at;
      return FILE_NUMBER.test(this.text);
    }
    if (code === AMPERSAND) return this.text[this.at + 1] === ">";
    return (code === LESS || code === GREATER) && this.text[this.at + 1] !== "(";
  }

  /** Reads a redirection; returns its operator. */
  protected redirection({ inputs, outputs }: Redirections): string {
    // Bash puts the number of the file into the variable of `{name}>`.
    if (this.text[this.at - 1] === "}") this.doubts.raise("a redirection of {…}");
    const code = this.text.charCodeAt(this.at);
    const number = code >= ZERO && code <= NINE ? this.match(FILE_NUMBER)?.[0] : undefined;
    if (number !== undefined && number.length > LONGEST_NUMBER) {
      this.doubts.raise("a redirection of a large number"); // shells differ
    }
    const operator = this.match(REDIRECTION)?.[0] ?? "";
    this.skipSpace();
    const word = this.word();
    const { raw, value } = word;
    // Bash expands the name of a file after `>&` a second time: `>& '$(cmd)'` runs `cmd`.
    if (/^[<>]&$/.test(operator) && !/^(?:\d+-?|-)$/.test(raw)) {
      this.doubts.raise(`${operator} with a word`);
    }
    if (operator === "<<" || operator === "<<-") {
      if (!DELIMITER.test(raw)) throw new Unsplittable();
      const stripsTabs = operator === "<<-";
      const isQuoted = raw !== value;
      this.#hereDocuments.push({ delimiter: value, isQuoted, stripsTabs, inputs });
      this.#unread.add(inputs);
      this.#begun++;
    } else if (operator === "<<<") {
      inputs.push(value);
    } else if (!isHarmless(number, operator, word)) {
      outputs.push(plainWord(operator), word);
    }
    return operator;
  }
}

/** Whether a redirection writes no file, or one that may be written, and opens no connection. */
function isHarmless(number: string | undefined, operator: string, word: Word): boolean {
  const { value, bare } = word;
  const isOutput = /^0*[12]$/.test(number ?? "");
  if (operator === ">&" || operator === "<&") {
    if (bare !== undefined) return false;
    if (/^(?:-|[12]-?)$/.test(value)) return true;
    // The others may be connections, to which a command writes by its first two files.
    const isWritten = number === undefined ? operator === ">&" : isOutput;
    return /^\d+-?$/.test(value) && !isWritten;
  }
  if (operator === "<") {
    // `1< file > /dev/stdout` opens the file once more, and writes it.
    if (isOutput) return false;
    if (bare === undefined && !isPattern(word)) return !CONNECTION.test(value);
    return NO_CONNECTION.test(word.raw);
  }
  return bare === undefined && HARMLESS_FILE.test(value);
}
