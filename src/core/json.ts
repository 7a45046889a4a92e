/**
 * Parses untrusted JSON (RFC 8259) of moderate length; `long-json.ts` parses longer texts. The messages
 * of `JSON.parse` quote the text, which may contain a secret, and differ between versions of Node. So the
 * small scanner below locates the fault. It runs only after `JSON.parse` has refused a text.
 */
import { BadInput } from "./errors.ts";
import { pathOf } from "./validate.ts";

/** The deepest nesting of objects and lists in a request body. */
export const MAX_JSON_DEPTH = 64;
/** Bounds of a JSON text inside a string: one body can contain many of them, and each is parsed in one go. */
const INNER_JSON = { length: 1 << 21, values: 1_000 };

/**
 * Parses one JSON value.
 *
 * @throws BadInput if the text is nested too deep, or is not JSON (with line and column)
 */
export function parseJson(text: string): unknown {
  if (mayNestDeeperThan(text, MAX_JSON_DEPTH) && exceeds(text, MAX_JSON_DEPTH)) {
    throw tooDeep();
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new BadInput(`Malformed JSON at ${locateFault(text)}`);
  }
}

/** Parses JSON that may be damaged; `undefined` if it is not JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses a JSON text inside a string of a client; `undefined` if it is not JSON, or exceeds the bounds. */
export function parseInnerJson(text: string): unknown {
  if (text.length > INNER_JSON.length) return undefined;
  return exceeds(text, MAX_JSON_DEPTH, INNER_JSON.values) ? undefined : jsonOrUndefined(text);
}

/** The refusal of a text that is nested too deep. */
export function tooDeep(): BadInput {
  return new BadInput(`The body nests deeper than ${MAX_JSON_DEPTH} levels`);
}

/** Names the first fault of invalid JSON: `line 2, column 8: expected a value`. */
export function locateFault(text: string): string {
  const { at, expected } = findFault(text);
  return describeFault(Buffer.from(text), Buffer.byteLength(text.slice(0, at)), expected);
}

/** Describes a fault at a byte, by its line and its column in UTF-16 units. */
export function describeFault(bytes: Uint8Array, index: number, expected: string): string {
  let line = 1;
  let column = 1;
  for (let at = 0; at < index; at++) {
    const code = bytes[at] as number;
    if (code === 0x0a) {
      line++;
      column = 1;
    } else if (code >= 0xf0) column += 2;
    else if ((code & 0xc0) !== 0x80) column++;
  }
  const ending = index >= bytes.length ? "the text ends here, " : "";
  return `line ${line}, column ${column}: ${ending}${expected}`;
}

const NESTED_OBJECT = /:\s*\{/g;

/**
 * Compares an upper bound of the depth, which costs a sixth of counting it and is enough for every batch of
 * flat events. Each container is a list, an object in a list, or an object after a colon. With `l` lists and
 * `o` objects after colons the depth is at most `1 + 2 l + o`, whatever the strings contain.
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

/** Whether a text nests too deep, or has too many commas, objects and lists outside of its strings. */
function exceeds(text: string, mostDepth: number, mostValues = Infinity): boolean {
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > mostDepth || ++values > mostValues) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
    else if (code === 0x2c && ++values > mostValues) return true;
  }
  return false;
}

const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/**
 * Finds the escaped unpaired surrogates in the bytes of a JSON text, and calls `found` with their positions.
 * It works on the text before it is parsed, so that the values need not be walked.
 *
 * @param to the end of the search; an escape that begins before it is handled whole
 * @returns the position at which to continue
 */
function scanSurrogates(
  bytes: Uint8Array,
  found: (at: number) => void,
  from = 0,
  to = bytes.length,
): number {
  let at = from;
  for (; at < to; at++) {
    if (bytes[at] !== BACKSLASH) continue;
    const unit = unitAt(bytes, at);
    if (isLow(unit)) found(at);
    else if (isHigh(unit)) {
      if (isLow(unitAt(bytes, at + 6))) at += 6;
      else found(at);
    }
    at++; // the escaped character may be a backslash
  }
  return at;
}

/** Replaces, in place, each escaped unpaired surrogate by an escaped U+FFFD, which it would become in UTF-8. */
export function mendSurrogates(bytes: Uint8Array, from = 0, to = bytes.length): number {
  return scanSurrogates(bytes, (at) => replaceUnit(bytes, at), from, to);
}

/** Throws BadInput for the first escaped unpaired surrogate, with its line and column. Does not change the bytes. */
export function refuseSurrogates(bytes: Uint8Array, from: number, to: number): number {
  const refuse = (at: number): never => {
    throw new BadInput(`The body, ${describeFault(bytes, at, LONE_SURROGATE_FAULT)}`);
  };
  return scanSurrogates(bytes, refuse, from, to);
}

const LONE_SURROGATE = /\p{Cs}/u;

/** The reason for refusing a text or name with an unpaired surrogate. */
export const LONE_SURROGATE_FAULT = "expected Unicode text, found an unpaired surrogate";

/** The place of a text or name with an unpaired surrogate in a parsed value; `undefined` if there is none. */
export function findLoneSurrogate(value: unknown): string | undefined {
  const path = pathToLoneSurrogate(value);
  const join = (place: string, step: string | number): string =>
    typeof step === "number" ? `${place}[${step}]` : pathOf(place, step);
  return path && (path.reduce(join, "") || "The body");
}

/** The names and indexes on the path to the surrogate. Building a path for each value would cost more than parsing. */
function pathToLoneSurrogate(value: unknown): readonly (string | number)[] | undefined {
  if (typeof value === "string") return LONE_SURROGATE.test(value) ? [] : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const path = pathToLoneSurrogate(value[index]);
      if (path) return [index, ...path];
    }
    return undefined;
  }
  for (const name of Object.keys(value)) {
    if (LONE_SURROGATE.test(name)) return [];
    const path = pathToLoneSurrogate((value as Readonly<Record<string, unknown>>)[name]);
    if (path) return [name, ...path];
  }
  return undefined;
}

/** Replaces the escape at a position by that of U+FFFD. */
function replaceUnit(bytes: Uint8Array, at: number): void {
  bytes[at + 2] = bytes[at + 3] = bytes[at + 4] = 0x66;
  bytes[at + 5] = 0x64;
}

/** The code unit of an escape `\\uXXXX`; -1 for any other text. */
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

/** The first position at which a text is not JSON, and what was expected there. */
export interface JsonFault {
  readonly at: number;
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

/** Finds the first position at which a text is not JSON; call it only for invalid texts. */
export function findFault(text: string): JsonFault {
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
  return { at, expected };
}
