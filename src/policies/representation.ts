/**
 * Policies as bytes. Thousands of runtimes ask for the active version every few seconds, and nearly
 * all of them have it already. So the answer is made once for each policy object, and a poll costs one
 * look-up and one comparison of entity tags. A store that gives a new object for each request costs the
 * making of an answer, never a wrong one.
 */
import { etagOf, isCurrent } from "../http/entity-tag.ts";
import { empty, json, type Reply } from "../http/reply.ts";
import type { Policy } from "./schema.ts";

/** The answers to a GET, for those who have the representation already and for those who do not. */
export interface Representation {
  readonly etag: string;
  readonly whole: Reply;
  readonly notModified: Reply;
}

const MAX_TEXT = 32 * 1024;
const prepared = new WeakMap<Policy, Representation>();

/** The representation of a policy, made when it is first asked for. */
export function representationOf(policy: Policy): Representation {
  let representation = prepared.get(policy);
  if (!representation) {
    representation = represent(JSON.stringify(policy));
    prepared.set(policy, representation);
  }
  return representation;
}

function represent(text: string): Representation {
  const bytes = Buffer.from(text, "utf8");
  const etag = etagOf(bytes);
  const headers = cacheHeaders(etag);
  // ASCII text leaves in one write together with its head, where bytes would take two. But of a long
  // text each slow reader would hold a copy, where bytes are shared by all.
  const isText = bytes.length === text.length && text.length <= MAX_TEXT;
  const body = isText ? text : bytes;
  return { etag, whole: json(200, body, headers), notModified: empty(304, headers) };
}

/** The headers of a policy answer, 304 included. RFC 9110 §15.4.5. */
export function cacheHeaders(etag: string): readonly string[] {
  return [
    "ETag",
    etag,
    "Cache-Control",
    "private, no-cache",
    "Vary",
    "Origin, X-Runtime-Client, Authorization, X-API-Key",
  ];
}

/** The answer to a GET that may have been conditional. */
export function conditional(
  representation: Representation,
  ifNoneMatch: string | undefined,
): Reply {
  return isCurrent(ifNoneMatch, representation.etag)
    ? representation.notModified
    : representation.whole;
}
