/**
 * The evaluation of documents of the schema `signalbox/policy/v1`. A rule applies if all of its fields
 * match. Denying rules override allowing rules. If no rule applies, the default decides. A command text
 * is a shell text and is judged by the commands that it runs: it is denied if one of them is denied, and
 * allowed if all of them are allowed.
 */
import { type Form, splitAtSpace, WrittenForm } from "./command-form.ts";
import { splitCommand } from "./command-parts.ts";
import { matchesGlob } from "./glob.ts";
import type { Effect, Mode, PolicyDecision } from "./schema.ts";
import { COMPARISON_STEPS, type StepBudget } from "./step-budget.ts";

/** One way to match a command: as a whole, by its first words, or with `*` for any characters. */
export type CommandPattern =
  { readonly exact: string } | { readonly prefix: string } | { readonly glob: string };

/** The fields of a rule's match that list globs, each with its field of a command. */
export const globFields = {
  providers: "provider",
  capabilities: "capability",
  consumers: "consumer",
  executors: "executor",
  resources: "resource",
} as const;
export type GlobField = keyof typeof globFields;
export const GLOB_FIELDS = Object.keys(globFields) as GlobField[];

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
  readonly decision: PolicyDecision;
  readonly rule: string | null;
  readonly reason: string | null;
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
  const text = command.command.trim(); // surrounding space is not part of a command
  const whole = new WrittenForm(text);
  const first = whole.wordAt(0);
  const { provider } = command;
  work.spend(COMPARISON_STEPS * document.rules.length + WORD_STEPS * text.length);
  const rules = document.rules.filter(
    ({ enabled, match }) => enabled && appliesBeside(match, command, work),
  );
  const isExactly = (one: Condition): boolean =>
    hasExactly(text, one, work) && isMet(one, whole, [provider ?? first], work);
  const denials: Denial[] = [];
  for (const rule of rules) {
    if (rule.effect !== "deny") continue;
    const exceptions = (rule.except ?? [])
      .filter((match) => appliesBeside(match, command, work))
      .map((match) => conditionOf(rule, match));
    const isLifted = exceptions.some((one) => (!one.commands && !one.providers) || isExactly(one));
    if (!isLifted) denials.push({ ...conditionOf(rule), exceptions });
  }
  const permissions = rules
    .filter(({ effect }) => effect === "allow")
    .map((rule) => conditionOf(rule));

  let denying = denials.length; // the position of the first denying rule that applies
  let excused = denials.length; // the position of the first denying rule that an exception lifted
  const suspected = (form: Form): void => {
    const program = form.wordAt(0);
    const providers = program === first ? [provider ?? first] : [provider, program];
    const met = (from: number) => firstMet(denials, from, denying, [form], providers, work);
    let at = met(0);
    while (at < denying && isExcepted(denials[at] as Denial, form, providers, work)) {
      excused = Math.min(excused, at);
      at = met(at + 1);
    }
    denying = at;
  };
  // The provider of an audit event is by default the first word, which says nothing about the text's other programs.
  const isGiven = provider !== undefined && provider !== first;
  let allowing = permissions.length;
  let isEachAllowed = true;
  let isEmpty = true;
  const required = (forms: readonly Form[]): void => {
    isEmpty = false;
    if (!isEachAllowed) return;
    const providers = [isGiven ? provider : forms[0]?.wordAt(0)];
    const found = firstMet(permissions, 0, permissions.length, forms, providers, work);
    isEachAllowed = found < permissions.length;
    allowing = Math.min(allowing, found);
  };

  suspected(whole);
  const isComplete = splitCommand(command.argv ?? text, { suspected, required }, work);
  // A text that cannot be split may run more than the command that an exception matches.
  const denial = denials[isComplete ? denying : Math.min(denying, excused)];
  if (denial) return verdict("deny", denial.rule);
  const exact = permissions.find(isExactly);
  if (exact) return verdict("allow", exact.rule);
  if (isEmpty) required([whole]);
  const permission = isComplete && isEachAllowed ? permissions[allowing] : undefined;
  return verdict(permission ? "allow" : document.default, permission?.rule);
}

/** The decision that an effect stands for, as the API spells it. */
export function decisionOf(effect: Effect): PolicyDecision {
  return effect === "allow" ? "ALLOWED" : "DENIED";
}

function verdict(effect: Effect, rule: Rule | undefined): Verdict {
  return {
    decision: decisionOf(effect),
    rule: rule?.id ?? null,
    reason: rule?.reason ?? null,
  };
}

/** The steps for each character when a text is split into words. */
const WORD_STEPS = 10;

/** Whether a match fits a command in all fields other than its text and its provider. */
function appliesBeside(match: RuleMatch, command: Command, work: StepBudget): boolean {
  return GLOB_FIELDS.every((field) => {
    const patterns = match[field];
    if (!patterns || field === "providers") return true;
    return matchesAny(patterns, [command[globFields[field]]], work);
  });
}

/** The condition of a rule on one command of a text. */
interface Condition {
  readonly rule: Rule;
  readonly commands:
    readonly (CommandPattern & { readonly words?: readonly string[] })[] | undefined;
  readonly providers: readonly string[] | undefined;
}

/** The condition of a denying rule, and those of its exceptions. */
interface Denial extends Condition {
  readonly exceptions: readonly Condition[];
}

/** The condition of a rule's match, or of one of its exceptions. */
function conditionOf(rule: Rule, { commands, providers }: RuleMatch = rule.match): Condition {
  const split = commands?.map((pattern) =>
    "prefix" in pattern ? { ...pattern, words: splitAtSpace(pattern.prefix) } : pattern,
  );
  return { rule, commands: split, providers };
}

function isExcepted(
  { exceptions }: Denial,
  form: Form,
  programs: readonly (string | undefined)[],
  work: StepBudget,
): boolean {
  return exceptions.some((one) => isMet(one, form, programs, work));
}

/** The position, within `from` and `end`, of the first condition that one of the forms meets; `end` if there is none. */
function firstMet(
  conditions: readonly Condition[],
  from: number,
  end: number,
  forms: readonly Form[],
  providers: readonly (string | undefined)[],
  work: StepBudget,
): number {
  for (let at = from; at < end; at++) {
    const condition = conditions[at] as Condition;
    if (forms.some((form) => isMet(condition, form, providers, work))) return at;
  }
  return end;
}

function isMet(
  { commands, providers }: Condition,
  form: Form,
  programs: readonly (string | undefined)[],
  work: StepBudget,
): boolean {
  work.spend(COMPARISON_STEPS);
  if (commands && !commands.some((pattern) => matchesForm(pattern, form, work))) return false;
  return !providers || matchesAny(providers, programs, work);
}

function matchesAny(
  patterns: readonly string[],
  values: readonly (string | undefined)[],
  work: StepBudget,
): boolean {
  return patterns.some((pattern) =>
    values.some((value) => value !== undefined && matchesGlob(pattern, value, work)),
  );
}

function hasExactly(text: string, { commands }: Condition, work: StepBudget): boolean {
  return (commands ?? []).some(
    (pattern) => "exact" in pattern && isExactly(pattern.exact, text, work),
  );
}

function isExactly(pattern: string, text: string, work: StepBudget): boolean {
  work.spend(COMPARISON_STEPS + pattern.length);
  return text === pattern.trim();
}

function matchesForm(
  pattern: NonNullable<Condition["commands"]>[number],
  form: Form,
  work: StepBudget,
): boolean {
  if ("glob" in pattern) return matchesGlob(pattern.glob, form.text, work);
  if ("exact" in pattern) return isExactly(pattern.exact, form.text, work);
  work.spend(COMPARISON_STEPS + WORD_STEPS * pattern.prefix.length);
  return (pattern.words ?? []).every((word, index) => form.wordAt(index) === word);
}
