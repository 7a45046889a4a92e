/**
 * Locates the fault of a text that `JSON.parse` has refused. The messages of `JSON.parse` quote the text,
 * which may contain a secret, and differ between versions of Node.
 */
import { BACKSLASH, QUOTE } from "./json-tokens.ts";

/** The first position at which a text is not JSON, and what was expected there. */
export interface JsonFault {
  readonly at: number;
  readonly expected: string;
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
/** `JSON.parse` reads any depth; the recursion below does not. */
const MAX_DEPTH = 1_000;

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
      if (code === QUOTE) {
        at++;
        return undefined;
      }
      if (code < 0x20) return "control characters in a string must be escaped";
      if (code !== BACKSLASH) at++;
      else if (!skip(ESCAPE)) return "expected an escape that JSON knows";
    }
    return "the string does not end";
  };
  const value = (depth: number): string | undefined => {
    if (depth > MAX_DEPTH) return `expected at most ${MAX_DEPTH} levels`;
    skip(SPACE);
    if (text[at] === '"') return string();
    if (take("{")) {
      if (take("}")) return undefined;
      do {
        const fault = string() ?? (take(":") ? value(depth + 1) : "expected ':'");
        if (fault) return fault;
      } while (take(","));
      return take("}") ? undefined : "expected ',' or '}'";
    }
    if (take("[")) {
      if (take("]")) return undefined;
      do {
        const fault = value(depth + 1);
        if (fault) return fault;
      } while (take(","));
      return take("]") ? undefined : "expected ',' or ']'";
    }
    return skip(SCALAR) ? undefined : "expected a value";
  };

  let expected = value(0);
  if (expected === undefined) {
    skip(SPACE);
    expected = "expected nothing after the value";
  }
  return { at, expected };
}
