import type { Awaitable } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import type { RolesMode } from "../core/roles.ts";
import type { EngineHealth } from "../engine.ts";
import type { HeaderList } from "../http/reply.ts";
import type { RouteDescription, Surface } from "../http/route.ts";

/** What the build stamped on this program; `unknown` where it stamped nothing. */
export interface BuildStamp {
  readonly version: string;
  readonly commit: string;
  readonly buildTime: string;
}

/**
 * The running service as its own documents describe it. What may change while it runs is a
 * function and is asked for each document; the route table arrives here as a value.
 */
export interface ServiceDescription {
  readonly rows: readonly RouteDescription[];
  readonly build: BuildStamp;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly now: Clock;
  /** Where this service is reached, without a slash at the end. */
  readonly baseUrl: () => string;
  readonly environment: string;
  readonly edition: string;
  readonly requireAuth: () => boolean;
  readonly roles: RolesMode;
  readonly publicSurface: "open" | "off";
  /** Facts about the catalog in use: where it came from, its version and counts. */
  readonly catalog: () => Readonly<Record<string, unknown>>;
  readonly engineHealth: () => Awaitable<EngineHealth>;
  /** Present where this is an open demo, in which anybody can write. */
  readonly demo?: DemoNotice | undefined;
}

/** What visitors of a demo are to know. */
export interface DemoNotice {
  /** When everything begins anew, in milliseconds; `undefined` where it never does. */
  readonly nextResetAt: number | undefined;
}

/** A page of the portal, ready to be sent. */
export interface Page {
  readonly html: string;
  readonly headers: HeaderList;
}

/** The pages that rows outside the portal answer with. */
export interface PortalPages {
  readonly home: () => Awaitable<Page>;
}

/** The surfaces that this process answers on, in the order in which documents list them. */
export function servedSurfaces(publicSurface: "open" | "off"): readonly Surface[] {
  return publicSurface === "open" ? ["public", "v1", "portal"] : ["v1", "portal"];
}
