/**
 * Finds the events that documents cannot tell apart. A document compares the facts beside a command only with its
 * patterns: two executors that match the same patterns get the same decisions.
 */
import { MARK } from "../audit/redaction/values.ts";
import { namesProvider } from "../policies/evaluate.ts";
import type { PolicyDocument, RuleMatch } from "../policies/rules.ts";
import { type FactField, GLOB_FIELDS, globFields } from "../policies/glob-fields.ts";
import { type Glob, globOf, matchesGlob } from "../policies/glob.ts";
import { isComplete, type ReportedCommand, SEVERAL } from "../policies/reported-command.ts";
import type { StepBudget } from "../policies/step-budget.ts";

/** The bits of a small integer. Of a field with more patterns, the value itself counts. */
const MOST_BITS = 30;
/** The bits of a field besides those of its patterns. */
const MARK_BITS = 2;
const ABSENT = 1;
const DOUBTFUL = 2;

/** A value that is equal for events with the same command only if the documents decide them alike. */
export type FactClass = number | string;

/** Reads each field. Reading by a variable name took several times as long. */
const READ: Readonly<
  Record<Exclude<FactField, "provider">, (event: ReportedCommand) => string | undefined>
> = {
  capability: (event) => event.capability,
  consumer: (event) => event.consumer,
  executor: (event) => event.executor,
  resource: (event) => event.resource,
};

/** All patterns for a field, without repetition. */
interface FieldPatterns {
  readonly read: (event: ReportedCommand) => string | undefined;
  /** Values may contain a mark in place of a secret, or be several. */
  readonly isResource: boolean;
  readonly patterns: readonly Glob[];
}

/** All facts that some documents look at beside the command. */
export class FactClasses {
  readonly #fields: readonly FieldPatterns[];
  readonly #hasProviders: boolean;
  /** Whether the classes of all fields fit into one number. */
  readonly #areShort: boolean;

  constructor(documents: readonly PolicyDocument[]) {
    const matches = documents.flatMap(matchesOf);
    this.#hasProviders = matches.some(({ providers }) => providers !== undefined);
    this.#fields = GLOB_FIELDS.flatMap((key) => {
      const field = globFields[key];
      const patterns = new Set(matches.flatMap((match) => match[key] ?? []));
      return field === "provider" || patterns.size === 0
        ? []
        : [
            {
              read: READ[field],
              isResource: field === "resource",
              patterns: Array.from(patterns, globOf),
            },
          ];
    });
    const bits = this.#fields.reduce((sum, { patterns }) => sum + patterns.length + MARK_BITS, 1);
    this.#areShort = bits <= MOST_BITS && !this.#hasProviders;
  }

  of(event: ReportedCommand, work: StepBudget): FactClass {
    if (this.#areShort) {
      let packed = isComplete(event) ? 1 : 0;
      for (const one of this.#fields) {
        packed = (packed << (one.patterns.length + MARK_BITS)) | packedClass(one, event, work);
      }
      return packed;
    }
    let all = isComplete(event) ? "+" : "";
    for (const one of this.#fields) all += `${classOf(one, event, work)};`;
    // The provider is compared with the programs in the command, too, unless it may be one of them.
    const { provider } = event;
    if (this.#hasProviders) {
      const mark = namesProvider(event) ? "," : ".";
      all += provider === undefined ? "-;" : `${provider.length}${mark}${provider};`;
    }
    return all;
  }
}

/** Every condition of a document and its exceptions. */
export function matchesOf({ rules }: PolicyDocument): readonly RuleMatch[] {
  return rules.flatMap(({ match, except = [] }) => [match, ...except]);
}

function classOf(one: FieldPatterns, event: ReportedCommand, work: StepBudget): string {
  if (one.patterns.length + MARK_BITS <= MOST_BITS) return String(packedClass(one, event, work));
  const value = one.read(event);
  return value === undefined ? "-" : `${value.length},${value}`;
}

/** The patterns that match, and the marks of a value that is absent or in doubt, as bits of a number. */
function packedClass(
  { read, isResource, patterns }: FieldPatterns,
  event: ReportedCommand,
  work: StepBudget,
): number {
  const value = read(event);
  if (value === undefined) return ABSENT;
  let bits = 0;
  for (let at = 0; at < patterns.length; at++) {
    if (matchesGlob(patterns[at] as Glob, value, work)) bits |= 1 << at;
  }
  const isDoubtful = isResource && (value.includes(MARK) || value.includes(SEVERAL));
  return (bits << MARK_BITS) | (isDoubtful ? DOUBTFUL : 0);
}
