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

/** A decoded text in `$'…'`. */
export interface AnsiC {
  readonly text: string;
  /** The position after the closing quote. */
  readonly end: number;
  /** Whether every shell with these quotes decodes it so. */
  readonly isCertain: boolean;
}

/**
 * Decodes a text in `$'…'`.
 *
 * @param start the position after the opening quote
 * @returns `undefined` without a closing quote
 */
export function decodeAnsiC(text: string, start: number): AnsiC | undefined {
  let end = start;
  while (end < text.length && text[end] !== "'") end += text[end] === "\\" ? 2 : 1;
  if (end >= text.length) return undefined;
  let isCertain = true;
  const unsure = (decoded: string): string => {
    isCertain = false;
    return decoded;
  };
  const decode = (escape: string, ...groups: readonly (string | undefined)[]): string => {
    const [braced, hex, short, long, octal, control, char] = groups;
    if (braced !== undefined) {
      return unsure(String.fromCharCode(parseInt(`0${braced.slice(-2)}`, 16))); // the lowest byte
    }
    if (control !== undefined) {
      const [first = ""] = control.toUpperCase();
      return unsure(
        String.fromCharCode(first === "?" ? DELETE : first.charCodeAt(0) & CONTROL_BITS),
      );
    }
    if (octal !== undefined) {
      const code = parseInt(octal, 8);
      const byte = String.fromCharCode(code & BYTE);
      return code > BYTE ? unsure(byte) : byte;
    }
    const digits = hex ?? short ?? long;
    if (digits !== undefined) {
      const code = parseInt(digits, 16);
      return code > LARGEST_CODE_POINT ? unsure("\ufffd") : String.fromCodePoint(code);
    }
    return NAMED.get(char ?? "") ?? unsure(escape);
  };
  const decoded = text.slice(start, end).replace(ESCAPE, decode);
  const nul = decoded.indexOf("\0"); // Bash cuts the text there
  return nul === -1
    ? { text: decoded, end: end + 1, isCertain }
    : { text: decoded.slice(0, nul), end: end + 1, isCertain: false };
}
