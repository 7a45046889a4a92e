/**
 * The fields of an event: the one table behind the schemas, ingest, the index, the
 * filters, CSV and the portal. Its order is the order of validation, of the fields in a stored line and of
 * the columns of an export. To add a field, add a row; the compiler then asks for its descriptions in
 * `schema.ts` and, for a filter, in `filter.ts`.
 */

/** The most bytes of a text that people and programs write freely: 1 MiB. */
export const LONG_TEXT = 1 << 20;
/** The most bytes of any other text: 64 KiB. */
export const SHORT_TEXT = 64 << 10;

/** The fields in which secrets are replaced. */
export const REDACTED_FIELDS = ["command", "message", "reason", "resource"] as const;

/** The types of event fields; `ingest.ts` has the rule of each type. */
export type EventFieldType =
  | "id"
  | "timestamp"
  | "text"
  | "consumer"
  | "boolean"
  | "decision"
  | "milliseconds";

interface EventFieldRow {
  readonly name: string;
  readonly type: EventFieldType;
  /** The field's name in the portal. */
  readonly label: string;
  /** The name that older runtimes use; it counts where the field itself has no value. */
  readonly alias?: string;
  /** The most bytes of a text in UTF-8. */
  readonly limit?: number;
  /** The query parameter that asks for an exact value of this field. */
  readonly filter?: string;
  /** An example of a value, which the portal shows in the field's empty input. */
  readonly example?: string;
  /** `q` searches this field. */
  readonly isSearched?: true;
  /** The service sets this field; reports cannot. */
  readonly isOwn?: true;
}

const short = { type: "text", limit: SHORT_TEXT } as const;
const long = { type: "text", limit: LONG_TEXT } as const;
const own = { ...short, isOwn: true } as const;
const searched = { isSearched: true } as const;

// oxfmt-ignore
export const EVENT_FIELDS = [
  { name: "id", type: "id", label: "Id" },
  { name: "organization_id", label: "Organization", ...own },
  { name: "timestamp", type: "timestamp", label: "Time" },
  { name: "ingested_at", type: "timestamp", label: "Arrived", isOwn: true },
  { name: "command", label: "Command", ...long, ...searched },
  { name: "executor", alias: "user", label: "Executor", filter: "executor", example: "ada", ...short, ...searched },
  { name: "consumer", type: "consumer", label: "Consumer", filter: "consumer" },
  { name: "ai", type: "boolean", label: "By AI" },
  { name: "provider", alias: "tool", label: "Provider", filter: "provider", example: "kubectl", ...short, ...searched },
  { name: "capability", label: "Capability", filter: "capability", example: "kubernetes/delete", ...short, ...searched },
  { name: "resource", alias: "repository", label: "Resource", ...short, ...searched },
  { name: "policy_decision", alias: "decision", type: "decision", label: "Decision", filter: "decision" },
  { name: "policy", alias: "policyVersion", label: "Policy version", filter: "policy", example: "v1", ...short },
  { name: "reason", label: "Reason", ...long },
  { name: "status", label: "Status", filter: "status", example: "failed", ...short },
  { name: "message", label: "Message", ...long },
  { name: "duration_ms", alias: "durationMs", type: "milliseconds", label: "Duration" },
  { name: "runtime_name", alias: "runtimeName", label: "Runtime", filter: "runtime", example: "build-1", ...short },
  { name: "runtime_version", alias: "runtimeVersion", label: "Runtime version", ...short },
  { name: "runtime_context", label: "Runtime context", ...short },
  { name: "trace_id", alias: "traceId", label: "Trace", filter: "trace_id", example: "4bf92f35", ...short },
  { name: "transport", label: "Transport", ...short },
  { name: "observed_decision", type: "decision", label: "Would be", filter: "observed" },
  { name: "reported_by", label: "Reported by", filter: "reported_by", example: "01kb5w0m9g", ...own },
] as const satisfies readonly EventFieldRow[];

type EventFieldLiteral = (typeof EVENT_FIELDS)[number];
export type EventFieldName = EventFieldLiteral["name"];
/** The query parameters that ask for an exact value. */
export type ExactFilter = Extract<EventFieldLiteral, { readonly filter: string }>["filter"];
type Excludable = Exclude<ExactFilter, "trace_id">;
/** The query parameters that leave out events with an exact value. */
export type ExcludingFilter = `not_${Excludable}`;
/** A field with texts that can be excluded. */
export type TextField = Exclude<
  Extract<EventFieldLiteral, { readonly filter: string; readonly type: "text" }>["name"],
  "trace_id"
>;
/** A row of the table, with every optional property. */
export type EventField = EventFieldRow & {
  readonly name: EventFieldName;
  readonly filter?: ExactFilter;
};
/** The rows that a report may set. */
export const REPORTED_FIELDS: readonly EventField[] = EVENT_FIELDS.filter(
  (field: EventField) => field.isOwn !== true,
);
/** The rows that can be asked for by an exact value. */
export const FILTERED_FIELDS: readonly (EventField & { readonly filter: ExactFilter })[] =
  EVENT_FIELDS.filter((field) => "filter" in field);
/** The filters that can also exclude: all except the trace, since few events share a trace. */
export const EXCLUDED_FIELDS = FILTERED_FIELDS.filter(
  (field): field is (typeof FILTERED_FIELDS)[number] & { readonly filter: Excludable } =>
    field.filter !== "trace_id",
);
/** The filters of texts that match in part where `wildcards` names them. */
export const TEXT_FILTERS = EXCLUDED_FIELDS.filter(
  (field): field is (typeof EXCLUDED_FIELDS)[number] & { readonly name: TextField } =>
    field.type === "text",
);
/** The names of the fields that `q` searches. */
export const SEARCHED_FIELDS = EVENT_FIELDS.filter((field) => "isSearched" in field).map(
  ({ name }) => name,
);
/** The same names as a phrase, such as `command, message or reason`. */
export const SEARCHED_WORDS = SEARCHED_FIELDS.join(", ").replace(/, (\w+)$/, " or $1");

/** The parameter that leaves out events with an exact value of a field. */
export function excluding<Name extends string>(filter: Name): `not_${Name}` {
  return `not_${filter}`;
}

/** Makes a record from pairs of name and value. */
export function recordOf<Name extends string, Value>(
  pairs: readonly (readonly [Name, Value])[],
): Readonly<Record<Name, Value>> {
  return Object.fromEntries(pairs) as Record<Name, Value>;
}
