/**
 * Finds the events that documents cannot tell apart. A document compares the facts beside a command only with its
 * patterns: two executors that match the same patterns get the same decisions.
 */
import {
  GLOB_FIELDS,
  globFields,
  type PolicyDocument,
  type RuleMatch,
} from "../policies/evaluate.ts";
import { type Glob, globOf, matchesGlob } from "../policies/glob.ts";
import type { StepBudget } from "../policies/step-budget.ts";
import { doubtAbout, type RecordedCommand } from "./reasons.ts";

/** The most patterns of a field whose matches fit into the bits of one number; beyond it the value itself counts. */
const MOST_BITS = 30;

type Field = Exclude<(typeof globFields)[keyof typeof globFields], "provider">;

/** All patterns for a field, without repetition. */
interface FieldPatterns {
  readonly field: Field;
  readonly patterns: readonly Glob[];
}

/** All facts that some documents look at beside the command. */
export class FactClasses {
  readonly #fields: readonly FieldPatterns[];
  readonly #hasProviders: boolean;

  constructor(documents: readonly PolicyDocument[]) {
    const matches = documents.flatMap(matchesOf);
    this.#hasProviders = matches.some(({ providers }) => providers !== undefined);
    this.#fields = GLOB_FIELDS.flatMap((key) => {
      const field = globFields[key];
      const patterns = new Set(matches.flatMap((match) => match[key] ?? []));
      return field === "provider" || patterns.size === 0
        ? []
        : [{ field, patterns: Array.from(patterns, globOf) }];
    });
  }

  /** A text that is equal for events with the same command only if the documents decide them alike. */
  of(event: RecordedCommand, work: StepBudget): string {
    let all = "";
    for (const one of this.#fields) all += `${classOf(one, event, work)};`;
    // The provider is compared with the programs in the command, too.
    const { provider } = event;
    if (this.#hasProviders)
      all += provider === undefined ? "-;" : `${provider.length},${provider};`;
    return all;
  }
}

/** Every condition of a document and its exceptions. */
export function matchesOf({ rules }: PolicyDocument): readonly RuleMatch[] {
  return rules.flatMap(({ match, except = [] }) => [match, ...except]);
}

function classOf(
  { field, patterns }: FieldPatterns,
  event: RecordedCommand,
  work: StepBudget,
): string {
  const value = event[field];
  if (value === undefined) return "-";
  if (patterns.length > MOST_BITS) return `${value.length},${value}`;
  let bits = 0;
  for (let at = 0; at < patterns.length; at++) {
    if (matchesGlob(patterns[at] as Glob, value, work)) bits |= 1 << at;
  }
  const isDoubtful = field === "resource" && doubtAbout(event, field) !== undefined;
  return isDoubtful ? `?${bits}` : `${bits}`;
}
