/**
 * The rules that reasons name. Events do not name the rule that decided them, but their reason does: the guard
 * writes `rule <id>: <reason>`, and other runtimes write the reason of the rule.
 */
import type { FacetsAnswer } from "../../audit/schema.ts";
import type { PolicyRule } from "../../policies/schema.ts";

/** The form of the guard: the id, and the reason of the rule if it has one. */
const NAMED = /^rule (\S+?)(?:: |$)/;

/** A shorter beginning of reasons could be in any other one. */
const SHORTEST_BEGINNING = 8;

/** The parts of a rule that are compared with a reason. */
export type NamedRule = Pick<PolicyRule, "id" | "reason">;

/**
 * The id of the rule that a reason names: its own reason, or the form of the guard. A reason that several rules
 * share names none of them.
 */
export function ruleOfReason(rules: readonly NamedRule[], reason = ""): string | undefined {
  const matching = rules.filter(
    ({ id, reason: own }) =>
      reason !== "" &&
      (own === reason || reason === `rule ${id}` || reason.startsWith(`rule ${id}: `)),
  );
  return matching.length === 1 ? matching[0]?.id : undefined;
}

type ReasonCount = FacetsAnswer["facets"][number]["values"][number];

/** A rule, the number of events with a reason that names it, and the filter `reason` that finds these. */
export interface RuleCount {
  readonly id: string;
  readonly reason: string;
  readonly events: number;
}

/**
 * Counts events by rule, from their counts by reason.
 *
 * @param versions the rules of each version; the first one with a rule that gives a reason counts
 * @returns those of the most events first
 */
export function countRules(
  reasons: readonly ReasonCount[],
  versions: readonly (readonly NamedRule[])[],
): readonly RuleCount[] {
  const byRule = new Map<string, ReasonCount[]>();
  for (const count of reasons) {
    const { value } = count;
    const named = versions.map((rules) => ruleOfReason(rules, value));
    const id = named.find((one) => one !== undefined) ?? NAMED.exec(value)?.[1];
    if (id === undefined) continue;
    const known = byRule.get(id);
    if (known) known.push(count);
    else byRule.set(id, [count]);
  }
  const counts = [...byRule].flatMap(([id, own]) => {
    const others = reasons.filter((count) => !own.includes(count));
    return ruleCounts(id, own, others);
  });
  return counts.sort((a, b) => b.events - a.events);
}

/**
 * The counts of one rule. A filter finds a part of a reason, in any letter case: where one part is in all reasons of
 * the rule and in no other one, they are counted together, otherwise each by itself.
 */
function ruleCounts(
  id: string,
  own: readonly ReasonCount[],
  others: readonly ReasonCount[],
): readonly RuleCount[] {
  const holds = ({ value }: ReasonCount, part: string): boolean =>
    value.toLowerCase().includes(part.toLowerCase());
  const beginning = commonBeginning(own);
  const parts = [
    ...own.map(({ value }) => value),
    `rule ${id}:`,
    ...(beginning.length < SHORTEST_BEGINNING ? [] : [beginning]),
  ];
  const reason =
    own.length === 1
      ? own[0]?.value
      : parts.find(
          (part) =>
            own.every((count) => holds(count, part)) && !others.some((count) => holds(count, part)),
        );
  if (reason === undefined) return own.map(({ value, events }) => ({ id, reason: value, events }));
  return [{ id, reason, events: own.reduce((sum, { events }) => sum + events, 0) }];
}

function commonBeginning([first, ...others]: readonly ReasonCount[]): string {
  const letters = [...(first?.value ?? "")];
  const end = letters.findIndex((_, i) => {
    const beginning = letters.slice(0, i + 1).join("");
    return others.some(({ value }) => !value.startsWith(beginning));
  });
  return letters.slice(0, end).join("").trim();
}
