/** The rules of a document, taken apart to be compared with many commands. */
import { type Form, splitAtSpace } from "./shell/command-form.ts";
import { type FactField, GLOB_FIELDS, globFields } from "./glob-fields.ts";
import { type Glob, globOf, matchesGlob } from "./glob.ts";
import type { Command, CommandPattern, PolicyDocument, Rule, RuleMatch } from "./rules.ts";
import { COMPARISON_STEPS, type StepBudget } from "./step-budget.ts";
import { trimmed } from "./trimmed.ts";

/** The steps for each character when a text is split into words. */
export const WORD_STEPS = 10;

/** A rule's match, or one of its exceptions, taken apart to be compared with many commands. */
export interface Condition {
  readonly rule: Rule;
  readonly commands: readonly PreparedPattern[] | undefined;
  /** Those of the commands that are whole texts. */
  readonly exact: readonly ExactPattern[];
  readonly providers: readonly Glob[] | undefined;
  /** The patterns for the other facts about a command. */
  readonly beside: readonly (readonly [FactField, readonly Glob[]])[];
  /** The exceptions of a denying rule; an exception has none. */
  readonly exceptions: readonly Condition[];
}

interface ExactPattern {
  readonly exact: string;
  readonly trimmed: string;
}

type PreparedPattern =
  | ExactPattern
  | { readonly prefix: string; readonly words: readonly string[] }
  | { readonly glob: Glob };

/** The conditions of the documents that decided before: a replay decides very many commands by one document. */
const prepared = new WeakMap<PolicyDocument, readonly Condition[]>();
/** Those of their rules: a replay makes thousands of documents with the same rules. */
const preparedRules = new WeakMap<Rule, Condition>();

/** The conditions of the rules that are not switched off. */
export function conditionsOf(document: PolicyDocument): readonly Condition[] {
  const known = prepared.get(document);
  if (known) return known;
  const conditions = document.rules
    .filter(({ enabled }) => enabled)
    .map((rule) => {
      const condition = preparedRules.get(rule) ?? conditionOf(rule, rule.match, rule.except);
      preparedRules.set(rule, condition);
      return condition;
    });
  prepared.set(document, conditions);
  return conditions;
}

function conditionOf(rule: Rule, match: RuleMatch, except: readonly RuleMatch[] = []): Condition {
  const beside = GLOB_FIELDS.flatMap((field) => {
    const patterns = field === "providers" ? undefined : match[field]?.map(globOf);
    return patterns ? [[globFields[field], patterns] as const] : [];
  });
  const commands = match.commands?.map(preparedPattern);
  return {
    rule,
    commands,
    exact: commands?.filter((pattern) => "exact" in pattern) ?? [],
    providers: match.providers?.map(globOf),
    beside,
    exceptions: except.map((one) => conditionOf(rule, one)),
  };
}

function preparedPattern(pattern: CommandPattern): PreparedPattern {
  if ("prefix" in pattern) return { ...pattern, words: splitAtSpace(pattern.prefix) };
  return "glob" in pattern
    ? { glob: globOf(pattern.glob) }
    : { ...pattern, trimmed: trimmed(pattern.exact) };
}

/** Whether a condition fits a command in all fields other than its text and its provider. */
export function appliesBeside({ beside }: Condition, command: Command, work: StepBudget): boolean {
  for (const [field, patterns] of beside) {
    if (!matchesAny(patterns, [command[field]], work)) return false;
  }
  return true;
}

/** The position of the first condition that one of some forms meets; otherwise their number. */
export function firstMet(
  conditions: readonly Condition[],
  forms: readonly Form[],
  providers: readonly (string | undefined)[],
  work: StepBudget,
): number {
  for (let at = 0; at < conditions.length; at++) {
    for (const form of forms) {
      if (isMet(conditions[at] as Condition, form, providers, work)) return at;
    }
  }
  return conditions.length;
}

/** Whether a form of a command, with one of some providers, meets a condition. */
export function isMet(
  { commands, providers }: Condition,
  form: Form,
  programs: readonly (string | undefined)[],
  work: StepBudget,
): boolean {
  work.spend(COMPARISON_STEPS);
  if (commands && !matchesForm(commands, form, work)) return false;
  return !providers || matchesAny(providers, programs, work);
}

function matchesAny(
  patterns: readonly Glob[],
  values: readonly (string | undefined)[],
  work: StepBudget,
): boolean {
  for (const value of values) {
    if (value === undefined) continue; // before the patterns, whose comparisons are counted
    for (const pattern of patterns) if (matchesGlob(pattern, value, work)) return true;
  }
  return false;
}

/** Whether a pattern is exactly a text, apart from white space around it. */
export function isExactly(
  { exact, trimmed }: ExactPattern,
  text: string,
  work: StepBudget,
): boolean {
  work.spend(COMPARISON_STEPS + exact.length);
  return text === trimmed;
}

/** Whether one of some patterns matches a form. */
function matchesForm(patterns: readonly PreparedPattern[], form: Form, work: StepBudget): boolean {
  for (const pattern of patterns) {
    if ("words" in pattern) {
      work.spend(COMPARISON_STEPS + WORD_STEPS * pattern.prefix.length);
      if (beginsWith(form, pattern.words)) return true;
    } else if ("glob" in pattern) {
      if (matchesGlob(pattern.glob, form.text, work)) return true;
    } else if (isExactly(pattern, form.text, work)) return true;
  }
  return false;
}

function beginsWith(form: Form, words: readonly string[]): boolean {
  for (let at = 0; at < words.length; at++) if (form.wordAt(at) !== words[at]) return false;
  return true;
}
