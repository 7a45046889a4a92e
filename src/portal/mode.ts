import { PREFIXES } from "../http/route.ts";
import type { ServiceDescription } from "../metadata/service.ts";

/** The way in which a page gets its data. */
export interface PortalMode {
  /** Whether the server may put data of the default organization into pages. */
  readonly isOpen: boolean;
  /** The prefix of the surface that the page's module calls. */
  readonly prefix: string;
}

/**
 * Decides whether a page contains data: only where anyone may read that data through the API. Elsewhere
 * the server sends a page without data, and its module reads it with the user's token. The pages of an
 * open demo show the data of `/api/public`.
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
 * The mode of the pages of Access. Their data exists only on `/api/v1`, even if the other pages
 * show the data of `/api/public`.
 */
export function managementModeOf({
  requireAuth,
}: Pick<ServiceDescription, "requireAuth">): PortalMode {
  return { isOpen: !requireAuth(), prefix: PREFIXES.v1 };
}
