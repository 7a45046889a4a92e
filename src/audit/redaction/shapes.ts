/** Parts that the redaction rules share. */
import { isSecretValue, MARK } from "./values.ts";

/** The named groups of a match. */
export type Groups = Readonly<Record<string, string | undefined>>;

/** How far a secret may reach; see `RedactionRule`. */
export type Reach = "next" | "lines" | "quotes";

/** A rule that finds one form of secret. */
export interface RedactionRule {
  readonly id: string;
  /** Texts in lower case, of three characters or more. The pattern is tried where the text has one of them. */
  readonly keywords: readonly string[];
  /**
   * Whether a keyword counts only if no letter, digit, `_`, `.` or `-` follows it. The rules of a redactor with this have
   * the same keywords, none of which ends with another one.
   */
  readonly isEnding?: true;
  /** Whether an `@` must follow the secret in the same word. */
  readonly isBeforeAt?: true;
  /** A case-sensitive text at which the pattern is tried as well. */
  readonly literal?: string;
  /**
   * Sticky: it begins at the keyword, and looks behind for the text before that. A match ends with the secret, which
   * is the first group of `SECRETS` that matched, otherwise the whole match.
   */
  readonly pattern: RegExp;
  /**
   * Whether the secret may stand in a later line than the keyword (`next`), also have several lines (`lines`), and also
   * several parts in quotes (`quotes`). In a shell, the next line is another command.
   */
  readonly reach?: Reach;
  /** Sticky: more of a secret behind what the pattern matched, which is of bounded length. */
  readonly continues?: RegExp;
  /** Whether a match is a secret; if absent, every match is. */
  readonly accepts?: (secret: string, groups: Groups) => boolean;
  readonly matches: readonly string[];
  readonly ignores: readonly string[];
}

/** The groups that may contain the secret. */
const SECRETS = ["secret", "whole", "escaped", "double", "single", "bare", "loose"] as const;

/** The secret of a match. */
interface Found {
  readonly secret: string;
  /** The group of the secret, or an empty text. */
  readonly group: string;
  readonly end: number;
}

/** The end of a line that neither a backslash nor code continues. */
const NEXT_LINE = /(?<!\\|[(,]|["']:|\s=)\r?\n/;

/** Tries a rule whose keyword is at a position. */
export function secretAt(rule: RedactionRule, text: string, place: number): Found | undefined {
  const { pattern, accepts } = rule;
  pattern.lastIndex = place;
  const found = pattern.exec(text);
  if (found === null) return undefined;
  const groups: Groups = found.groups ?? {};
  const group = SECRETS.find((name) => groups[name] !== undefined) ?? "";
  const secret = groups[group] ?? found[0];
  const before = found[0].slice(0, found[0].length - secret.length);
  if (rule.reach === undefined && NEXT_LINE.test(before)) return undefined;
  if (secret.includes(MARK) || accepts?.(secret, groups) === false) return undefined;
  return { secret, group, end: pattern.lastIndex };
}

/** The hexadecimal digits of examples. */
export const HEX = "0a1b2c3d4e5f";

/** Letters and digits for examples. Written out, they would look like real secrets to scanners. */
export function sample(count: number, letters = "a1B2c3D4e5"): string {
  return letters.repeat(Math.ceil(count / letters.length)).slice(0, count);
}

/**
 * The characters of a value. Redaction must not hide a command. So a value without quotes ends where a shell ends a
 * word, and a value in double quotes ends where a substitution begins.
 */
export const CHARACTERS = {
  escaped: String.raw`(?:[^"\\]|\\[^"])`,
  double: String.raw`(?:[^"\\$\x60]|\$(?!\()|\\[^])`,
  single: String.raw`[^']`,
  bare: String.raw`(?:[^\s"'\x60;&|<>()\\,]|,(?![\w.-]{1,40}[=:]|[)\]}]{0,4}(?:,?[\s"'\x60;)]|,?$))|\\(?: |[^\s"']))`,
} as const;

/** A pattern matches only this much of a value, so that a rejected value costs little. `Scan` finds its end. */
const VALUE_LENGTH = 512;
const value = (group: keyof typeof CHARACTERS): string =>
  `(?<${group}>${CHARACTERS[group]}{1,${VALUE_LENGTH}})`;
// The quote in `print("token=", x)` does not open a value.
const QUOTED = String.raw`\\"(?=[^\s\\])${value("escaped")}|"(?![\s;&|)]|,\s)${value("double")}|'(?![\s;&|)]|,\s)${value("single")}`;

/** A value in quotes or without. */
export const VALUE = `(?:${QUOTED}|${value("bare")})`;
const LOOSE_ENDS = String.raw`\s"'\x60;&|<>()\\,{}\[\]`;
/** A value in quotes, or without quotes (group `loose`) if it mixes letters and digits or ends as base64 does. */
export const LOOSE_VALUE = String.raw`(?:${QUOTED}|(?<loose>(?:(?=[^${LOOSE_ENDS}\d]{0,256}\d)(?=[^${LOOSE_ENDS}A-Za-z]{0,256}[A-Za-z])|(?=[A-Za-z+/]{22,256}={1,2}(?![\w=])))[^${LOOSE_ENDS}]{6,${VALUE_LENGTH}}))`;

/** The rule for a token with a known prefix. */
export function token(
  id: string,
  keywords: readonly string[],
  body: string,
  matches: readonly string[],
  ignores: readonly string[],
): RedactionRule {
  const pattern = new RegExp(`(?<![A-Za-z0-9])(?:${body})(?![A-Za-z0-9])`, "y");
  return { id, keywords, pattern, matches, ignores };
}

/** The rule for a value after certain words, unless it is a variable, a placeholder or a path. */
export function valueAt(
  id: string,
  keywords: readonly string[],
  place: string,
  matches: readonly string[],
  ignores: readonly string[],
  values = VALUE,
): RedactionRule {
  const pattern = new RegExp(place + values, "iy");
  return { id, keywords, pattern, accepts: isSecretValue, matches, ignores };
}
