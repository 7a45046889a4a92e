/**
 * The fields of an event that are kept as codes: a number for each distinct text. A dictionary turns a code into
 * its text. A column has the codes of one field, in as few bytes as they need.
 */
import { EVENT_FIELDS, recordOf, type EventField } from "../../../../audit/event-fields.ts";
import type { AuditFilter } from "../../../../audit/store.ts";
import { consumers, decisions } from "../../../../core/decision.ts";

/** Long texts: each distinct text is kept once, in lower case and with trigram filters. */
export const LONG_FIELDS = ["command", "reason"] as const;
export type LongName = (typeof LONG_FIELDS)[number];

/** Fields that are kept in other ways: long texts, trace ids by their hashes, and the packed facets. */
type KeptApart = LongName | "trace_id" | "policy_decision" | "consumer";
const OTHERS: readonly KeptApart[] = [...LONG_FIELDS, "trace_id", "policy_decision", "consumer"];
const KEPT_APART: readonly string[] = OTHERS;

type Literal = (typeof EVENT_FIELDS)[number];
/** The name of a field that a filter asks for or `q` searches. */
export type CodedName = Exclude<
  Extract<Literal, { readonly filter: string } | { readonly isSearched: true }>["name"],
  KeptApart
>;

/** The fields that are kept as codes, in the order of their columns. */
export const CODED_FIELDS = EVENT_FIELDS.filter(
  ({ name, filter, isSearched }: EventField) =>
    (filter ?? isSearched) !== undefined && !KEPT_APART.includes(name),
) as readonly (EventField & { readonly name: CodedName })[];

/**
 * The fields that are counted in combination with the facets. The other fields have too many values
 * (`resource`), are facets themselves, or are seldom combined with one in a filter.
 */
export const COUNTED = ["provider", "executor", "capability", "runtime_name"] as const;

/** The columns of an index: a sidecar with others is rebuilt, so a new field needs no new format. */
export const INDEXED_FIELDS = [
  ...CODED_FIELDS.map(({ name, isSearched = false }) => ({ name, isSearched })),
  ...LONG_FIELDS.map((name) => ({ name, isLong: true })),
];

/** Makes a record of the coded fields. */
export function byCodedName<T>(make: (name: CodedName) => T): Readonly<Record<CodedName, T>> {
  return recordOf(CODED_FIELDS.map(({ name }) => [name, make(name)]));
}

export type Column = Uint8Array | Uint16Array | Uint32Array;

/** The number of values of the packed facets: decision, consumer and `ai` in one byte a row. */
export const PACKED_FACETS = 24;
export const DECISIONS: readonly string[] = decisions;
export const CONSUMERS: readonly string[] = consumers;

interface Facets {
  readonly policy_decision?: string | undefined;
  readonly consumer?: string | undefined;
  readonly ai: boolean;
}

/** Packs the facets of an event into one number. Those of a damaged log may be of other types. */
export function packFacets({ policy_decision = "", consumer = "", ai }: Facets): number {
  return (
    (decisionCode(policy_decision) * 4 + CONSUMERS.indexOf(consumer) + 1) * 2 +
    (ai === true ? 1 : 0)
  );
}

/** 1 for `ALLOWED`, 2 for `DENIED`, 0 for no decision or another text. */
function decisionCode(decision: string): number {
  return DECISIONS.indexOf(decision) + 1;
}

/** 0 for no decision, 1 for allowed, 2 for denied. */
export function decisionOfFacets(packed: number): number {
  return packed >>> 3;
}

/** 0 for no consumer, or the place of the consumer in the list, from 1. */
export function consumerOfFacets(packed: number): number {
  return (packed >>> 1) & 3;
}

/** Whether packed facets say that an AI agent ran the event. */
export function isAi(packed: number): boolean {
  return (packed & 1) === 1;
}

/** The packed facets that a filter matches by decision and consumer; `undefined` if it names neither. */
export function packedFacetsWith(filter: AuditFilter): Uint8Array | undefined {
  const { decision, consumer, not_decision: notDecision, not_consumer: notConsumer } = filter;
  const given = [decision, consumer, notDecision, notConsumer];
  if (given.every((value) => value === undefined)) return undefined;
  const is = (value: string | undefined, known: readonly string[], code: number): boolean =>
    value !== undefined && code !== 0 && known[code - 1] === value;
  return Uint8Array.from({ length: PACKED_FACETS }, (_, packed) => {
    const [ofDecision, ofConsumer] = [decisionOfFacets(packed), consumerOfFacets(packed)];
    const isWanted =
      (decision === undefined || is(decision, DECISIONS, ofDecision)) &&
      (consumer === undefined || is(consumer, CONSUMERS, ofConsumer));
    const isExcluded =
      is(notDecision, DECISIONS, ofDecision) || is(notConsumer, CONSUMERS, ofConsumer);
    return isWanted && !isExcluded ? 1 : 0;
  });
}
