import { isTooLong } from "./field-length.ts";

const ELEMENT =
  /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:;\s*q\s*=\s*((?:0(?:\.\d{0,3})?)|(?:1(?:\.0{0,3})?))\s*)?$/i;

/**
 * Whether a response may be compressed with gzip (RFC 9110 §12.5.3): gzip is accepted, and the plain bytes
 * have no higher weight. Elements that break the grammar are skipped. A field that is too long
 * counts as absent.
 */
export function acceptsGzip(acceptEncoding = ""): boolean {
  if (isTooLong(acceptEncoding)) return false;
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.split(",")) {
    const [, name, q = "1"] = ELEMENT.exec(element) ?? [];
    if (name !== undefined) weights.set(name.toLowerCase().replace(/^x-gzip$/, "gzip"), Number(q));
  }
  const weight = weights.get("gzip") ?? weights.get("*") ?? 0;
  return weight > 0 && weight >= (weights.get("identity") ?? 0);
}
