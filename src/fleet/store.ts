import type { Awaitable } from "../core/caller.ts";
import type { Heartbeat } from "./schema.ts";

/** What is kept of a runtime; `last_seen` in milliseconds. */
export interface StoredRuntime extends Heartbeat {
  readonly last_seen: number;
}

/** The fleet at one moment, most recently seen first. Taken piece by piece, since it may be long. */
export interface FleetRows {
  readonly total: number;
  /** The rows from one position up to another; fewer when runtimes were forgotten since. */
  slice(from: number, to: number): readonly StoredRuntime[];
}

/** How many runtimes there are, and how many of them are online. */
export interface FleetCounts {
  readonly online: number;
  readonly total: number;
}

/** Takes the error, or whether the runtime was new. */
export type Kept = (error: unknown, isNew?: boolean) => void;

/**
 * Keeps the runtimes of every organization, one for each name. Within an organization reports are
 * kept in their order of arrival, and `last_seen` never goes backwards along it: a clock that is
 * set back stands still here until it has caught up.
 */
export interface FleetStore {
  /**
   * Keeps a sign of life that arrived `at` (milliseconds); a registration is one too. What it gives
   * is updated, the rest stays. A new runtime is on disk when this calls back; one that is known was
   * written by then, and is synced within a second. Never throws.
   */
  heartbeat(organization: string, heartbeat: Heartbeat, at: number, kept: Kept): void;

  /** All runtimes as they stand now. */
  list(organization: string): Awaitable<FleetRows>;

  /** Counts the runtimes; `now` decides who is online. */
  counts(organization: string, now: number): Awaitable<FleetCounts>;

  /** Forgets a runtime, durably; `false` when there is none of that name. */
  forget(organization: string, name: string): Promise<boolean>;
}
