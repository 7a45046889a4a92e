/** The codings that a client may be sent instead of the plain bytes, best first. */
export type ContentCoding = "br" | "gzip";

const CODINGS: readonly ContentCoding[] = ["br", "gzip"];
const ELEMENT =
  /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q\s*=\s*((?:0(?:\.\d{0,3})?)|(?:1(?:\.0{0,3})?))\s*)?$/i;

/**
 * Chooses how to encode an answer (RFC 9110 §12.5.3): of the codings at hand the one of the highest
 * weight, of equal ones the first of `br` and `gzip`. An element that breaks the grammar is skipped.
 *
 * @returns `undefined` for the plain bytes: nothing else is wanted, or plain is wanted more
 */
export function codingFor(
  acceptEncoding: string | undefined,
  available: ReadonlySet<ContentCoding>,
): ContentCoding | undefined {
  const weights = new Map<string, number>();
  for (const element of (acceptEncoding ?? "").split(",")) {
    const [, name, q = "1"] = ELEMENT.exec(element) ?? [];
    if (name !== undefined) weights.set(name.toLowerCase().replace(/^x-gzip$/, "gzip"), Number(q));
  }
  const rest = weights.get("*") ?? 0;
  let best: ContentCoding | undefined;
  let bestWeight = weights.get("identity") ?? 0; // silence about plain bytes is no wish for them
  for (const coding of CODINGS) {
    const weight = weights.get(coding) ?? rest;
    if (weight === 0 || !available.has(coding)) continue;
    if (best === undefined ? weight >= bestWeight : weight > bestWeight) {
      best = coding;
      bestWeight = weight;
    }
  }
  return best;
}
