import { string } from "../core/schema-parts.ts";
import { etagOf, isCurrent } from "../http/entity-tag.ts";
import { empty, text, type HeaderList, type Reply } from "../http/reply.ts";
import type { ServiceDescription } from "./service.ts";

/** A text that is made once and sent often. */
export interface KeptText {
  readonly body: Buffer;
  /** A strong entity tag over the bytes, with its quotes. */
  readonly etag: string;
}

// Keyed by the description, so that two services in one process never share a text.
const kept = new WeakMap<ServiceDescription, Map<string, KeptText>>();

/**
 * The text of a name, made at the first call for each base URL. Only for texts that do not depend on
 * anything else that may change while the service runs.
 */
export function keptText(service: ServiceDescription, name: string, make: () => string): KeptText {
  const texts = kept.get(service) ?? new Map<string, KeptText>();
  kept.set(service, texts);
  const key = `${name} ${service.baseUrl()}`;
  const known = texts.get(key);
  if (known) return known;
  const body = Buffer.from(make(), "utf8");
  const fresh = { body, etag: etagOf(body) };
  texts.set(key, fresh);
  return fresh;
}

/** The headers that rows with a kept text declare. */
export const KEPT_TEXT_HEADERS = {
  headers: { "if-none-match": string("The entity tags of the client's copies.") },
  replyHeaders: { ETag: "A strong entity tag of the response." },
} as const;

/** Sends a kept text, or a 304 if the reader has it already (RFC 9110 §13.1.2). */
export function sendKeptText(
  { body, etag }: KeptText,
  contentType: string,
  ifNoneMatch: string | undefined,
  own: HeaderList = [],
): Reply {
  const headers: HeaderList = ["ETag", etag, "Cache-Control", "no-cache", ...own];
  if (isCurrent(ifNoneMatch, etag)) return empty(304, headers);
  return text(200, contentType, body, headers);
}
