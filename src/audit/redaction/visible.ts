/** Cuts secrets where a shell would run or begin another command: redaction must not hide it. */
import type { Work } from "../../core/scheduling/work.ts";
import { hereDocumentsOf, type HereDocument } from "./here-documents.ts";
import type { Quotes } from "./quotes.ts";
import type { Reach } from "./shapes.ts";
import type { Span } from "./spans.ts";

/** A substitution of a command, and what ends a command. */
const COMMANDS = /\$\(|\x60|[<>]\(|[;|&\n]/g;
/** The beginning of a process substitution. */
const BEGINS = /^[<>]\($/;
/** The text between two quoted texts that belong together: a sign of code, or a line break. */
const JOINS = /\s{0,40}(?:[+,]\s{0,40}|\\?\n\s{0,40})(?=["'])/y;
/** The places that are looked at in one part of the work. */
const LOOKS_OF_A_PART = 256;

/** Finds the commands in what rules took for secrets of one text. */
export class VisibleCommands {
  readonly #text: string;
  readonly #quotes: Quotes;
  #documents: readonly HereDocument[] | undefined;

  constructor(text: string, quotes: Quotes) {
    this.#text = text;
    this.#quotes = quotes;
  }

  /**
   * The part of a secret before the first command in it, and before the end of quotes that began before it.
   *
   * @param reach what else may end in the secret
   */
  *before({ start, end: given }: Span, reach: Reach | undefined): Work<Span> {
    const end = this.#endAround({ start, end: given }, reach === "quotes");
    if (BEGINS.test(this.#text.slice(start - 2, start)) && !this.#quotes.around(start))
      return { start, end: start };
    const secret = this.#text.slice(start, end);
    COMMANDS.lastIndex = 0;
    for (let looks = 1; ; looks++) {
      const found = COMMANDS.exec(secret);
      if (found === null) return { start, end };
      const at = start + found.index;
      const isPlain = (reach === "lines" || reach === "quotes") && found[0] === "\n";
      const next = isPlain ? at + 1 : this.#textTo(at, start, /^[$\x60]/.test(found[0]));
      if (next === undefined) return { start, end: at };
      if (looks % LOOKS_OF_A_PART === 0) yield;
      COMMANDS.lastIndex = next - start;
    }
  }

  /**
   * The end of a secret, of the quotes that began before it, or of the here-document around it, whichever comes first.
   *
   * @param isJoined whether the secret goes on in the next quotes if code or a continued line joins them
   */
  #endAround({ start, end }: Span, isJoined: boolean): number {
    const document = this.#documentAt(start);
    if (document) return Math.min(end, document.end);
    let around = this.#quotes.around(start);
    if (!around || around.open >= start - 1) return end;
    while (isJoined && around.close < end) {
      JOINS.lastIndex = around.close + 1;
      const next = JOINS.test(this.#text) ? this.#quotes.around(JOINS.lastIndex) : undefined;
      if (!next) break;
      around = next;
    }
    return Math.min(end, around.close);
  }

  /** The end of what is only text around a position in a secret; `undefined` if a shell finds a command there. */
  #textTo(at: number, start: number, isSubstitution: boolean): number | undefined {
    if (this.#isEscaped(at)) return at + 1;
    const document = this.#documentAt(at);
    if (document) return isSubstitution && !document.isQuoted ? undefined : at + 1;
    const around = this.#quotes.around(at);
    if (around === undefined) return undefined;
    // Quotes that began before the secret may be around a script.
    const isOwnSingle = around.open >= start - 1 && this.#text[around.open] === "'";
    if (isOwnSingle) return around.close + 1;
    return isSubstitution ? undefined : at + 1;
  }

  #isEscaped(at: number): boolean {
    let from = at;
    while (this.#text[from - 1] === "\\") from--;
    return (at - from) % 2 === 1;
  }

  #documentAt(at: number): HereDocument | undefined {
    this.#documents ??= hereDocumentsOf(this.#text, this.#quotes);
    return this.#documents.find(({ start, end }) => start <= at && at < end);
  }
}
