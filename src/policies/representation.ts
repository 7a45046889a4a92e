/**
 * Responses with one policy. Thousands of runtimes request the active version every few seconds, and
 * nearly all of them have it already. So the response is made once for each policy object, and a poll
 * costs one look-up and one comparison of entity tags. A store may return a new object for each request:
 * the response is then made each time, but it is never stale.
 */
import { etagOf, isCurrent } from "../http/entity-tag.ts";
import { empty, json, type Reply } from "../http/reply.ts";
import type { Policy } from "./schema.ts";

/** The answers to a GET: a 200 and a 304. */
export interface Representation {
  readonly etag: string;
  readonly whole: Reply;
  readonly notModified: Reply;
}

const MAX_TEXT = 32 * 1024;
const prepared = new WeakMap<Policy, Representation>();

/** The representation of a policy, made on first use. */
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
  // Node sends short ASCII text and its headers in one write; bytes would take two writes. But of a long
  // text each slow reader would hold a copy in memory, while all readers share the same bytes.
  const isText = bytes.length === text.length && text.length <= MAX_TEXT;
  const body = isText ? text : bytes;
  return { etag, whole: json(200, body, headers), notModified: empty(304, headers) };
}

/** The headers of a policy response, including a 304. RFC 9110 §15.4.5. */
export function cacheHeaders(etag: string): readonly string[] {
  return [
    "ETag",
    etag,
    "Cache-Control",
    "private, no-cache",
    "Vary",
    "Origin, X-Runtime-Client, X-Runtime-Name, Authorization, X-API-Key",
  ];
}

/** The answer to a GET, conditional or not. */
export function conditional(
  representation: Representation,
  ifNoneMatch: string | undefined,
): Reply {
  return isCurrent(ifNoneMatch, representation.etag)
    ? representation.notModified
    : representation.whole;
}
