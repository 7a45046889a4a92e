/**
 * Cross-origin access, as the Fetch standard defines it. No cookies are used, so no answer ever
 * allows credentials; an origin that is not allowed gets the answer without these headers, and its
 * browser keeps it from the page.
 */

/** Decides whether a page of this origin may read answers. */
export type OriginRule = (origin: string) => boolean;

const PAGES_DEV = /^https:\/\/(?:[a-z0-9-]+\.)+pages\.dev$/i;

const ALLOWED_HEADERS = [
  "Authorization",
  "Content-Type",
  "Content-Encoding",
  "X-API-Key",
  "X-Runtime-Client",
  "If-None-Match",
  "Last-Event-ID",
  "X-Request-Id",
].join(", ");

const EXPOSED_HEADERS = [
  "ETag",
  "X-Request-Id",
  "Retry-After",
  "Content-Disposition",
  "WWW-Authenticate",
].join(", ");

const MAX_AGE_SECONDS = "600";

/** Builds the rule from the configured origins; `*` among them allows any. */
export function originRule(configured: readonly string[], pagesDev: "on" | "off"): OriginRule {
  if (configured.includes("*")) return () => true;
  const exact = new Set(configured);
  return (origin) => exact.has(origin) || (pagesDev === "on" && PAGES_DEV.test(origin));
}

/** The headers that let an allowed origin read an answer. */
export function originHeaders(origin: string): readonly string[] {
  return ["Access-Control-Allow-Origin", origin, "Access-Control-Expose-Headers", EXPOSED_HEADERS];
}

/** The headers that answer a preflight; `allow` lists the path's methods. */
export function preflightHeaders(allow: string): readonly string[] {
  return [
    "Access-Control-Allow-Methods",
    allow,
    "Access-Control-Allow-Headers",
    ALLOWED_HEADERS,
    "Access-Control-Max-Age",
    MAX_AGE_SECONDS,
  ];
}
