/**
 * The fields of an event that are kept as codes: a number for each text that occurs, which a dictionary
 * turns back into it. A column holds the codes of one field, in as few bytes as they need.
 */

/**
 * The fields, in the order of the columns: the filter that asks for each, whether `q` searches it besides
 * the command, and whether its values are counted together with the facets. A field that is added here
 * changes the sidecars, so the version of their format has to rise.
 */
const CODED = [
  { name: "provider", filter: "provider", isSearched: true, isCounted: true },
  { name: "executor", filter: "executor", isSearched: true, isCounted: true },
  { name: "capability", filter: "capability", isSearched: true, isCounted: true },
  { name: "resource", filter: undefined, isSearched: true, isCounted: false },
  { name: "status", filter: "status", isSearched: false, isCounted: false },
  { name: "runtime_name", filter: "runtime", isSearched: false, isCounted: true },
  { name: "policy", filter: "policy", isSearched: false, isCounted: false },
  { name: "reported_by", filter: "reported_by", isSearched: false, isCounted: false },
] as const;

export const FIELDS = CODED.map(({ name }) => name);
/** By the place of a field, the filter that asks for it. */
export const FILTERS = CODED.map(({ filter }) => filter);
/** The places in `FIELDS` of the searched fields, and of the counted ones. */
export const SEARCHED = placesWhere(({ isSearched }) => isSearched);
export const COUNTED = placesWhere(({ isCounted }) => isCounted);
export const PROVIDER = FIELDS.indexOf("provider");
export const STATUS = FIELDS.indexOf("status");
export const POLICY = FIELDS.indexOf("policy");

function placesWhere(holds: (field: (typeof CODED)[number]) => boolean): readonly number[] {
  return CODED.flatMap((field, place) => (holds(field) ? [place] : []));
}

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
