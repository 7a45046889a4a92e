import { PREFIXES } from "../../http/route.ts";
import type { ServiceDescription } from "../../metadata/service.ts";

type ModeFacts = Pick<ServiceDescription, "demo" | "publicSurface" | "requireAuth">;

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
 * open demo show the data of `/api/public`, except for those of Access, whose data exists only on `/api/v1`.
 */
export function modeOf(
  { demo, publicSurface, requireAuth }: ModeFacts,
  isManagement = false,
): PortalMode {
  const showsPublic = demo !== undefined && publicSurface === "open" && !isManagement;
  if (showsPublic) return { isOpen: true, prefix: PREFIXES.public };
  return { isOpen: !requireAuth(), prefix: PREFIXES.v1 };
}
