/** The bytes with a meaning in the grammar of JSON. */
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const LETTER_U = 0x75;

/** A list, object or long string that is still open. The document itself is the first one. */
export interface Open {
  /** The byte that ends the value; 0 for the document. */
  readonly closer: number;
  /** The position of the first byte; -1 for the document. */
  readonly start: number;
  /** The start of the current member. */
  member: number;
  /** The name of the current member, while its value is assembled from parts. */
  name: string;
  /** The values so far; for an object, with their names. Used once the value is broken up. */
  readonly values: unknown[];
}

const TOKENS = new Uint8Array(256);
for (const code of [QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT]) {
  TOKENS[code] = 1;
}

/** Whether a byte begins a string, or is a bracket or comma. */
export function isToken(code: number): boolean {
  return TOKENS[code] === 1;
}

/** Whether there is only white space between two positions. */
export function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = bytes[at];
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return false;
  }
  return true;
}
