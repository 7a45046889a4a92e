/**
 * The fields of an event that are kept as codes: a number for each text that occurs, which a dictionary
 * turns back into it. A column holds the codes of one field, in as few bytes as they need.
 */

/** The fields that are kept as codes, in the order of the columns. */
export const FIELDS = [
  "provider",
  "executor",
  "capability",
  "resource",
  "status",
  "runtime_name",
  "policy",
  "reported_by",
] as const;

/** The places in `FIELDS` of those that `q` searches, besides the command. */
export const SEARCHED = [0, 1, 2, 3];
/** The places of those that rows are counted by together with decision, consumer, status and policy. */
export const COUNTED = [0, 1, 2, 5];
export const PROVIDER = 0;
export const STATUS = 4;
export const POLICY = 6;
/** Runtimes choose names of any length: longer ones, in characters, are not listed. */
export const LONGEST_LISTED = 256;

export type Column = Uint8Array | Uint16Array | Uint32Array;

/** How many values the packed facets take: decision, consumer and `ai` in one number, one byte a row. */
export const PACKED_FACETS = 24;
export const DECISIONS: readonly string[] = ["ALLOWED", "DENIED"];
export const CONSUMERS: readonly string[] = ["human", "ai", "ci"];

/** Packs the facets of an event into one number. */
export function packFacets({
  policy_decision = "",
  consumer = "",
  ai,
}: {
  readonly policy_decision: string | undefined;
  readonly consumer: string | undefined;
  readonly ai: boolean;
}): number {
  return (decisionCode(policy_decision) * 4 + CONSUMERS.indexOf(consumer) + 1) * 2 + (ai ? 1 : 0);
}

/** 1 for `ALLOWED`, 2 for `DENIED`, 0 for no decision or another text. */
export function decisionCode(decision: string): number {
  return DECISIONS.indexOf(decision) + 1;
}

/** 0 for no decision, 1 for allowed, 2 for denied. */
export function decisionOfFacets(packed: number): number {
  return packed >>> 3;
}

/** Whether packed facets say that an AI agent ran the event. */
export function isAi(packed: number): boolean {
  return (packed & 1) === 1;
}

/** Which facets have a decision and a consumer; `undefined` when neither is asked for. */
export function packedFacetsWith(
  decision: string | undefined,
  consumer: string | undefined,
): Uint8Array | undefined {
  if (decision === undefined && consumer === undefined) return undefined;
  const wantedDecision = decision === undefined ? undefined : decisionCode(decision) || -1;
  const wantedConsumer = consumer === undefined ? undefined : CONSUMERS.indexOf(consumer) + 1 || -1;
  return Uint8Array.from({ length: PACKED_FACETS }, (_, packed) => {
    const isDecision = wantedDecision === undefined || decisionOfFacets(packed) === wantedDecision;
    const isConsumer = wantedConsumer === undefined || ((packed >>> 1) & 3) === wantedConsumer;
    return isDecision && isConsumer ? 1 : 0;
  });
}
