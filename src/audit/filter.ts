/** The filters of lists, exports, streams and histograms of events: one definition for all. */
import { consumers, decisions } from "../core/decision.ts";
import { BadInput } from "../core/errors.ts";
import { readMoment } from "../core/moment.ts";
import { dateTime, string } from "../core/schema-parts.ts";
import type { StringSchema, TextLimits } from "../core/schema.ts";
import { oneOf } from "../core/validate.ts";
import {
  EXCLUDED_FIELDS,
  excluding,
  FILTERED_FIELDS,
  recordOf,
  SEARCHED_WORDS,
  type EventFieldType,
  type ExactFilter,
  type ExcludingFilter,
} from "./event-fields.ts";
import type { AuditFilter } from "./store.ts";
import { MOST_ASTERISKS, WILDCARD_FILTERS, WILDCARD_NAMES, wildcardsOf } from "./wildcards.ts";

/** The filters of the contract, which no value makes a 4xx. */
const CONTRACT_FILTERS: ReadonlySet<string> = new Set<ExactFilter>(["decision", "consumer"]);

const DESCRIPTIONS: Readonly<Record<ExactFilter, string>> = {
  decision: "Only events with this decision. An unknown value matches nothing.",
  consumer: "Only events of this kind of caller. An unknown value matches nothing.",
  provider: "Only events with exactly this provider.",
  executor: "Only events with exactly this executor.",
  capability: "Only events with exactly this capability.",
  status: "Only events with exactly this status.",
  runtime: "Only events with exactly this `runtime_name`.",
  trace_id: "Only events with exactly this `trace_id`.",
  policy: "Only events that this policy version decided.",
  observed: "Only events for which a runtime in observe mode reports this decision.",
  reported_by: "Only events that the API key or user with this id reported.",
};

/** A query parameter. A `forgiving` parameter accepts any value. */
type FilterSchema = StringSchema & { readonly description: string; readonly forgiving?: true };

/** The words of the types that have some, as the document lists them. `filterOf` accepts any letter case. */
const WORDS: Readonly<Partial<Record<EventFieldType, TextLimits>>> = {
  decision: { enum: [...decisions, ...decisions.map((word) => word.toLowerCase())] },
  consumer: { enum: consumers },
};

/** A filter that is not of the contract: `filterOf` refuses a word that is unknown. */
function refusing(type: EventFieldType, description: string): FilterSchema {
  const ruled = WORDS[type];
  return string(description, ruled && { ruled });
}

const exact: Readonly<Record<ExactFilter, FilterSchema>> = recordOf(
  FILTERED_FIELDS.map(({ filter, type }) => {
    const description = DESCRIPTIONS[filter];
    if (!CONTRACT_FILTERS.has(filter)) return [filter, refusing(type, description)];
    return [filter, { ...string(description), ...WORDS[type], forgiving: true }];
  }),
);

const excluded: Readonly<Record<ExcludingFilter, FilterSchema>> = recordOf(
  EXCLUDED_FIELDS.map(({ filter, type }) => [
    excluding(filter),
    refusing(type, "Only events that the filter without `not_` does not match."),
  ]),
);

/** The filters as query parameters. */
export const filterQuery = {
  q: string(`Text that the ${SEARCHED_WORDS} contains, in any letter case.`),
  ...exact,
  ...excluded,
  wildcards: string(
    `Names of filters, separated by commas, in whose values \`*\` stands for any text: of ${WILDCARD_FILTERS.join(", ")}, and of those with \`not_\`. Such a filter matches the letters A to Z in either case, and has at most ${MOST_ASTERISKS} asterisks. Without this, \`*\` stands for itself.`,
    { ruled: WILDCARD_NAMES, examples: ["executor,not_runtime"] },
  ),
  reason: string("Only events whose `reason` contains this text, in any letter case."),
  from: dateTime("Only events with a `timestamp` at or after this time."),
  to: dateTime("Only events with a `timestamp` before this time."),
} as const satisfies Readonly<Record<string, FilterSchema>>;

/** The filters as members of a body. As in a query, an unknown word of the contract's filters matches nothing. */
export const filterBody = {
  ...filterQuery,
  decision: string(DESCRIPTIONS.decision),
  consumer: string(DESCRIPTIONS.consumer),
} as const;

/** The last place in a list of a short page. */
const SHORT_PAGE = 100;

/** The parts of a query that its turn depends on. */
interface SearchQuery extends Pick<GivenFilter, "q" | "reason" | "wildcards"> {
  readonly limit?: number;
  readonly offset?: number;
}

/**
 * Text searches take turns of their own, since each may read all texts of a log. The index answers all other filters;
 * over a database they take turns too, since a burst would take all connections, also from those who report events.
 */
export const SEARCH = {
  large: "searched",
  turn({ query }: { readonly query: SearchQuery }) {
    const { q, reason, wildcards, limit = Infinity, offset = 0 } = query;
    if ((q ?? reason ?? wildcards) !== undefined) return "searched";
    return limit + offset <= SHORT_PAGE ? "listed" : "made";
  },
} as const;

/** Facets take the same turns with any filter, since each may go through all rows of a log. */
export const FACET_COUNTS = { large: "searched" } as const;

/** Filters as the client sent them. */
export type GivenFilter = { readonly [K in keyof typeof filterQuery]?: string | undefined };

/**
 * Reads filters.
 *
 * @throws BadInput for a `from` or `to` that is not an RFC 3339 timestamp, and for an unknown decision or
 *   consumer in a filter that is not of the contract: a misspelt `not_decision` would leave out nothing; and
 *   for a name in `wildcards` that is not a filter with a text, or whose value has too many asterisks
 */
export function filterOf(given: GivenFilter): AuditFilter {
  const wildcards = wildcardsOf(given.wildcards, given);
  const exact = exactFilterOf(given);
  if (wildcards === undefined) return exact;
  const inPart = wildcards.map(({ parameter }) => [parameter, undefined] as const);
  return { ...exact, ...recordOf(inPart), wildcards };
}

function exactFilterOf(given: GivenFilter): AuditFilter {
  return {
    q: given.q,
    ...recordOf(
      FILTERED_FIELDS.map(({ filter, type }) => [filter, wordOf(filter, type, given[filter])]),
    ),
    ...recordOf(
      EXCLUDED_FIELDS.map(({ filter, type }) => {
        const name = excluding(filter);
        return [name, wordOf(name, type, given[name])];
      }),
    ),
    reason: given.reason,
    from: readMoment("from", given.from),
    to: readMoment("to", given.to),
  };
}

/** A value in the letter case of stored events. */
function wordOf(name: string, type: EventFieldType, given?: string): string | undefined {
  if (given === undefined || (type !== "decision" && type !== "consumer")) return given;
  const words: readonly string[] = type === "decision" ? decisions : consumers;
  const value = type === "decision" ? given.toUpperCase() : given.toLowerCase();
  if (!words.includes(value) && !CONTRACT_FILTERS.has(name))
    throw new BadInput(`${name}: expected ${oneOf(words)}`);
  return value;
}
