/**
 * The evaluation of documents of the schema `signalbox/policy/v1`. A rule applies if all of its fields
 * match. Denying rules override allowing rules. If no rule applies, the default decides. A command text
 * is a shell text and is judged by the commands that it runs: it is denied if one of them is denied, and
 * allowed if all of them are allowed.
 */
import type { Decision } from "../core/decision.ts";
import { type Form, splitAtSpace, WrittenForm } from "./command-form.ts";
import { splitCommand } from "./command-parts.ts";
import { GLOB_FIELDS, type GlobField, globFields } from "./glob-fields.ts";
import { type Glob, globOf, matchesGlob } from "./glob.ts";
import type { Effect, Mode } from "./schema.ts";
import { COMPARISON_STEPS, type StepBudget } from "./step-budget.ts";
import { trimmed } from "./trimmed.ts";

/** One way to match a command: as a whole, by its first words, or with `*` for any characters. */
export type CommandPattern =
  | { readonly exact: string }
  | { readonly prefix: string }
  | { readonly glob: string };

/** The condition of a rule: every given field must match, by any of its entries. */
export type RuleMatch = {
  readonly commands?: readonly CommandPattern[];
} & { readonly [F in GlobField]?: readonly string[] };

export interface Rule {
  readonly id: string;
  readonly effect: Effect;
  readonly description?: string;
  readonly reason?: string;
  readonly enabled: boolean;
  readonly match: RuleMatch;
  /** Commands that a denying rule does not apply to, although `match` matches them. */
  readonly except?: readonly RuleMatch[];
}

/** A command to decide; an absent field does not match a rule that requires it. */
export interface Command {
  readonly command: string;
  /** The words of the command, if it is run without a shell; then the text is not split. */
  readonly argv?: readonly string[] | undefined;
  /** If absent, the first word of the command, as for audit events. */
  readonly provider?: string | undefined;
  readonly capability?: string | undefined;
  readonly consumer?: string | undefined;
  readonly executor?: string | undefined;
  readonly resource?: string | undefined;
}

/** A document's own test: the expected decision on a command, and optionally the expected rule. */
export interface PolicyTest extends Command {
  readonly expect: Effect;
  readonly rule?: string;
}

/** A document of our schema, checked. */
export interface PolicyDocument {
  readonly name?: string;
  readonly description?: string;
  readonly default: Effect;
  /** `enforce` if absent. */
  readonly mode?: Mode;
  readonly rules: readonly Rule[];
  readonly tests: readonly PolicyTest[];
}

/** A decision and the rule that made it; null if the default decided. */
export interface Verdict {
  readonly decision: Decision;
  readonly rule: string | null;
  readonly reason: string | null;
  /** The reason why a text cannot be split, as in "an array"; absent if it was split. */
  readonly doubt?: string;
}

/**
 * Decides a command, in this order:
 *
 * 1. The first denying rule that applies to the text, or to one of its commands, denies it. An exception of the rule
 *    excuses the command that it matches, or the whole text if its pattern is exactly this text.
 * 2. The first allowing rule whose pattern is exactly this text allows it.
 * 3. If rules allow all of its commands, the first of these rules allows it.
 * 4. Otherwise, and for a text that cannot be split, the default decides.
 *
 * @param work counts the splitting, and each comparison with the lengths of its texts
 * @throws TooMuchWork when the work exceeds its limit
 */
export function evaluate(document: PolicyDocument, command: Command, work: StepBudget): Verdict {
  const text = trimmed(command.command);
  const whole = new WrittenForm(text);
  const first = whole.wordAt(0);
  const { provider } = command;
  work.spend(COMPARISON_STEPS * document.rules.length + WORD_STEPS * text.length);
  const denials: Condition[] = [];
  const permissions: Condition[] = [];
  const namesWhole = (one: Condition): boolean =>
    one.exact.some((pattern) => isExactly(pattern, text, work)) &&
    isMet(one, whole, [provider ?? first], work);
  for (const condition of conditionsOf(document)) {
    if (!appliesBeside(condition, command, work)) continue;
    if (condition.rule.effect === "allow") {
      permissions.push(condition);
      continue;
    }
    work.spend(COMPARISON_STEPS * condition.exceptions.length);
    const exceptions = condition.exceptions.filter((one) => appliesBeside(one, command, work));
    const isLifted = exceptions.some((one) => (!one.commands && !one.providers) || namesWhole(one));
    if (isLifted) continue;
    const isWhole = exceptions.length === condition.exceptions.length;
    denials.push(isWhole ? condition : { ...condition, exceptions });
  }

  let denying = denials.length; // the position of the first denying rule that applies
  let excused = denials.length; // the position of the first denying rule that an exception lifted
  const suspected = (form: Form): void => {
    const program = form.wordAt(0);
    const providers = program === first ? [provider ?? first] : [provider, program];
    for (let at = 0; at < denying; at++) {
      const denial = denials[at] as Condition;
      if (!isMet(denial, form, providers, work)) continue;
      if (denial.exceptions.some((one) => isMet(one, form, providers, work))) {
        excused = Math.min(excused, at);
      } else denying = at;
    }
  };
  let allowing = permissions.length;
  let isEachAllowed = true;
  let isEmpty = true;
  const required = (forms: readonly Form[]): void => {
    isEmpty = false;
    if (!isEachAllowed) return;
    // A given provider is that of the text's first word, and says nothing about the text's other programs.
    const program = forms[0]?.wordAt(0);
    const providers = [program === first ? (provider ?? first) : program];
    const found = firstMet(permissions, forms, providers, work);
    isEachAllowed = found < permissions.length;
    allowing = Math.min(allowing, found);
  };

  suspected(whole);
  const doubt = splitCommand(command.argv ?? text, { suspected, required }, work);
  // A text that cannot be split may run more than the command that an exception matches.
  const denial = denials[doubt === undefined ? denying : Math.min(denying, excused)];
  if (denial) return verdict("deny", denial.rule);
  const exact = permissions.find(namesWhole);
  if (exact) return verdict("allow", exact.rule);
  if (isEmpty) required([whole]);
  if (doubt !== undefined) return { ...verdict(document.default, undefined), doubt };
  const permission = isEachAllowed ? permissions[allowing] : undefined;
  return verdict(permission ? "allow" : document.default, permission?.rule);
}

/** The decision that an effect stands for, as the API spells it. */
export function decisionOf(effect: Effect): Decision {
  return effect === "allow" ? "ALLOWED" : "DENIED";
}

function verdict(effect: Effect, rule: Rule | undefined): Verdict {
  return { decision: decisionOf(effect), rule: rule?.id ?? null, reason: rule?.reason ?? null };
}

/** The steps for each character when a text is split into words. */
const WORD_STEPS = 10;

/** A rule's match, or one of its exceptions, taken apart to be compared with many commands. */
interface Condition {
  readonly rule: Rule;
  readonly commands: readonly PreparedPattern[] | undefined;
  /** Those of the commands that are whole texts. */
  readonly exact: readonly ExactPattern[];
  readonly providers: readonly Glob[] | undefined;
  /** The patterns for the other facts about a command. */
  readonly beside: readonly (readonly [(typeof globFields)[GlobField], readonly Glob[]])[];
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
function conditionsOf(document: PolicyDocument): readonly Condition[] {
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
function appliesBeside({ beside }: Condition, command: Command, work: StepBudget): boolean {
  for (const [field, patterns] of beside) {
    if (!matchesAny(patterns, [command[field]], work)) return false;
  }
  return true;
}

/** The position of the first condition that one of some forms meets; otherwise their number. */
function firstMet(
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

function isMet(
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

function isExactly({ exact, trimmed }: ExactPattern, text: string, work: StepBudget): boolean {
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
