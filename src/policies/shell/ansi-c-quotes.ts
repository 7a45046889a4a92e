/**
 * Bash's quotes with the escapes of C, `$'…'`, decoded as `ansicstr` of Bash 5.2 does. Other shells and other versions read
 * some of the escapes otherwise.
 */

const ESCAPE =
  /\\(?:x\{([0-9a-fA-F]*)\}?|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(\\\\|[^])|([^]))/g;
const NAMED = new Map(
  Object.entries({
    n: "\n",
    t: "\t",
    r: "\r",
    a: "\x07",
    b: "\b",
    e: "\x1b",
    E: "\x1b",
    f: "\f",
    v: "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
  }),
);
const LARGEST_CODE_POINT = 0x10ffff;
const BYTE = 0xff;
const [CONTROL_BITS, DELETE] = [0x1f, 0x7f] as const;

/**
 * Finds the end of a text in `$'…'`.
 *
 * @param start the position after the opening quote
 * @returns the position of the closing quote; `undefined` without one
 */
export function endOfAnsiC(text: string, start: number): number | undefined {
  let end = start;
  while (end < text.length && text[end] !== "'") end += text[end] === "\\" ? 2 : 1;
  return end < text.length ? end : undefined;
}

/** Decodes the text between the quotes of `$'…'`. */
export function decodeAnsiC(text: string): string {
  const decoded = text.replace(ESCAPE, decodeEscape);
  const nul = decoded.indexOf("\0"); // Bash cuts the text there
  return nul === -1 ? decoded : decoded.slice(0, nul);
}

function decodeEscape(escape: string, ...groups: readonly (string | undefined)[]): string {
  const [braced, hex, short, long, octal, control, char] = groups;
  if (braced !== undefined) return String.fromCharCode(parseInt(`0${braced.slice(-2)}`, 16)); // the lowest byte
  if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8) & BYTE);
  if (control !== undefined) {
    const [first = ""] = control.toUpperCase();
    return String.fromCharCode(first === "?" ? DELETE : first.charCodeAt(0) & CONTROL_BITS);
  }
  const digits = hex ?? short ?? long;
  if (digits === undefined) return NAMED.get(char ?? "") ?? escape;
  const code = parseInt(digits, 16);
  return code > LARGEST_CODE_POINT ? "\ufffd" : String.fromCodePoint(code);
}
