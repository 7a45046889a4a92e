/**
 * Cross-origin access, as the Fetch standard defines it. No cookies are used, so no response allows
 * credentials. A request from an origin that is not allowed is answered without these headers, and
 * the browser keeps the response from the page.
 */
import { MOST_OF_A_HOST } from "../core/host-name.ts";

/** Decides whether a page of this origin may read responses. */
export type OriginRule = (origin: string) => boolean;

const PAGES_DEV = /^https:\/\/(?:[a-z0-9-]+\.)+pages\.dev$/i;

const ALLOWED_HEADERS =
  "Authorization, Content-Type, Content-Encoding, X-API-Key, X-Runtime-Client, X-Runtime-Name, " +
  "If-None-Match, Last-Event-ID, X-Request-Id";
const EXPOSED_HEADERS = "ETag, X-Request-Id, Retry-After, Content-Disposition, WWW-Authenticate";
const MAX_AGE_SECONDS = "600";

/** Builds the rule from the configured origins; `*` allows any origin. */
export function originRule(configured: readonly string[], pagesDev: "on" | "off"): OriginRule {
  if (configured.includes("*")) return () => true;
  const exact = new Set(configured);
  const isPagesDev = (origin: string): boolean =>
    pagesDev === "on" && origin.length <= MOST_OF_A_HOST && PAGES_DEV.test(origin);
  return (origin) => exact.has(origin) || isPagesDev(origin);
}

/** The headers that let an allowed origin read a response. */
export function originHeaders(origin: string): readonly string[] {
  return ["Access-Control-Allow-Origin", origin, "Access-Control-Expose-Headers", EXPOSED_HEADERS];
}

/** The headers that answer a preflight; `allow` lists the path's methods. */
export function preflightHeaders(allow: string): readonly string[] {
  return [
    ...["Access-Control-Allow-Methods", allow],
    ...["Access-Control-Allow-Headers", ALLOWED_HEADERS],
    ...["Access-Control-Max-Age", MAX_AGE_SECONDS],
  ];
}
