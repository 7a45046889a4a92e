/** Reads the parts of a shell text between words and commands: space, comments, redirections and here-documents. */
import { type SimpleCommand, WordBuilder } from "./shell-command.ts";
import { OPERATOR, WordReader } from "./shell-words.ts";

const REDIRECTION = /<<<|<<-|<<|<&|<>|<|&>>|&>|>>|>&|>\||>/y;
const FILE_NUMBER = /\d+(?=[<>])/y;
const [ZERO, NINE, AMPERSAND, LESS, GREATER] = [0x30, 0x39, 0x26, 0x3c, 0x3e] as const;

interface HereDocument {
  readonly delimiter: string;
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
  readonly inputs: string[];
}

/** Adds the rules for space and redirections to those for words. */
export abstract class RedirectionReader extends WordReader {
  #hereDocuments: HereDocument[] = [];
  /** Commands whose here-documents are on the following lines. */
  #waiting: SimpleCommand[] = [];

  /** A reader of another text with the same commands. */
  protected abstract readerOf(text: string): RedirectionReader;

  /** Skips blanks, comments and line continuations, but not the end of a line. */
  protected skipSpace(): void {
    for (;;) {
      const char = this.text[this.at];
      if (char === " " || char === "\t" || char === "\r") this.at++;
      else if (char === "\\" && this.text[this.at + 1] === "\n") this.at += 2;
      else if (char === "#") {
        const end = this.text.indexOf("\n", this.at);
        this.at = end === -1 ? this.text.length : end;
      } else return;
    }
  }

  protected skipLines(): void {
    for (this.skipSpace(); this.text[this.at] === "\n"; this.skipSpace()) this.newLine();
  }

  /** Ends a line, and reads the here-documents that follow it. */
  protected newLine(): void {
    this.at++;
    const documents = this.#hereDocuments;
    if (documents.length === 0) return;
    this.#hereDocuments = [];
    for (const document of documents) this.#readHereDocument(document);
    this.reportWaiting();
  }

  /** Reports a command, as soon as its input has been read. */
  protected report(command: SimpleCommand): void {
    const documents = this.#hereDocuments;
    const waits = documents.length > 0 && documents.some(({ inputs }) => inputs === command.inputs);
    if (waits) this.#waiting.push(command);
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
    let end = text.length;
    while (this.at < text.length) {
      const line = this.at;
      const feed = text.indexOf("\n", line);
      const lineEnd = feed === -1 ? text.length : feed;
      this.at = Math.min(lineEnd + 1, text.length);
      let from = line;
      if (stripsTabs) while (text[from] === "\t") from++;
      if (lineEnd - from !== delimiter.length || !text.startsWith(delimiter, from)) continue;
      end = line;
      break;
    }
    const body = text.slice(start, end);
    inputs.push(body);
    if (!isQuoted && /[$`]/.test(body)) this.readerOf(body).readExpansions();
  }

  /** Reads the substitutions of a here-document. */
  protected readExpansions(): void {
    const ignored = new WordBuilder();
    while (this.at < this.text.length) this.quotedPiece(ignored);
  }

  protected redirections(): void {
    for (this.skipSpace(); this.isRedirection(); this.skipSpace()) this.redirection([]);
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
  protected redirection(inputs: string[]): string {
    FILE_NUMBER.lastIndex = this.at;
    if (FILE_NUMBER.test(this.text)) this.at = FILE_NUMBER.lastIndex;
    REDIRECTION.lastIndex = this.at;
    const operator = REDIRECTION.exec(this.text)?.[0] ?? "";
    this.at += operator.length;
    this.skipSpace();
    const { raw, value } = this.word(OPERATOR);
    if (operator === "<<<") inputs.push(value);
    if (operator === "<<" || operator === "<<-") {
      const stripsTabs = operator === "<<-";
      this.#hereDocuments.push({ delimiter: value, isQuoted: raw !== value, stripsTabs, inputs });
    }
    return operator;
  }
}
