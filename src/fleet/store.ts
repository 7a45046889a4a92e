import type { Awaitable } from "../core/caller.ts";
import type { Quota } from "../core/quota.ts";
import type { FleetFilter } from "./filter.ts";
import type { Heartbeat } from "./schema.ts";

/** A runtime as it is kept; `last_seen` in milliseconds. */
export interface StoredRuntime extends Heartbeat {
  readonly last_seen: number;
}

/** Which runtimes are wanted. `now` (milliseconds) decides their status, `active` who drifted. */
export interface FleetQuery extends FleetFilter {
  readonly now: number;
  /** The active policy version; empty when there is none. */
  readonly active: string;
}

/** A part of the runtimes that match. */
export interface FleetPage {
  readonly runtimes: readonly StoredRuntime[];
  /** All that match. */
  readonly total: number;
}

/** Runtimes by status; those that are neither online nor idle are offline. */
export interface FleetCounts {
  readonly online: number;
  readonly idle: number;
  /** Runtimes that run another policy version than the active one; see `drift.ts`. */
  readonly drifted: number;
  readonly total: number;
}

/** How many runtimes report a policy version. */
export interface PolicyCount {
  readonly version: string;
  /** All of them. */
  readonly runtimes: number;
  /** Those that are not offline. */
  readonly present: number;
}

/** How many runtimes of an organization were forgotten. */
export interface ForgottenRuntimes {
  readonly organization: string;
  readonly runtimes: number;
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
   *
   * @param quota asked with the number of runtimes before a new one is added; absent, there is no limit
   */
  heartbeat(
    organization: string,
    heartbeat: Heartbeat,
    at: number,
    kept: Kept,
    quota?: Quota,
  ): void;

  /**
   * The runtimes that match, most recently seen first, without the first `offset` of them. `limit` may be
   * `Infinity`. A search rejects with the reason of `signal` when that fires.
   */
  page(
    organization: string,
    query: FleetQuery,
    limit: number,
    offset: number,
    signal?: AbortSignal,
  ): Promise<FleetPage>;

  /**
   * All runtimes that match at the moment of the call, in the same order, in slices of some hundreds. Other
   * requests go on between two slices. A runtime that is forgotten meanwhile may be left out.
   */
  list(organization: string, query: FleetQuery): AsyncIterable<readonly StoredRuntime[]>;

  /**
   * Counts the runtimes, quickly however many there are; `now` decides who is online, and `active`,
   * the active policy version or nothing, who drifted.
   */
  counts(organization: string, now: number, active: string): Awaitable<FleetCounts>;

  /** Counts the runtimes by policy version: at most so many versions, those that most report. */
  policies(organization: string, now: number, limit: number): Awaitable<readonly PolicyCount[]>;

  /** Forgets a runtime, durably; `false` when there is none of that name. */
  forget(organization: string, name: string): Promise<boolean>;

  /**
   * Forgets the runtimes of all organizations that were last seen before a moment (milliseconds),
   * durably. Gives the organizations that had any, and how many.
   */
  forgetSilent(before: number): Promise<readonly ForgottenRuntimes[]>;
}
