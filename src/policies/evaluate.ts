/**
 * The evaluation of documents of the schema `signalbox/policy/v1`: rules whose every field matches
 * apply, denying rules override allowing ones, and if no rule applies, the default decides.
 */
import { matchesGlob } from "./glob.ts";
import type { PolicyDecision } from "./schema.ts";
import { COMPARISON_STEPS, type StepBudget } from "./step-budget.ts";

export const effects = ["allow", "deny"] as const;
export type Effect = (typeof effects)[number];

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
}

/** A command to decide; an absent field does not match a rule that requires it. */
export interface Command {
  readonly command: string;
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
  readonly rules: readonly Rule[];
  readonly tests: readonly PolicyTest[];
}

/** A decision, and the rule behind it: null if the default decided. */
export interface Verdict {
  readonly decision: PolicyDecision;
  readonly rule: string | null;
  readonly reason: string | null;
}

/**
 * Decides a command: by the first denying rule that applies, otherwise by the first allowing one.
 *
 * @param work counts each comparison with the lengths of its texts
 * @throws TooMuchWork when the comparisons exceed its limit
 */
export function evaluate(document: PolicyDocument, command: Command, work: StepBudget): Verdict {
  work.spend(COMPARISON_STEPS * document.rules.length);
  const facts = factsOf(command, work);
  let allowing: Rule | undefined;
  for (const rule of document.rules) {
    if (!rule.enabled || (rule.effect === "allow" && allowing)) continue;
    if (!applies(rule.match, facts, work)) continue;
    if (rule.effect === "deny") return verdict("deny", rule);
    allowing = rule;
  }
  return verdict(allowing ? "allow" : document.default, allowing);
}

/** The word on the wire for an effect. */
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

interface Facts extends Command {
  readonly words: readonly string[];
}

function factsOf(command: Command, work: StepBudget): Facts {
  work.spend(WORD_STEPS * command.command.length);
  const text = command.command.trim(); // surrounding space is not part of a command
  const words = wordsOf(text);
  return { ...command, command: text, provider: command.provider ?? words[0], words };
}

/** The steps for each character when a text is split into words. */
const WORD_STEPS = 10;

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function applies(match: RuleMatch, facts: Facts, work: StepBudget): boolean {
  if (match.commands && !match.commands.some((pattern) => matchesCommand(pattern, facts, work))) {
    return false;
  }
  for (const field of GLOB_FIELDS) {
    const patterns = match[field];
    if (!patterns) continue;
    const value = facts[globFields[field]];
    if (value === undefined) return false;
    if (!patterns.some((pattern) => matchesGlob(pattern, value, work))) return false;
  }
  return true;
}

function matchesCommand(
  pattern: CommandPattern,
  { command, words }: Facts,
  work: StepBudget,
): boolean {
  if ("glob" in pattern) return matchesGlob(pattern.glob, command, work);
  if ("exact" in pattern) {
    work.spend(COMPARISON_STEPS + pattern.exact.length);
    return command === pattern.exact.trim();
  }
  work.spend(COMPARISON_STEPS + WORD_STEPS * pattern.prefix.length);
  return wordsOf(pattern.prefix).every((word, index) => words[index] === word);
}
