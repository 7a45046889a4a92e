/** The content codings that a response may use, best first. */
export type ContentCoding = "br" | "gzip";

const CODINGS: readonly ContentCoding[] = ["br", "gzip"];
const ELEMENT =
  /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q\s*=\s*((?:0(?:\.\d{0,3})?)|(?:1(?:\.0{0,3})?))\s*)?$/i;

/**
 * Chooses the content coding of a response (RFC 9110 §12.5.3): the available coding with the highest
 * weight, and `br` before `gzip` at equal weights. Elements that break the grammar are skipped.
 *
 * @returns `undefined` for the plain bytes: no coding is accepted, or plain bytes have a higher weight
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
  let bestWeight = weights.get("identity") ?? 0; // a field that does not mention plain bytes does not prefer them
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
