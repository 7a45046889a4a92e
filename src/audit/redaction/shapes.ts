/** The forms that the rules of redaction share. */
import { isSecretValue } from "./values.ts";

/** The named groups of a match. */
export type Groups = Readonly<Record<string, string | undefined>>;

/** A shape of secrets. */
export interface RedactionRule {
  readonly id: string;
  /** Texts in lower case, of three characters or more; the pattern is tried where one of them stands. */
  readonly keywords: readonly string[];
  /** Whether a letter, digit, `_` or `-` behind a keyword makes it another word. */
  readonly isWhole?: true;
  /** Whether the secret stands before an `@` in the same word. */
  readonly isBeforeAt?: true;
  /** A text at which the pattern is tried as well, in its letter case. */
  readonly literal?: string;
  /**
   * Sticky: it begins at the keyword, and what stands before that is matched by looking behind. A match ends with
   * the secret, which is the first of the groups in `SECRETS`, or all that matched.
   */
  readonly pattern: RegExp;
  /** Whether the secret is one; everything that matched if absent. */
  readonly accepts?: (secret: string, groups: Groups) => boolean;
  readonly matches: readonly string[];
  readonly ignores: readonly string[];
}

/** The groups that may contain the secret. */
export const SECRETS = ["secret", "escaped", "double", "single", "bare", "loose"] as const;

/** Letters and digits for examples, which would look like real secrets if they were written out. */
export function sample(count: number, letters = "a1B2c3D4e5"): string {
  return letters.repeat(Math.ceil(count / letters.length)).slice(0, count);
}

/**
 * The characters of a value. Redaction must not hide a command, so values without quotes end where a shell would end
 * a word, and values in double quotes where a substitution begins.
 */
export const CHARACTERS = {
  escaped: String.raw`(?:[^"\\]|\\[^"])`,
  double: String.raw`(?:[^"\\$\x60]|\$(?!\()|\\[^])`,
  single: String.raw`[^']`,
  bare: String.raw`(?:[^\s"'\x60;&|<>()\\,]|,(?![\w.-]{1,40}[=:])|\\(?: |[^\s"']))`,
} as const;

/** Only the beginning of a value is matched, so that a value that is refused costs little; the rest is added later. */
const VALUE_LENGTH = 4096;
const value = (group: keyof typeof CHARACTERS): string =>
  `(?<${group}>${CHARACTERS[group]}{1,${VALUE_LENGTH}})`;
const QUOTED = String.raw`\\"(?=[^\s\\])${value("escaped")}|"(?=[^\s;&|)])${value("double")}|'(?=[^\s;&|)])${value("single")}`;

/** A value in quotes or without. */
export const VALUE = `(?:${QUOTED}|${value("bare")})`;
const LOOSE_ENDS = String.raw`\s"'\x60;&|<>()\\,{}\[\]`;
/** A value in quotes; or without them, in the group `loose`, if letters and digits are mixed. */
export const LOOSE_VALUE = String.raw`(?:${QUOTED}|(?<loose>(?=[^${LOOSE_ENDS}\d]{0,256}\d)(?=[^${LOOSE_ENDS}A-Za-z]{0,256}[A-Za-z])[^${LOOSE_ENDS}]{6,${VALUE_LENGTH}}))`;

/** A token that is known by how it begins. */
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

/** A value in a certain place, unless it is a variable, a placeholder or a path. */
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
