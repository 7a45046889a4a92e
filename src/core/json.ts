/**
 * Reading JSON (RFC 8259) from strangers. The engine's own message quotes the text it failed on,
 * which may hold a secret, and differs from version to version; a failure is therefore located by
 * the small scanner below, which runs only after `JSON.parse` has refused a text.
 */
import { BadInput } from "./errors.ts";

/** How deep objects and lists may be nested in a request body. */
export const MAX_DEPTH = 64;
/** How many members an object of a long body may have: each distinct name is costly to the parser. */
export const MAX_MEMBERS = 10_000;
/** How many commas a long body may have outside its strings, and so about as many values. */
export const MAX_VALUES = 1_000_000;
/** Up to this many code units a text is parsed in a few milliseconds, whatever it holds. */
const SHORT_TEXT = 1 << 20;

/**
 * Parses one JSON value. Lone surrogates in its strings become U+FFFD, as they would in UTF-8.
 *
 * @throws BadInput when the text nests too deep, or is no JSON (with line and column)
 */
export function parseJson(text: string): unknown {
  if (mayNestDeeperThan(text, MAX_DEPTH) && nestsDeeperThan(text, MAX_DEPTH)) {
    throw new BadInput(`The body nests deeper than ${MAX_DEPTH} levels`);
  }
  if (text.length > SHORT_TEXT) checkCounts(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const { line, column, expected } = locateFault(text);
    throw new BadInput(`Malformed JSON at line ${line}, column ${column}: ${expected}`);
  }
  // Only an escape can smuggle half of a surrogate pair through UTF-8.
  return text.includes("\\u") ? wellFormed(value) : value;
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
 * empty objects, or hundreds of thousands of names, which take seconds and a hundred times their size.
 */
function checkCounts(text: string): void {
  const open: number[] = []; // of the containers around this one: their commas so far, which are not counted in a list
  let inString = false;
  let values = 0;
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x2c) {
      if (++values > MAX_VALUES)
        throw new BadInput(`The body holds more than ${MAX_VALUES} values`);
      if (++members >= MAX_MEMBERS) {
        throw new BadInput(`An object in the body has more than ${MAX_MEMBERS} members`);
      }
    } else if (code === 0x7b || code === 0x5b) {
      open.push(members);
      members = code === 0x7b ? 0 : -Infinity;
    } else if (code === 0x7d || code === 0x5d) members = open.pop() ?? 0;
  }
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return Buffer.from(value, "utf8").toString("utf8");
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [wellFormed(key), wellFormed(item)]),
  );
}

/** Where a text stops being JSON, counted from 1, and what was expected there. */
export interface JsonFault {
  readonly line: number;
  readonly column: number;
  readonly expected: string;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

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
      if (code !== 0x5c) at++;
      else if (!skip(ESCAPE)) return "expected an escape that JSON knows";
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
