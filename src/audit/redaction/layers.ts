/**
 * Removes one layer of a shell's quoting from a text. The rules are tried on the text and on what each layer leaves, so
 * that none of them has to know how quotes are written within quotes.
 */
import type { Work } from "../../core/scheduling/work.ts";
import type { Quotes } from "./quotes.ts";
import { lastBefore, type Span } from "./spans.ts";

/** A part of a text, and the part of the source that says it. */
interface Piece {
  readonly said: string;
  readonly from: number;
  readonly to: number;
}

const NEXT = /["'\\]|(?<![^\s;])#/g;
const ENDS_WORD = /[\s;|&()<>]/;
const BARE = /[^\s;|&()<>"'\\]{1,4096}/y;
/** A backslash that a shell removes from a text in double quotes, and from one in `$'…'`. */
const ESCAPES = { '"': /\\["\\$\x60\n]/g, "$'": /\\["'\\?]/g } as const;
/**
 * A class of characters in a regular expression, or an interpolation of `jq`. Without its backslash it would look like
 * a value. Behind a letter it may be one.
 */
const CLASS = /(?<!(?<!\\)\w)\\(?:[wWsSdD][+*{]|K[\\[(.]|\(\.)/y;
/** Text that means the same without quotes. */
const UNQUOTED = /^[\w@%+=:,./~^*?!{}[\]$\u200b-]+$/;
/** The part of a word before a value, such as `NAME=` or `--option=`. */
const NAMED = /^[\w.-]{1,100}\+?=/;
/** The characters before and after a string in JSON. */
const IN_JSON = /[[\]{},:]/;
/** The text before the quote of a plain word. */
const BEFORE_QUOTE = /^(?:|-\w|[\w.-]{1,100}\+?=)$/;
/** Keeps the name of a variable apart from the text after it. */
const SEAM = "\u200b";
/** A character before an opening quote or after a closing one that belongs to the same word. */
const COMES_BEFORE = /[\w$./-]/;
const GOES_ON = /[\w$"'=/.@-]/;
const PAUSE = 512;
/** A secret of more parts is replaced with the quotes between them. */
const MOST_SPANS = 16;

/** A text without one layer of quotes, and where its parts were in the source. */
export class Layer {
  readonly #parts: string[] = [];
  #length = 0;
  readonly #at: number[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  /** The words of the source that say the same otherwise here. */
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  get text(): string {
    return this.#parts.join("");
  }

  add({ said, from, to }: Piece): void {
    if (said === "") return;
    this.#at.push(this.#length);
    this.#from.push(from);
    this.#to.push(to);
    this.#parts.push(said);
    this.#length += said.length;
  }

  /** Appends a word of the source, written otherwise. */
  addWord(pieces: Iterable<Piece>, { start, end }: Span): void {
    this.#starts.push(start);
    this.#ends.push(end);
    for (const piece of pieces) this.add(piece);
  }

  /** Whether a position of the source is in a word that is written otherwise here. */
  hasWordAt(place: number): boolean {
    return place < (this.#ends[lastBefore(this.#starts, place)] ?? 0);
  }

  /** The parts of the source that say a part of this text, without the quotes between them. */
  sourceOf({ start, end }: Span): readonly Span[] {
    const spans: Span[] = [];
    for (let i = lastBefore(this.#at, start); i < this.#at.length; i++) {
      const at = this.#at[i] as number;
      if (at >= end) break;
      const next = this.#at[i + 1] ?? this.#length;
      let from = this.#from[i] as number;
      let to = this.#to[i] as number;
      if (to - from === next - at) {
        to = from + Math.min(end, next) - at;
        from += Math.max(start - at, 0);
      }
      if (from === to) continue;
      const last = spans.at(-1);
      if (last?.end === from) spans[spans.length - 1] = { start: last.start, end: to };
      else spans.push({ start: from, end: to });
    }
    const [first] = spans;
    const last = spans.at(-1);
    if (spans.length <= MOST_SPANS || !first || !last) return spans;
    return [{ start: first.start, end: last.end }];
  }
}

/**
 * The text without the outer quotes of its words; `undefined` if that changes nothing. A word with quotes or backslashes
 * in its quotes, such as the script of `sh -c`, is a command of its own there. The parts of other words are joined.
 */
export function* withoutLayer(text: string, quotes: Quotes): Work<Layer | undefined> {
  const layer = new Layer();
  let copied = 0;
  let read = 0;
  let pause = PAUSE;
  for (;;) {
    if (read >= pause) {
      yield;
      pause = read + PAUSE;
    }
    NEXT.lastIndex = read;
    const place = NEXT.exec(text)?.index;
    if (place === undefined) break;
    if (text[place] === "#") {
      read = text.indexOf("\n", place);
      if (read === -1) break;
      continue;
    }
    let start = place;
    while (start > read && !ENDS_WORD.test(text[start - 1] ?? "")) start--;
    if (IN_JSON.test(text[start] ?? "")) start = place;
    const word = wordAt(text, start, quotes);
    read = word.end;
    if (word.isPlain) continue;
    layer.add({ said: text.slice(copied, start), from: copied, to: start });
    layer.addWord(rewritten(word.pieces, start), { start, end: word.end });
    copied = word.end;
  }
  if (copied === 0) return undefined;
  layer.add({ said: text.slice(copied), from: copied, to: text.length });
  return layer;
}

/** Whether a layer of quotes may be removed: there are quotes in quotes, escapes, or words of several parts. */
export function isLayered(text: string): boolean {
  if (text.includes("\\")) return true;
  const hasDouble = text.includes('"');
  if (hasDouble && text.includes("'")) return true;
  const quote = hasDouble ? '"' : "'";
  for (let open = text.indexOf(quote); open !== -1;) {
    if (COMES_BEFORE.test(text[open - 1] ?? "")) return true;
    const close = text.indexOf(quote, open + 1);
    if (GOES_ON.test(text[(close === -1 ? open : close) + 1] ?? "")) return true;
    if (close === -1) return false;
    open = text.indexOf(quote, close + 1);
  }
  return false;
}

/** A word of a command, without its quotes. */
interface Word {
  readonly pieces: readonly Piece[];
  readonly end: number;
  /** Whether it is at most a name or an option, and a text that is as it is written, in quotes or not. */
  readonly isPlain: boolean;
}

function wordAt(text: string, start: number, quotes: Quotes): Word {
  const pieces: Piece[] = [];
  let isPlain = true;
  let wasQuoted = false;
  let at = start;
  const add = (from: number, to: number): void => {
    if (to > from) pieces.push({ said: text.slice(from, to), from, to });
  };
  /** A backslash and the character after it; before the end of a line, both are nothing. */
  const escape = (from: number): void => {
    const said = text.slice(from + 1, from + 2);
    if (said !== "\n") pieces.push({ said, from, to: from + 2 });
  };
  while (at < text.length && !ENDS_WORD.test(text[at] ?? "")) {
    const char = text[at] ?? "";
    if (wasQuoted && IN_JSON.test(char)) break;
    isPlain &&= !wasQuoted;
    CLASS.lastIndex = at;
    if (char === "\\" && CLASS.test(text)) {
      add(at, at + 2);
      at += 2;
      continue;
    }
    if (char === "\\") {
      isPlain = false;
      escape(at);
      at += 2;
      continue;
    }
    const close = char === "'" || char === '"' ? quotes.closeOf(at) : undefined;
    if (close === undefined) {
      BARE.lastIndex = at;
      const end = BARE.test(text) ? BARE.lastIndex : at + 1;
      add(at, end);
      at = end;
      continue;
    }
    const isEscaped = char === "'" && pieces.at(-1)?.said.endsWith("$") === true;
    if (isEscaped) {
      const { from, to } = pieces.pop() as Piece;
      add(from, to - 1);
    }
    const escapes = char === '"' ? ESCAPES[char] : isEscaped ? ESCAPES["$'"] : undefined;
    const content = text.slice(at + 1, close);
    isPlain &&= !isEscaped && !/["'\\]/.test(content) && BEFORE_QUOTE.test(text.slice(start, at));
    let from = at + 1;
    for (const { index } of escapes ? content.matchAll(escapes) : []) {
      const found = at + 1 + index;
      add(from, found);
      from = found + 2;
      escape(found);
    }
    add(from, close);
    at = close + 1;
    wasQuoted = true;
  }
  return { pieces, end: Math.min(at, text.length), isPlain };
}

/** A word as it could be written otherwise: as a command, without quotes, or in one pair of quotes. */
function* rewritten(pieces: readonly Piece[], start: number): Generator<Piece> {
  const said = pieces.map((piece) => piece.said).join("");
  const around = /["'\\]/.test(said) ? ";" : UNQUOTED.test(said) ? "" : '"';
  const [first] = pieces;
  const name = around === '"' && first?.from === start ? (NAMED.exec(first.said)?.[0] ?? "") : "";
  if (first && name !== "") yield { said: name, from: first.from, to: first.from + name.length };
  yield { said: around, from: start, to: start };
  let before = "";
  for (const piece of pieces) {
    if (/^\w/.test(piece.said) && /\$\w{1,80}$/.test(before))
      yield { said: SEAM, from: start, to: start };
    before = piece.said.slice(-80);
    if (piece !== first) yield piece;
    else if (piece.said.length > name.length) {
      yield { said: piece.said.slice(name.length), from: piece.from + name.length, to: piece.to };
    }
  }
  yield { said: around, from: start, to: start };
}
