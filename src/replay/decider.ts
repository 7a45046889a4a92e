/**
 * Decides recorded commands again. An event may lack a field that the runtime knew when it decided, or have a mark
 * in place of a secret. The value of such a field is never guessed: the document decides twice, once as if every rule
 * in question denied and once as if every one of them allowed. The decision counts if both are equal, since then it
 * is the same for every value.
 */
import { evaluate, type Verdict } from "../policies/evaluate.ts";
import type { Command, PolicyDocument, Rule, RuleMatch } from "../policies/rules.ts";
import { type FactField, globFields } from "../policies/glob-fields.ts";
import { commandOf, type ReportedCommand } from "../policies/reported-command.ts";
import type { StepBudget } from "../policies/step-budget.ts";
import { doubtAbout, DOUBTFUL_FIELDS, type DoubtfulField, type NotReplayable } from "./reasons.ts";

/** The keys of a match that ask for a field. A rule compares programs in the command with its providers, too. */
const KEYS = {
  command: ["commands", "providers"],
  ...(Object.fromEntries(
    Object.entries(globFields).map(([key, field]) => [field, [key]]),
  ) as unknown as Readonly<Record<FactField, readonly (keyof RuleMatch)[]>>),
} as const satisfies Readonly<Record<DoubtfulField, readonly (keyof RuleMatch)[]>>;

/** Decides a command by one document; the result is the reason if the decision depends on an unknown value. */
export type Decide = (command: ReportedCommand) => Verdict | NotReplayable;

/**
 * Prepares a document for many commands. A document that observes allows every one of them.
 *
 * @param work counts the steps of all decisions; `Decide` throws TooMuchWork when they exceed its limit
 */
export function deciderOf(document: PolicyDocument, work: StepBudget): Decide {
  const matches = document.rules
    .filter(({ enabled }) => enabled)
    .flatMap(({ match, except = [] }) => [match, ...except]);
  const asked = DOUBTFUL_FIELDS.filter((field) => matches.some((match) => asksFor(match, [field])));
  const bounds = new Map<string, readonly PolicyDocument[]>();
  const isCertain = (command: Command, unknown: readonly DoubtfulField[]): boolean => {
    const key = unknown.join();
    const both = bounds.get(key) ?? [
      mostDenying(document, unknown),
      mostAllowing(document, unknown),
    ];
    bounds.set(key, both);
    const [least, most] = both.map((bound) => evaluate(bound, command, work).decision);
    return least === most;
  };
  const decide: Decide = (recorded) => {
    const command = commandOf(recorded);
    const unknown = asked.filter((field) => doubtAbout(recorded, field) !== undefined);
    if (unknown.length > 0 && !isCertain(command, unknown)) {
      // The field that is in doubt by itself is a better reason than one that only may matter.
      const [first] = unknown;
      const field = unknown.find((one) => !isCertain(command, [one])) ?? (first as DoubtfulField);
      return doubtAbout(recorded, field) as NotReplayable;
    }
    return evaluate(document, command, work);
  };
  if (document.mode !== "observe") return decide;
  return (recorded) => {
    const verdict = decide(recorded);
    if (typeof verdict === "string") return { decision: "ALLOWED", rule: null, reason: null };
    return { ...verdict, decision: "ALLOWED" };
  };
}

/** The document as if unknown fields matched every rule that denies, and no rule or exception that allows. */
function mostDenying(document: PolicyDocument, unknown: readonly DoubtfulField[]): PolicyDocument {
  const rules = document.rules.flatMap((rule): readonly Rule[] => {
    const { effect, match, except } = rule;
    // A command that is unknown may also be a text that cannot be split, which no rule allows.
    if (effect === "allow")
      return asksFor(match, unknown) || unknown.includes("command") ? [] : [rule];
    const certain = except?.filter((one) => !asksFor(one, unknown));
    return [{ ...rule, match: without(match, unknown), ...(certain && { except: certain }) }];
  });
  return { ...document, rules };
}

/** The document as if unknown fields matched every rule and exception that allows, and no rule that denies. */
function mostAllowing(document: PolicyDocument, unknown: readonly DoubtfulField[]): PolicyDocument {
  const rules = document.rules.flatMap((rule): readonly Rule[] => {
    const { effect, match, except } = rule;
    if (effect === "allow") return [{ ...rule, match: without(match, unknown) }];
    if (asksFor(match, unknown)) return [];
    const wide = except?.map((one) => without(one, unknown));
    return [{ ...rule, ...(wide && { except: wide }) }];
  });
  return { ...document, rules };
}

function asksFor(match: RuleMatch, fields: readonly DoubtfulField[]): boolean {
  return fields.some((field) => KEYS[field].some((key) => match[key] !== undefined));
}

/** A match without its conditions on some fields. */
function without(match: RuleMatch, fields: readonly DoubtfulField[]): RuleMatch {
  const keys = new Set<string>(fields.flatMap((field) => KEYS[field]));
  return Object.fromEntries(Object.entries(match).filter(([key]) => !keys.has(key)));
}
