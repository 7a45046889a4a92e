/** The forms that the rules of redaction share. */

/** A shape of secrets. */
export interface RedactionRule {
  readonly id: string;
  /** Lower-case texts of which one must stand in a text for the rule to be tried. */
  readonly keywords: readonly string[];
  /** The secret is the group `secret`, or all that matches; everything else stays readable. */
  readonly pattern: RegExp;
  readonly matches: readonly string[];
  readonly ignores: readonly string[];
}

/** Letters and digits for examples, which would look like real secrets if they were written out. */
export function sample(count: number, letters = "a1B2c3D4e5"): string {
  return letters.repeat(Math.ceil(count / letters.length)).slice(0, count);
}

/** A value in an assignment or behind an option: quoted or bare, but no variable and no substitution. */
export const VALUE = String.raw`(?:"(?<double>(?!\$)[^"\n]{1,4096})"|'(?<single>(?!\$)[^'\n]{1,4096})'|(?<bare>(?![$"'\x60\[<{*])[^\s"';&|<>()]{1,4096}))`;
const START = String.raw`(?<![A-Za-z0-9_-])`;
const END = String.raw`(?![A-Za-z0-9_-])`;

/** A token that is known by how it begins. */
export function token(
  id: string,
  keywords: readonly string[],
  body: string,
  examples: readonly string[],
  ignores: readonly string[],
): RedactionRule {
  return { id, keywords, pattern: new RegExp(START + body + END, "g"), matches: examples, ignores };
}

/** What may stand between an option and its value. */
export const GAP = String.raw`(?:\s{1,8}|=)?`;

/** A password behind an option of some programs, in the same command. */
export function passwordOf(
  id: string,
  keywords: readonly string[],
  program: string,
  option: string,
  matches: readonly string[],
  ignores: readonly string[],
): RedactionRule {
  const flag = option.slice(0, 2);
  const words = String.raw`(?:\s{1,8}(?!${flag})[^\s;&|]{1,256}){0,16}`;
  const pattern = new RegExp(
    String.raw`(?<![\w-])${program}(?=\s)${words}\s{1,8}${option}${VALUE}`,
    "g",
  );
  return { id, keywords, pattern, matches, ignores };
}
