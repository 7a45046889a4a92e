/** Parses untrusted JSON (RFC 8259) of moderate length; `long-json.ts` parses longer texts. */
import { BadInput } from "../errors.ts";
import { locateFault } from "./json-fault.ts";

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

const COLON = 0x3a;
/** The greatest of the characters between tokens. */
const SPACE = 0x20;

/**
 * Compares an upper bound of the depth, which costs a fraction of counting it and is enough for every batch of
 * flat events. Each container is a list, an object in a list, or an object after a colon. With `l` lists and
 * `o` objects after colons the depth is at most `1 + 2 l + o`, whatever the strings contain.
 */
function mayNestDeeperThan(text: string, limit: number): boolean {
  let bound = 1;
  for (let at = text.indexOf("["); at !== -1 && bound <= limit; at = text.indexOf("[", at + 1)) {
    bound += 2;
  }
  // Not by a pattern, which would be tried at each colon: there are many more of them than of objects.
  for (let at = text.indexOf("{"); at !== -1 && bound <= limit; at = text.indexOf("{", at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) <= SPACE) before--;
    if (text.charCodeAt(before) === COLON) bound++;
  }
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
