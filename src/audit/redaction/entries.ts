/** The keywords at which rules are tried. */
import type { ProgramRule } from "./programs.ts";
import type { RedactionRule } from "./shapes.ts";

/** The end of a program's name: `.exe` is not part of it, and quotes may be around it in a list. */
const NAME_ENDS = /(?:\.exe)?(?:\s|["']\s{0,4},)/iy;

/** A keyword and its rule. The keyword with no rule is the mark of redacted secrets, which are skipped. */
export interface Entry {
  readonly keyword: string;
  readonly rule?: RedactionRule;
  readonly program?: ProgramRule;
  /** The text that must follow the program's name. */
  readonly after?: RegExp | undefined;
}

/** Whether a keyword is at a position, in any letter case. The name of a program must be a whole word. */
export function standsAt(text: string, { keyword, program, rule }: Entry, place: number): boolean {
  // Checked first: otherwise keywords that share a beginning would all be compared at every position.
  if (rule?.isWhole === true && isWordAt(text, place + keyword.length)) return false;
  // Compared from the end: the first three letters are already known to match.
  for (let i = keyword.length - 1; i >= 0; i--) {
    const code = text.charCodeAt(place + i);
    const lower = code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
    if (lower !== keyword.charCodeAt(i)) return false;
  }
  if (program === undefined) return true;
  if (place > 0 && /[\w.:-]/.test(text[place - 1] ?? "")) return false;
  NAME_ENDS.lastIndex = place + keyword.trimEnd().length;
  return NAME_ENDS.test(text);
}

/** Whether a letter, digit, `_` or `-` is at a position. */
function isWordAt(text: string, place: number): boolean {
  const code = text.charCodeAt(place);
  const lower = code | 0x20;
  return (
    (lower >= 0x61 && lower <= 0x7a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x2d
  );
}
