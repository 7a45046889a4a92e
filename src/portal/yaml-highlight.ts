/**
 * Highlights YAML by the look of each line, without parsing the document. A line is read once from left to
 * right; only open quotes, text blocks and brackets are remembered for the next line.
 * Invariant: the tokens of a line, joined, are the line.
 */

export type TokenKind = "key" | "string" | "number" | "word" | "comment" | "mark" | "plain";

/** A piece of a line. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const QUOTED = { '"': /"(?:[^"\\]|\\.)*"/y, "'": /'(?:[^']|'')*'/y } as const;
const REST_OF_QUOTED = { '"': /(?:[^"\\]|\\.)*"/y, "'": /(?:[^']|'')*'/y } as const;
const COLON_NEXT = /\s*:(?=[\s,\]}]|$)/y;
const SPACE = /\s+/y;
const DOCUMENT_MARK = /(?:---|\.\.\.)(?=\s|$)/y;
const DASH = /[-?](?=\s|$)/y;
const NODE_MARK = /[&*!][^\s,[\]{}]*/y;
const BLOCK_MARK = /[|>][-+\d]*(?=\s*(?:\s#.*)?$)/y;
const PLAIN = /(?:[^\s:#]|:(?=\S)|(?<=\S)#|[^\S\n]+(?=[^\s:#]|:(?=\S)))+/y;
const PLAIN_IN_FLOW = /(?:[^\s:#,[\]{}]|:(?=[^\s,[\]{}])|(?<=\S)#|[^\S\n]+(?=[^\s:#,[\]{}]))+/y;
const NUMBER = /^[-+]?(?:\d[\d_]*(?:\.\d*)?(?:e[-+]?\d+)?|0x[\da-f]+|0o[0-7]+|\.inf|\.nan)$/i;
const WORD = /^(?:true|false|null|~)$/i;

/** Reads a document line by line. */
class Reader {
  #quote: '"' | "'" | undefined;
  /** The column of the key of a text block; deeper lines belong to the block. */
  #block: number | undefined;
  #depth = 0;
  #column = 0;
  #tokens: Token[] = [];
  #line = "";
  #at = 0;

  tokensOf(line: string): readonly Token[] {
    [this.#tokens, this.#line, this.#at, this.#column] = [[], line, 0, 0];
    if (this.#isBlockText()) {
      this.#push("string", line.length);
      return this.#tokens;
    }
    if (this.#quote) this.#quoted(REST_OF_QUOTED[this.#quote], this.#quote);
    else if (this.#matches(DOCUMENT_MARK)) this.#push("mark", 3);
    else if (line.startsWith("%")) this.#push("comment", line.length);
    while (this.#at < line.length) this.#next();
    return this.#tokens;
  }

  #isBlockText(): boolean {
    if (this.#block === undefined) return false;
    const indent = this.#line.search(/\S/);
    if (indent === -1 || indent > this.#block) return true;
    this.#block = undefined;
    return false;
  }

  #next(): void {
    const char = this.#line[this.#at] ?? "";
    if (this.#take("plain", SPACE)) return;
    const isFirst = this.#at === 0 || /\s/.test(this.#line[this.#at - 1] ?? "");
    if (char === "#" && isFirst) return this.#push("comment", this.#line.length - this.#at);
    if (char === '"' || char === "'") return this.#quoted(QUOTED[char], char);
    if (this.#matches(DASH)) {
      this.#column = this.#at;
      return this.#push("mark", 1);
    }
    if ("[]{},".includes(char)) return this.#bracket(char);
    if (this.#take("mark", NODE_MARK)) return;
    if (this.#matches(BLOCK_MARK) && this.#depth === 0) {
      this.#block = this.#column;
      this.#take("mark", BLOCK_MARK);
      return;
    }
    this.#plain();
  }

  #bracket(char: string): void {
    if ("[{".includes(char)) this.#depth++;
    else if ("]}".includes(char)) this.#depth = Math.max(0, this.#depth - 1);
    this.#push("mark", 1);
  }

  #quoted(pattern: RegExp, quote: '"' | "'"): void {
    const length = this.#matches(pattern);
    this.#quote = length ? undefined : quote;
    this.#scalar("string", length || this.#line.length - this.#at);
  }

  #plain(): void {
    const length = this.#matches(this.#depth > 0 ? PLAIN_IN_FLOW : PLAIN) || 1;
    const text = this.#line.slice(this.#at, this.#at + length);
    this.#scalar(NUMBER.test(text) ? "number" : WORD.test(text) ? "word" : "plain", length);
  }

  /** Adds a scalar, which is a key when a colon follows. */
  #scalar(kind: TokenKind, length: number): void {
    const start = this.#at;
    this.#at += length;
    const colon = this.#quote ? 0 : this.#matches(COLON_NEXT);
    this.#at = start;
    if (!colon) return this.#push(kind, length);
    this.#column = start;
    this.#push("key", length);
    this.#push("mark", colon);
  }

  /** The length of the match of a sticky pattern at the current place; 0 without one. */
  #matches(pattern: RegExp): number {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#line)?.[0].length ?? 0;
  }

  #take(kind: TokenKind, pattern: RegExp): boolean {
    const length = this.#matches(pattern);
    if (length > 0) this.#push(kind, length);
    return length > 0;
  }

  #push(kind: TokenKind, length: number): void {
    this.#tokens.push({ kind, text: this.#line.slice(this.#at, this.#at + length) });
    this.#at += length;
  }
}

/** Starts a document: the returned function takes its lines in order and returns their tokens. */
export function highlighter(): (line: string) => readonly Token[] {
  const reader = new Reader();
  return (line) => reader.tokensOf(line);
}
