/**
 * The evaluation of documents of the schema `signalbox/policy/v1`. A rule applies if all of its fields
 * match. Denying rules override allowing rules. If no rule applies, the default decides. A command text
 * is a shell text and is judged by the commands that it runs: it is denied if one of them is denied, and
 * allowed if all of them are allowed.
 */
import type { Decision } from "../core/decision.ts";
import { type Form, WrittenForm } from "./shell/command-form.ts";
import { splitCommand } from "./shell/command-parts.ts";
import {
  appliesBeside,
  type Condition,
  conditionsOf,
  firstMet,
  isExactly,
  isMet,
  WORD_STEPS,
} from "./conditions.ts";
import type { Command, PolicyDocument, Rule } from "./rules.ts";
import type { Effect } from "./schema.ts";
import { assignmentIn } from "./shell/command.ts";
import { COMPARISON_STEPS, type StepBudget } from "./step-budget.ts";
import { trimmed } from "./trimmed.ts";

/** A decision and the rule that made it; null if the default decided. */
export interface Verdict {
  readonly decision: Decision;
  readonly rule: string | null;
  readonly reason: string | null;
  /** The reason why a text cannot be split, as in "an array"; absent if it was split. */
  readonly doubt?: string;
  /** The program of the first command of the text that no rule allows, if it is one of several. */
  readonly program?: string;
}

/** A program that names a command to people. Its arguments may be secrets that are known only by the text around them. */
const PROGRAM = /^[\w.~/-]{1,100}$/;

/**
 * Decides a command, in this order:
 *
 * 1. The first denying rule that applies to the text, or to one of its commands, denies it. An exception of the rule
 *    excuses the command that it matches, or the whole text if its pattern is exactly this text.
 * 2. The first allowing rule whose pattern is exactly this text allows it.
 * 3. If rules allow all of its commands, the first of these rules allows it.
 * 4. Otherwise, and for a text that cannot be split, the default decides.
 *
 * A tool that runs no command is decided by the rules with capabilities or providers and without commands, and runs if
 * none of them applies: documents are written for commands.
 *
 * @param work counts the splitting, and each comparison with the lengths of its texts
 * @throws TooMuchWork when the work exceeds its limit
 */
export function evaluate(document: PolicyDocument, command: Command, work: StepBudget): Verdict {
  const isTool = command.command === undefined;
  const text = trimmed(command.command ?? "");
  const whole = new WrittenForm(text);
  const first = whole.wordAt(0);
  // The service gives events without a provider the first word. That must not count for the parts behind the first one.
  const isDerived = command.provider === first && !namesProvider(command);
  const provider = isDerived ? undefined : command.provider;
  work.spend(COMPARISON_STEPS * document.rules.length + WORD_STEPS * text.length);
  const denials: Condition[] = [];
  const permissions: Condition[] = [];
  const namesWhole = (one: Condition): boolean =>
    one.exact.some((pattern) => isExactly(pattern, text, work)) &&
    isMet(one, whole, [provider ?? first], work);
  for (const condition of conditionsOf(document)) {
    if (isTool && !isAboutTools(condition)) continue;
    if (!appliesBeside(condition, command, work)) continue;
    if (condition.rule.effect === "allow") {
      permissions.push(condition);
      continue;
    }
    work.spend(COMPARISON_STEPS * condition.exceptions.length);
    const exceptions = condition.exceptions.filter(
      (one) => !(isTool && one.commands) && appliesBeside(one, command, work),
    );
    const isLifted = exceptions.some((one) => (!one.commands && !one.providers) || namesWhole(one));
    if (isLifted) continue;
    const isWhole = exceptions.length === condition.exceptions.length;
    denials.push(isWhole ? condition : { ...condition, exceptions });
  }

  // A given provider says nothing about the programs behind the first one, whose assignments they may repeat. A first
  // word with a variable or a pattern may be another program when it is repeated.
  const isPlain = !assignmentIn(first ?? "") && !/[<>$`*?[]/.test(first ?? "");
  const given = isPlain ? (provider ?? first) : first;
  const providerOf = (program: string | undefined) => (program === first ? given : program);
  let denying = denials.length; // the position of the first denying rule that applies
  let excused = denials.length; // the position of the first denying rule that an exception lifted
  const suspected = (form: Form): void => {
    const program = form.wordAt(0);
    const providers = [provider, program];
    const excusing = [providerOf(program)];
    for (let at = 0; at < denying; at++) {
      const denial = denials[at] as Condition;
      if (!isMet(denial, form, providers, work)) continue;
      if (denial.exceptions.some((one) => isMet(one, form, excusing, work))) {
        excused = Math.min(excused, at);
      } else denying = at;
    }
  };
  let allowing = permissions.length;
  let isEachAllowed = true;
  let refused: Form | undefined; // the first command that no rule allows
  let isEmpty = true;
  const required = (forms: readonly Form[]): void => {
    isEmpty = false;
    if (!isEachAllowed) return;
    const providers = [providerOf(forms[0]?.wordAt(0))];
    const found = firstMet(permissions, forms, providers, work);
    isEachAllowed = found < permissions.length;
    if (!isEachAllowed) [refused] = forms;
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
  const isAllowed = permission !== undefined || isTool;
  const decided = verdict(isAllowed ? "allow" : document.default, permission?.rule);
  const program = refused?.wordAt(0) ?? "";
  const isOne = refused?.text === text || document.default === "allow";
  return isOne || !PROGRAM.test(program) ? decided : { ...decided, program };
}

function isAboutTools({ commands, rule: { match } }: Condition): boolean {
  return !commands && (match.capabilities ?? match.providers) !== undefined;
}

/**
 * Whether the capability says that the provider was given, as for each tool of an agent. Otherwise a tool of `mcp/box`
 * could run `mcp/box; rm x` as if it had no provider.
 */
export function namesProvider({ provider, capability }: Omit<Command, "command">): boolean {
  return provider !== undefined && capability?.startsWith(`${provider}/`) === true;
}

/** The decision that an effect stands for, as the API spells it. */
export function decisionOf(effect: Effect): Decision {
  return effect === "allow" ? "ALLOWED" : "DENIED";
}

function verdict(effect: Effect, rule: Rule | undefined): Verdict {
  return { decision: decisionOf(effect), rule: rule?.id ?? null, reason: rule?.reason ?? null };
}
