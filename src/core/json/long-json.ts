/**
 * Parses long JSON texts (RFC 8259) in small parts, so that a body of several MiB never blocks the event loop. One pass
 * over the bytes follows strings and brackets. When about 32 KiB are pending, `JSON.parse` parses their complete
 * members. A longer list, object or string is assembled from its parts. Results and errors equal those of one parse.
 *
 * Invariant: the values that are broken up into parts are the outermost ones of the stack, and all bytes before `#from`
 * are parsed. So the pending bytes belong to the innermost of these values.
 */
import { isAscii } from "node:buffer";
import { BadInput } from "../errors.ts";
import { describeFault, findFault } from "./json-fault.ts";
import { MAX_JSON_DEPTH, tooDeep } from "./json.ts";
import { hasUnicodeEscape, mendSurrogates, refuseSurrogates } from "./surrogates.ts";
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COMMA, isBlank, isToken } from "./json-tokens.ts";
import { LETTER_U, OPEN_LIST, OPEN_OBJECT, QUOTE, type Open } from "./json-tokens.ts";
import { NameCount } from "./name-count.ts";
import type { Work } from "../scheduling/work.ts";

/** Texts up to this length are parsed at once, which takes at most 40 ms for any content. */
export const LONG_JSON_BYTES = 1 << 19;
/** The most different names in a long text: each costs the parser as much as ten values. */
export const MAX_NAMES = 1_000;
/** The most commas outside the strings of a long text: 25 for each event of a full batch. */
export const MAX_VALUES = 250_000;
/** The most objects and lists in a long text: each costs as much as several other values. */
export const MAX_CONTAINERS = 50_000;
/** The longest name in a long text. */
export const MAX_NAME_BYTES = 4 << 10;
/** The longest number or white space in a long text: it is parsed in one go. */
export const MAX_GAP_BYTES = 64 << 10;

const PART_BYTES = 32 << 10;
const STEP_BYTES = 16 << 10;

/**
 * Parses one JSON value.
 *
 * @param bytes valid UTF-8, not to be changed before the end
 * @param mendsTexts whether unpaired surrogates become U+FFFD, in the bytes as well; otherwise they are refused
 * @throws BadInput for a text that is nested too deep, contains too much, or is not JSON
 */
export function* parseLongJson(bytes: Buffer, mendsTexts: boolean): Work<unknown> {
  const scan = mendsTexts ? mendSurrogates : refuseSurrogates;
  if (yield* hasUnicodeEscape(bytes)) {
    for (let at = 0; at < bytes.length; yield) {
      at = scan(bytes, at, Math.min(bytes.length, at + STEP_BYTES));
    }
  }
  const parser = new LongParser(bytes);
  while (!parser.advance()) yield;
  return parser.value;
}

class LongParser {
  value: unknown;
  readonly #bytes: Buffer;
  readonly #open: Open[] = [{ closer: 0, start: -1, member: 0, name: "", values: [] }];
  /** The number of open values that are broken up. */
  #broken = 1;
  #from = 0;
  /** Whether a broken-up value has ended at `#from` and no comma has followed yet. */
  #isAfterValue = false;
  #at = 0;
  /** The end of the last string, bracket or comma. */
  #tokenEnd = 0;
  /** The start of the current string; -1 outside of strings. */
  #string = -1;
  #isName = false;
  readonly #names = new NameCount();
  #values = 0;
  #containers = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Processes the next part of the text; returns `true` at its end. */
  advance(): boolean {
    const bytes = this.#bytes;
    const stop = Math.min(bytes.length, this.#at + STEP_BYTES);
    while (this.#at < stop) {
      if (this.#string !== -1) {
        this.#passString(stop);
        continue;
      }
      let at = this.#at;
      while (at < stop && !isToken(bytes[at] as number)) at++;
      this.#at = at;
      this.#checkGap();
      if (at === stop) break;
      const code = bytes[at] as number;
      if (code === QUOTE) this.#beginString(at);
      else if (code === COMMA) this.#comma(at);
      else if (code === OPEN_LIST) this.#begin(at, CLOSE_LIST);
      else if (code === OPEN_OBJECT) this.#begin(at, CLOSE_OBJECT);
      else this.#end(at, code);
      this.#tokenEnd = ++this.#at;
    }
    if (this.#at < bytes.length) return false;
    this.#finish();
    return true;
  }

  #checkGap(): void {
    if (this.#at - this.#tokenEnd <= MAX_GAP_BYTES) return;
    throw new BadInput(
      `The body holds a number, or white space, of more than ${MAX_GAP_BYTES} bytes`,
    );
  }

  #top(): Open {
    return this.#open[this.#open.length - 1] as Open;
  }

  #isPartDue(at: number): boolean {
    return at - this.#from >= PART_BYTES;
  }

  #begin(start: number, closer: number): void {
    if (++this.#containers > MAX_CONTAINERS) {
      throw new BadInput(`The body holds more than ${MAX_CONTAINERS} objects and lists`);
    }
    this.#open.push({ closer, start, member: start + 1, name: "", values: [] });
    if (this.#open.length - 1 > MAX_JSON_DEPTH) throw tooDeep();
    if (this.#isPartDue(start)) this.#breakUp();
  }

  #comma(at: number): void {
    if (++this.#values > MAX_VALUES) {
      throw new BadInput(`The body holds more than ${MAX_VALUES} values`);
    }
    const top = this.#top();
    if (top.closer === 0) throw this.#fault(at + 1);
    if (this.#isAfterValue && this.#isBroken()) this.#takeNothing(at);
    else if (this.#isPartDue(at)) {
      this.#breakUp();
      this.#take(top, at);
    }
    top.member = at + 1;
  }

  #end(at: number, closer: number): void {
    const top = this.#top();
    if (top.closer !== closer) throw this.#fault(at + 1);
    if (!this.#isBroken()) {
      this.#open.pop();
      return;
    }
    const isEmpty = top.member === top.start + 1 && isBlank(this.#bytes, this.#from, at);
    if (this.#isAfterValue) this.#takeNothing(at);
    else if (!isEmpty) this.#take(top, at);
    const { values } = top;
    const entries = values as [string, unknown][];
    this.#give(closer === CLOSE_LIST ? values : Object.fromEntries(entries), at + 1);
  }

  #beginString(start: number): void {
    const { closer, member } = this.#top();
    this.#isName = closer === CLOSE_OBJECT && this.#tokenEnd === member;
    this.#string = start;
    if (!this.#isName && this.#isPartDue(start)) this.#breakUpString();
  }

  #breakUpString(): void {
    const start = this.#string;
    this.#open.push({ closer: QUOTE, start, member: start + 1, name: "", values: [] });
    this.#breakUp();
  }

  #passString(stop: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let code = 0;
    while (at < stop && (code = bytes[at] as number) !== QUOTE) {
      at += code !== BACKSLASH ? 1 : bytes[at + 1] === LETTER_U ? 6 : 2;
    }
    if (at >= stop) {
      while (at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80) at++; // do not stop within a character
      at = Math.min(at, bytes.length);
    }
    this.#at = at;
    if (this.#isName && at - this.#string > MAX_NAME_BYTES) {
      throw new BadInput(`The body holds a name of more than ${MAX_NAME_BYTES} bytes`);
    }
    const isEnd = at < stop && bytes[at] === QUOTE;
    const isBroken = this.#top().closer === QUOTE;
    if (isEnd) {
      if (isBroken) this.#endBrokenString(at);
      else if (this.#isName && this.#names.add(bytes, this.#string + 1, at) > MAX_NAMES) {
        throw new BadInput(`The body holds more than ${MAX_NAMES} different names`);
      }
      this.#string = -1;
      this.#tokenEnd = ++this.#at;
    } else if (isBroken) {
      if (this.#isPartDue(at)) this.#takeString(at);
    } else if (!this.#isName && at - this.#string >= PART_BYTES) this.#breakUpString();
  }

  #takeString(to: number): void {
    this.#top().values.push(this.#parse(`"${this.#text(this.#from, to)}"`, to));
    this.#from = to;
  }

  #endBrokenString(at: number): void {
    this.#takeString(at);
    this.#give(this.#top().values.join(""), at + 1);
  }

  /** Whether the innermost open value is broken up. */
  #isBroken(): boolean {
    return this.#broken === this.#open.length;
  }

  /** Breaks up every open value, and parses the pending bytes of all but the innermost one. */
  #breakUp(): void {
    while (!this.#isBroken()) {
      const parent = this.#open[this.#broken - 1] as Open;
      const { start } = this.#open[this.#broken] as Open;
      if (this.#isAfterValue) throw this.#fault(start + 1);
      if (parent.member > this.#from) this.#take(parent, parent.member - 1);
      const label = this.#text(this.#from, start);
      if (parent.closer === CLOSE_OBJECT) {
        parent.name = Object.keys(this.#parse(`{${label}null}`, start + 1) as object)[0] ?? "";
      } else this.#parse(parent.closer === 0 ? `${label}null` : `[${label}null]`, start + 1);
      this.#from = start + 1;
      this.#broken++;
    }
  }

  /** Parses the pending members, up to a comma or the end of their list or object. */
  #take({ closer, values }: Open, to: number): void {
    if (isBlank(this.#bytes, this.#from, to)) throw this.#fault(to + 1);
    const text = this.#text(this.#from, to);
    if (closer === CLOSE_LIST) {
      for (const value of this.#parse(`[${text}]`, to + 1) as unknown[]) values.push(value);
    } else {
      const members = Object.entries(this.#parse(`{${text}}`, to + 1) as object);
      for (const member of members) values.push(member);
    }
    this.#from = to + 1;
  }

  /** Checks that there is only white space between a broken-up value and the comma or bracket after it. */
  #takeNothing(to: number): void {
    if (!isBlank(this.#bytes, this.#from, to)) throw this.#fault(to + 1);
    this.#from = to + 1;
    this.#isAfterValue = false;
  }

  /** Ends a broken-up value, and adds it to the enclosing value. */
  #give(value: unknown, end: number): void {
    this.#open.pop();
    this.#broken--;
    const { closer, name, values } = this.#top();
    values.push(closer === CLOSE_OBJECT ? [name, value] : value);
    this.#from = end;
    this.#isAfterValue = true;
  }

  #finish(): void {
    const end = this.#bytes.length;
    if (this.#open.length > 1 || this.#string !== -1) throw this.#fault(end);
    if (this.#isAfterValue) this.#takeNothing(end);
    const [whole] = this.#top().values;
    this.value = this.#top().values.length > 0 ? whole : this.#parse(this.#text(0, end), end);
  }

  #text(from: number, to: number): string {
    const part = this.#bytes.subarray(from, to);
    return part.toString(isAscii(part) ? "latin1" : "utf8");
  }

  /** Parses a part. If it is not JSON, the bytes up to `end` locate the fault. */
  #parse(text: string, end: number): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.#fault(end);
    }
  }

  /** The refusal of a text whose pending bytes, up to `end`, are not JSON. */
  #fault(end: number): BadInput {
    const before = this.#contextOfFault();
    const text = before + this.#text(this.#from, end);
    const { at, expected } = findFault(text);
    const index = this.#from + Buffer.byteLength(text.slice(before.length, at));
    return new BadInput(`Malformed JSON at ${describeFault(this.#bytes, index, expected)}`);
  }

  /** A short text that gives the pending bytes the same context as in the whole text. */
  #contextOfFault(): string {
    const { closer, start } = this.#open[this.#broken - 1] as Open;
    if (closer === QUOTE) return '"';
    const value = closer === CLOSE_OBJECT ? '"":0' : "0";
    const opener = closer === 0 ? "" : closer === CLOSE_OBJECT ? "{" : "[";
    if (this.#isAfterValue) return opener + value;
    return this.#from === start + 1 ? opener : `${opener}${value},`;
  }
}
