/**
 * The kind of an event: what it takes few values for, decision, consumer and `ai`, in one small number,
 * so that one byte a row answers every filter by these three.
 */

/** Decision, consumer and `ai` in one number below `KINDS`. */
export const PACKED_FACETS = 24;
export const DECISIONS: readonly string[] = ["ALLOWED", "DENIED"];
export const CONSUMERS: readonly string[] = ["human", "ai", "ci"];

/** The kind of an event. */
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
export function decisionOfFacets(kind: number): number {
  return kind >>> 3;
}

/** Whether an AI agent ran events of a kind. */
export function isAi(kind: number): boolean {
  return (kind & 1) === 1;
}

/** Which facets have a decision and a consumer; `undefined` when neither is asked for. */
export function packedFacetsWith(
  decision: string | undefined,
  consumer: string | undefined,
): Uint8Array | undefined {
  if (decision === undefined && consumer === undefined) return undefined;
  const wantedDecision = decision === undefined ? undefined : decisionCode(decision) || -1;
  const wantedConsumer = consumer === undefined ? undefined : CONSUMERS.indexOf(consumer) + 1 || -1;
  return Uint8Array.from({ length: PACKED_FACETS }, (_, kind) => {
    const isDecision = wantedDecision === undefined || decisionOfFacets(kind) === wantedDecision;
    const isConsumer = wantedConsumer === undefined || ((kind >>> 1) & 3) === wantedConsumer;
    return isDecision && isConsumer ? 1 : 0;
  });
}
