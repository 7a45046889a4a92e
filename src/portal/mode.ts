import { PREFIXES } from "../http/route.ts";
import type { ServiceDescription } from "../metadata/service.ts";

/** How a page gets its data. */
export interface PortalMode {
  /** Whether the server may put data of the default organization into pages. */
  readonly isOpen: boolean;
  /** The prefix of the surface that the page's modules call. */
  readonly prefix: string;
}

/**
 * THE predicate: data stands in a page only where anybody may read it anyway. Elsewhere the server
 * sends a page without data, whose modules fetch it with the reader's token. An open demo shows on its
 * pages what it holds on `/api/public`.
 */
export function modeOf({
  demo,
  publicSurface,
  requireAuth,
}: Pick<ServiceDescription, "demo" | "publicSurface" | "requireAuth">): PortalMode {
  if (demo && publicSurface === "open") return { isOpen: true, prefix: PREFIXES.public };
  return { isOpen: !requireAuth(), prefix: PREFIXES.v1 };
}

/**
 * How the pages about keys, users and the like get their data: those exist on `/api/v1` alone, also
 * where the other pages show what `/api/public` has.
 */
export function managementModeOf({
  requireAuth,
}: Pick<ServiceDescription, "requireAuth">): PortalMode {
  return { isOpen: !requireAuth(), prefix: PREFIXES.v1 };
}
