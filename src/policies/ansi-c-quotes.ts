const ESCAPE =
  /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|([^]))/g;
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
  }),
);
const LARGEST_CODE_POINT = 0x10ffff;

/**
 * Decodes a text in `$'…'`: Bash's quotes with the escapes of C.
 *
 * @param start the position after the opening quote
 * @returns the decoded text, and the position after the closing quote or -1 without a closing quote
 */
export function decodeAnsiC(text: string, start: number): readonly [string, number] {
  let end = start;
  while (end < text.length && text[end] !== "'") end += text[end] === "\\" ? 2 : 1;
  if (end >= text.length) return ["", -1];
  const decoded = text
    .slice(start, end)
    .replace(ESCAPE, (_, hex?: string, u?: string, long?: string, octal?: string, char = "") => {
      const digits = hex ?? u ?? long;
      if (digits === undefined && octal === undefined) return NAMED.get(char) ?? char;
      const code = digits === undefined ? parseInt(octal ?? "", 8) : parseInt(digits, 16);
      return String.fromCodePoint(Math.min(code, LARGEST_CODE_POINT));
    });
  return [decoded, end + 1];
}
