import type { Awaitable } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import type { RolesMode } from "../core/roles.ts";
import type { Asker } from "../core/scheduling/turns.ts";
import type { EngineHealth } from "../engine.ts";
import type { HeaderList } from "../http/reply.ts";
import type { RouteDescription, Surface } from "../http/route.ts";

/** The build data stamped into this program; `unknown` if missing. */
export interface BuildStamp {
  readonly version: string;
  readonly commit: string;
  readonly buildTime: string;
}

/**
 * The running service as its own documents describe it. Values that may change while it runs are
 * functions, called for each document. The route table is passed in as a value.
 */
export interface ServiceDescription {
  readonly rows: readonly RouteDescription[];
  readonly build: BuildStamp;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly now: Clock;
  /** The public address of this service, without a slash at the end. */
  readonly baseUrl: () => string;
  readonly environment: string;
  readonly edition: string;
  readonly requireAuth: () => boolean;
  readonly roles: RolesMode;
  readonly publicSurface: "open" | "off";
  /** Facts about the catalog in use: its source, its version and counts. */
  readonly catalog: () => Readonly<Record<string, unknown>>;
  readonly engineHealth: () => Awaitable<EngineHealth>;
  /** Present in an open demo, where anyone can write. */
  readonly demo?: DemoNotice | undefined;
}

/** The facts that visitors of a demo must know. */
export interface DemoNotice {
  /** The time of the next reset, in milliseconds; `undefined` without resets. */
  readonly nextResetAt: number | undefined;
}

/** A page of the portal, ready to be sent. */
export interface Page {
  readonly html: string;
  readonly headers: HeaderList;
}

/** The pages that rows outside the portal answer with. */
export interface PortalPages {
  readonly home: (client: Asker) => Awaitable<Page>;
}

/** The surfaces that this process serves, in the order of the documents. */
export function servedSurfaces(publicSurface: "open" | "off"): readonly Surface[] {
  return publicSurface === "open" ? ["public", "v1", "portal"] : ["v1", "portal"];
}
