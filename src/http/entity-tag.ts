import { createHash } from "node:crypto";

/** A strong entity tag for bytes, or for a text that identifies them. RFC 9110 §8.8.3. */
export function etagOf(identity: Buffer | string): string {
  return `"${createHash("sha256").update(identity).digest("base64url")}"`;
}

/**
 * Whether an `If-None-Match` field contains an entity tag, by weak comparison (RFC 9110 §13.1.2). Foreign
 * tags may contain commas; their fragments never equal one of our tags, which have quotes on both ends.
 */
export function isCurrent(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
  if (!ifNoneMatch.includes(etag)) return false; // a list of thousands of other tags takes a millisecond
  return ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
