/**
 * Reading JSON (RFC 8259) from strangers. The engine's own message quotes the text it failed on,
 * which may hold a secret, and differs from version to version; a failure is therefore located by
 * the small scanner below, which runs only after `JSON.parse` has refused a text.
 */
import { randomInt } from "node:crypto";
import { BadInput } from "./errors.ts";
import { pathOf } from "./validate.ts";

/** How deep objects and lists may be nested in a request body. */
export const MAX_DEPTH = 64;
/** How many different names a long body may hold: each costs the parser as much as ten values. */
export const MAX_NAMES = 1_000;
/** How many commas a long body may have outside its strings: 25 for each event of a full batch. */
export const MAX_VALUES = 250_000;
/** How many objects and lists a long body may hold: each costs as much as several other values. */
export const MAX_CONTAINERS = 50_000;
/** Up to this many code units a text is parsed within some 40 ms, whatever it holds. */
export const SHORT_TEXT = 1 << 19;

/**
 * Parses one JSON value.
 *
 * @throws BadInput when the text nests too deep, or is no JSON (with line and column)
 */
export function parseJson(text: string): unknown {
  if (mayNestDeeperThan(text, MAX_DEPTH) && nestsDeeperThan(text, MAX_DEPTH)) {
    throw new BadInput(`The body nests deeper than ${MAX_DEPTH} levels`);
  }
  if (text.length > SHORT_TEXT) checkCounts(text);
  try {
    return JSON.parse(text);
  } catch {
    const { line, column, expected } = locateFault(text);
    throw new BadInput(`Malformed JSON at line ${line}, column ${column}: ${expected}`);
  }
}

const NESTED_OBJECT = /:\s*\{/g;

/**
 * A bound that costs a sixth of the count below, and clears every batch of flat events. In a chain
 * of nested containers each one is a list, or an object in a list, or an object behind a colon: so
 * with `l` lists and `o` such objects the depth is at most `1 + 2 l + o`, whatever strings hold.
 */
function mayNestDeeperThan(text: string, limit: number): boolean {
  let bound = 1;
  for (let at = text.indexOf("["); at !== -1 && bound <= limit; at = text.indexOf("[", at + 1)) {
    bound += 2;
  }
  NESTED_OBJECT.lastIndex = 0;
  while (bound <= limit && NESTED_OBJECT.test(text)) bound++;
  return bound > limit;
}

function nestsDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > limit) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

/**
 * Refuses a long text with very many values before it is parsed: eight mebibytes can hold millions of
 * empty lists, or hundreds of thousands of names, which take seconds and a hundred times their size.
 */
function checkCounts(text: string): void {
  const names = new NameCount();
  let values = 0;
  let containers = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      const end = endOfString(text, i);
      if (isName(text, end) && names.add(text, i + 1, end) > MAX_NAMES) {
        throw new BadInput(`The body holds more than ${MAX_NAMES} different names`);
      }
      i = end;
    } else if (code === 0x2c) {
      if (++values > MAX_VALUES)
        throw new BadInput(`The body holds more than ${MAX_VALUES} values`);
    } else if (code === 0x7b || code === 0x5b) {
      if (++containers > MAX_CONTAINERS) {
        throw new BadInput(`The body holds more than ${MAX_CONTAINERS} objects and lists`);
      }
    }
  }
}

/** Whether the string that ends there is followed by a colon. */
function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (text.charCodeAt(at) <= 0x20) at++;
  return text.charCodeAt(at) === 0x3a;
}

const NAME_SLOTS = 1 << 20;
/** Drawn for each process, so that a client cannot choose names whose hashes collide. */
const NAME_FACTOR = randomInt(1 << 16, 1 << 30) | 1;

/** Counts different names by their hashes; of names with one hash it counts one. */
class NameCount {
  readonly #seen = new Uint8Array(NAME_SLOTS);
  #count = 0;

  /** Takes in a name, and returns how many there are. */
  add(text: string, start: number, end: number): number {
    let hash = 0;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), NAME_FACTOR);
    const slot = (hash ^ (hash >>> 15)) & (NAME_SLOTS - 1);
    if (this.#seen[slot] === 0) {
      this.#seen[slot] = 1;
      this.#count++;
    }
    return this.#count;
  }
}

/** Where the string that begins at `start` ends; the text's end when it does not. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === 0x5c) before--;
    if ((end - before) % 2 === 1) return end; // an even number of backslashes: they escape each other, not the quote
  }
  return text.length;
}

const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/**
 * Replaces, in the bytes of a JSON text, each escape of half a surrogate pair by that of U+FFFD, which
 * it would become in UTF-8. Done before parsing and in place: no value has to be walked afterwards.
 */
export function mendSurrogates(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== BACKSLASH) continue;
    const unit = unitAt(bytes, at);
    if (isLow(unit)) replaceUnit(bytes, at);
    else if (isHigh(unit)) {
      if (isLow(unitAt(bytes, at + 6))) at += 6;
      else replaceUnit(bytes, at);
    }
    at++; // what is escaped may be a backslash
  }
}

const LONE_SURROGATE = /\p{Cs}/u;

/** Where a parsed value holds half of a surrogate pair, in a text or a name; `undefined` when it holds none. */
export function findLoneSurrogate(value: unknown, place = ""): string | undefined {
  if (typeof value === "string") {
    return LONE_SURROGATE.test(value) ? place || "The body" : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${place}[${name}]` : pathOf(place, name);
    const found = LONE_SURROGATE.test(name) ? place || "The body" : findLoneSurrogate(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Makes the escape at a place that of U+FFFD. */
function replaceUnit(bytes: Uint8Array, at: number): void {
  bytes[at + 2] = bytes[at + 3] = bytes[at + 4] = 0x66;
  bytes[at + 5] = 0x64;
}

/** The code unit of an escape `\\uXXXX`; -1 for anything else. */
function unitAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== LETTER_U) return -1;
  let unit = 0;
  for (let i = at + 2; i < at + 6; i++) unit = unit * 16 + hexDigit(bytes[i] ?? 0);
  return unit;
}

/** The value of a hexadecimal digit; NaN for any other character. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Where a text stops being JSON, counted from 1, and what was expected there. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly expected: string;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPED = new Set([...'"\\/bfnrt'].map((char) => char.charCodeAt(0)));

function isUnicodeEscape(text: string, at: number): boolean {
  if (text.charCodeAt(at + 1) !== LETTER_U) return false;
  for (let i = at + 2; i < at + 6; i++) {
    if (Number.isNaN(hexDigit(text.charCodeAt(i)))) return false;
  }
  return true;
}

/** Finds the first place at which a text is not JSON; to be called for texts that are not. */
export function locateFault(text: string): JsonFault {
  let at = 0;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const take = (char: string): boolean => {
    skip(SPACE);
    if (text[at] !== char) return false;
    at++;
    return true;
  };
  const string = (): string | undefined => {
    skip(SPACE);
    if (text[at] !== '"') return "expected a string in double quotes";
    for (at++; at < text.length;) {
      const code = text.charCodeAt(at);
      if (code === 0x22) {
        at++;
        return undefined;
      }
      if (code < 0x20) return "control characters in a string must be escaped";
      if (code !== BACKSLASH) at++;
      else if (ESCAPED.has(text.charCodeAt(at + 1))) at += 2;
      else if (isUnicodeEscape(text, at)) at += 6;
      else return "expected an escape that JSON knows";
    }
    return "the string does not end";
  };
  const value = (): string | undefined => {
    skip(SPACE);
    if (text[at] === '"') return string();
    if (take("{")) {
      if (take("}")) return undefined;
      do {
        const fault = string() ?? (take(":") ? value() : "expected ':'");
        if (fault) return fault;
      } while (take(","));
      return take("}") ? undefined : "expected ',' or '}'";
    }
    if (take("[")) {
      if (take("]")) return undefined;
      do {
        const fault = value();
        if (fault) return fault;
      } while (take(","));
      return take("]") ? undefined : "expected ',' or ']'";
    }
    return skip(SCALAR) ? undefined : "expected a value";
  };

  let expected = value();
  if (expected === undefined) {
    skip(SPACE);
    expected = "expected nothing after the value";
  }
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf("\n"); end !== -1 && end < at; end = text.indexOf("\n", lineStart)) {
    line++;
    lineStart = end + 1;
  }
  return {
    line,
    column: at - lineStart + 1,
    expected: at >= text.length ? `the text ends here, ${expected}` : expected,
  };
}
