/** The rules that an organization adds by its settings: secret texts, and endings of names of secrets. */
import { BadInput } from "../../core/errors.ts";
import { SETS } from "./places.ts";
import { ASSIGNS, CLOSED, DEFAULT, LABELS, OPTION_GAP, WHOLE } from "./rules.ts";
import { LOOSE_VALUE, type RedactionRule, VALUE, valueAt } from "./shapes.ts";

/** A setting of an organization. */
export interface OwnSetting {
  readonly key: string;
  readonly value: string;
}

/** Settings with comma-separated texts and endings of names. */
const LITERALS_KEY = "audit.redact.literals";
const NAMES_KEY = "audit.redact.names";

const MOST_OF_EACH = 100;
const LITERAL = { least: 4, most: 256 };
const NAME = /^[\w.-]{2,63}\w$/;
/** The word up to the end of a name. */
const BEFORE = String.raw`[\w.-]{0,80}`;

/** The rules in the settings of an organization; parts that `checkOwnRules` refuses are left out. */
export function ownRules(settings: readonly OwnSetting[]): readonly RedactionRule[] {
  const literals = partsOf(settings, LITERALS_KEY).filter(isLiteral).slice(0, MOST_OF_EACH);
  const names = partsOf(settings, NAMES_KEY).filter(isName).slice(0, MOST_OF_EACH).map(lowerCase);
  return [...literals.map(literalRule), ...nameRules(shortestEndings(names))];
}

/**
 * Checks the settings that add rules.
 *
 * @throws BadInput naming the setting that has an invalid part, and the expected form
 */
export function checkOwnRules(settings: readonly OwnSetting[]): void {
  for (const [key, isRule, expected] of [
    [LITERALS_KEY, isLiteral, `texts of ${LITERAL.least} to ${LITERAL.most} characters`],
    [
      NAMES_KEY,
      isName,
      "endings of names, of 3 to 64 letters, digits, _, . and -, with a letter, digit or _ at the end",
    ],
  ] as const) {
    const parts = partsOf(settings, key);
    if (parts.length > MOST_OF_EACH) throw new BadInput(`${key}: expected at most ${MOST_OF_EACH}`);
    if (!parts.every(isRule)) throw new BadInput(`${key}: expected comma-separated ${expected}`);
  }
}

/** The names without those that end with another one. So at most one of them ends at each position of a text. */
function shortestEndings(names: readonly string[]): readonly string[] {
  const different = [...new Set(names)];
  return different.filter((name) => !different.some((end) => end !== name && name.endsWith(end)));
}

function partsOf(settings: readonly OwnSetting[], wanted: string): readonly string[] {
  const text = settings.find(({ key }) => key === wanted)?.value ?? "";
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function isLiteral(text: string): boolean {
  return text.length >= LITERAL.least && text.length <= LITERAL.most;
}

function isName(text: string): boolean {
  return NAME.test(text);
}

function literalRule(text: string): RedactionRule {
  const pattern = new RegExp(escaped(text), "y");
  return { id: "literal", keywords: [], literal: text, pattern, matches: [], ignores: [] };
}

/** The forms in which the rules for all organizations read a value behind a name of theirs. They begin at the name. */
const NAME_RULES = [
  nameRule(
    String.raw`(?:\+?=(?<=${ASSIGNS}(?:\s{1,4}|=)["']${BEFORE}\+?=)(?<whole>${WHOLE})|:?[-=](?<=\$\{${BEFORE}:?[-=])(?<secret>${DEFAULT})(?=\})|${CLOSED}\+?=(?![=~])${VALUE})`,
  ),
  nameRule(LABELS + LOOSE_VALUE),
  nameRule(
    String.raw`(?:(?<=(?<![\w-])--?${BEFORE})${OPTION_GAP}|(?<=${SETS}\s{1,4}${BEFORE})\s{1,4})${VALUE}`,
  ),
];

function nameRule(behind: string): RedactionRule {
  const rule = valueAt("name", [], String.raw`[\w.-]{3,64}(?![\w.-])`, [], [], behind);
  return { ...rule, isEnding: true };
}

function nameRules(names: readonly string[]): readonly RedactionRule[] {
  return names.length === 0 ? [] : NAME_RULES.map((rule) => ({ ...rule, keywords: names }));
}

/** Keywords are compared with the ASCII letters of a text in lower case. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
