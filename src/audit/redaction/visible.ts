/** Cuts secrets where a shell would run a command: redaction must not hide it. */
import type { Work } from "../../core/work.ts";
import type { Quotes } from "./quotes.ts";
import type { Span } from "./spans.ts";

const RUNS = /\$\(|\x60/g;
/** In a here-document, single quotes are characters like others. */
const HERE_DOCUMENT = /(?<!<)<<-?[ \t]{0,4}[A-Za-z_]/;
/** The substitutions that are looked at in one part of the work. */
const LOOKS_OF_A_PART = 256;

/** Finds the substitutions in the secrets of one text. */
export class VisibleCommands {
  readonly #text: string;
  readonly #quotes: Quotes;
  #hereDocument: number | undefined;

  constructor(text: string, quotes: Quotes) {
    this.#text = text;
    this.#quotes = quotes;
  }

  /** The part of a secret before the first substitution that is neither escaped nor in single quotes of its own. */
  *before({ start, end }: Span): Work<Span> {
    const secret = this.#text.slice(start, end);
    RUNS.lastIndex = 0;
    for (let looks = 1; ; looks++) {
      const found = RUNS.exec(secret)?.index;
      if (found === undefined) return { start, end };
      const at = start + found;
      const literalTo = this.#literalTo(at, start);
      if (literalTo === undefined) return { start, end: at };
      const next = literalTo - start;
      if (looks % LOOKS_OF_A_PART === 0) yield;
      RUNS.lastIndex = next;
    }
  }

  /** The end of the text around a position in which a substitution is text; `undefined` if a shell would run it. */
  #literalTo(at: number, start: number): number | undefined {
    let escapes = at;
    while (this.#text[escapes - 1] === "\\") escapes--;
    if ((at - escapes) % 2 === 1) return at + 1;
    const { open = -1, close = -1 } = this.#quotes.around(at) ?? {};
    // Quotes that began before the value may be around a script.
    const isOwn = open >= start - 1 && this.#text[open] === "'";
    return isOwn && at < this.#firstHereDocument() ? close + 1 : undefined;
  }

  #firstHereDocument(): number {
    if (this.#hereDocument === undefined) {
      const found = this.#text.search(HERE_DOCUMENT);
      this.#hereDocument = found === -1 ? Infinity : found;
    }
    return this.#hereDocument;
  }
}
