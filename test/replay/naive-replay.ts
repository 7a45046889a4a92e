/**
 * A replay in its plainest form, written from docs/policies.md alone: for documents whose commands are simple (words
 * without quotes, lists, wrappers or substitutions), and for values that are unknown it tries every value.
 */

/** A pattern for commands. */
export type NaivePattern = { exact: string } | { prefix: string } | { glob: string };
export type NaiveMatch = { commands?: NaivePattern[] } & Partial<
  Record<"providers" | "capabilities" | "consumers" | "executors" | "resources", string[]>
>;
export interface NaiveRule {
  id: string;
  effect: "allow" | "deny";
  match: NaiveMatch;
  enabled?: boolean;
  except?: NaiveMatch[];
}
/** A document as it is parsed from YAML. */
export interface NaiveDocument {
  schema: string;
  default?: "allow" | "deny";
  rules: NaiveRule[];
}

/** The facts of an event. */
export interface NaiveFacts {
  command?: string;
  provider?: string;
  capability?: string;
  consumer?: string;
  executor?: string;
  resource?: string;
}

/** The decision on facts that are all known, and the rule that decides. */
export function naiveDecision(document: NaiveDocument, facts: NaiveFacts) {
  const { provider: _, ...unnamed } = facts; // a rule that denies is compared with the program, too
  const applying = document.rules.filter(
    (rule) =>
      rule.enabled !== false &&
      (naiveMatch(rule.match, facts) ||
        (rule.effect === "deny" && naiveMatch(rule.match, unnamed))) &&
      !(rule.except ?? []).some((one) => naiveMatch(one, facts)),
  );
  const rule =
    applying.find(({ effect }) => effect === "deny") ??
    applying.find(({ effect }) => effect === "allow");
  const effect = rule?.effect ?? document.default ?? "deny";
  return { decision: effect === "allow" ? "ALLOWED" : "DENIED", rule: rule?.id ?? null };
}

/** The decision on a tool that runs no command, as the guard makes it. */
export function naiveToolDecision(document: NaiveDocument, facts: NaiveFacts) {
  const rules = document.rules
    .filter(({ match }) => !match.commands && (match.capabilities || match.providers))
    .map(({ except = [], ...rule }) => ({
      ...rule,
      except: except.filter(({ commands }) => !commands),
    }));
  return naiveDecision({ ...document, default: "allow", rules }, facts);
}

function naiveMatch(match: NaiveMatch, facts: NaiveFacts): boolean {
  const words = (facts.command ?? "").trim().split(/\s+/).filter(Boolean);
  const text = (facts.command ?? "").trim();
  const isMatching = (pattern: NaivePattern): boolean => {
    if ("exact" in pattern) return pattern.exact.trim() === text;
    if ("glob" in pattern) return naiveGlob(pattern.glob, text);
    const wanted = pattern.prefix.split(/\s+/).filter(Boolean);
    return wanted.every((word, i) => words[i] === word);
  };
  const anyOf = (globs: string[] | undefined, value: string | undefined): boolean =>
    globs === undefined || (value !== undefined && globs.some((glob) => naiveGlob(glob, value)));
  return (
    (match.commands === undefined || match.commands.some(isMatching)) &&
    anyOf(match.providers, facts.provider ?? words[0]) &&
    anyOf(match.capabilities, facts.capability) &&
    anyOf(match.consumers, facts.consumer) &&
    anyOf(match.executors, facts.executor) &&
    anyOf(match.resources, facts.resource)
  );
}

function naiveGlob(glob: string, text: string): boolean {
  const [first = "", ...rest] = glob;
  if (glob === "") return text === "";
  if (first !== "*") return text[0] === first && naiveGlob(rest.join(""), text.slice(1));
  return naiveGlob(rest.join(""), text) || (text !== "" && naiveGlob(glob, text.slice(1)));
}
