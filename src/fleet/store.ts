import type { Expected } from "../core/assignment.ts";
import type { Awaitable } from "../core/caller.ts";
import type { Labels } from "../core/labels.ts";
import type { Quota } from "../core/quota.ts";
import type { Searcher } from "../core/scheduling/fair-share.ts";
import type { Heartbeat, RuntimeStatus } from "./schema.ts";

/** A stored runtime; `last_seen` in milliseconds. */
export interface StoredRuntime extends Heartbeat {
  readonly last_seen: number;
}

/** The filters of the fleet; an absent filter matches all runtimes. */
export interface FleetFilter {
  /** A part of the name, host, system, version or policy version, in any letter case. */
  readonly q?: string | undefined;
  readonly name?: string | undefined;
  readonly status?: RuntimeStatus | undefined;
  readonly policy_version?: string | undefined;
  /** Labels as `key:value`, all of which a runtime must have. */
  readonly label?: readonly string[] | undefined;
  /** `true` for runtimes that drifted, `false` for the others. */
  readonly drifted?: "true" | "false" | undefined;
}

/** A filter with its context: `now` (milliseconds) decides the status, the expected versions the drift. */
export interface FleetQuery extends FleetFilter, Expected {
  readonly now: number;
}

/** A page of the matching runtimes. */
export interface FleetPage {
  readonly runtimes: readonly StoredRuntime[];
  /** The number of all matching runtimes. */
  readonly total: number;
}

/** Runtimes by status; all others are offline. */
export interface FleetCounts {
  readonly online: number;
  readonly idle: number;
  /** Runtimes that run another policy version than their assigned one; see `drift.ts`. */
  readonly drifted: number;
  readonly total: number;
}

/** The number of runtimes that report a policy version. */
export interface PolicyCount {
  readonly version: string;
  /** All of them, including offline ones. */
  readonly runtimes: number;
  /** Those that are not offline. */
  readonly present: number;
}

/** The number of an organization's runtimes that were forgotten. */
export interface ForgottenRuntimes {
  readonly organization: string;
  readonly runtimes: number;
}

/** Receives the error, or whether the runtime was new. */
export type Kept = (error: unknown, isNew?: boolean) => void;

/** Stores a report without a quota, and resolves when it is stored. */
export function storeReport(
  fleet: Pick<FleetStore, "heartbeat">,
  organization: string,
  heartbeat: Heartbeat,
  at: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    fleet.heartbeat(organization, heartbeat, at, (error) =>
      error ? reject(error as Error) : resolve(),
    );
  });
}

/**
 * Keeps the runtimes of every organization, one for each name. Within an organization reports are stored in
 * their order of arrival, and a later report never has an earlier `last_seen`: if the clock is set back,
 * `last_seen` stays the same until the clock has caught up.
 */
export interface FleetStore {
  /**
   * Stores a heartbeat or a registration that arrived `at` (milliseconds). Given fields are updated, the others
   * stay. Calls back when a new runtime is durable, or when the report of a known runtime is written; that
   * report is synced within a second. Never throws.
   *
   * @param quota checked with the number of runtimes before a new one is added; if absent, there is no limit
   * @param labels checked with the length of all labels, as `labelLength` counts it, before they grow;
   *   a store that holds runtimes in memory adds their long texts
   */
  heartbeat(
    organization: string,
    heartbeat: Heartbeat,
    at: number,
    kept: Kept,
    quota?: Quota,
    labels?: Quota,
  ): void;

  /**
   * The matching runtimes, most recently seen first, without the first `offset` ones. `limit` may
   * be `Infinity`. When its client leaves, the search rejects with the reason.
   */
  page(
    organization: string,
    query: FleetQuery,
    limit: number,
    offset: number,
    searcher?: Searcher,
  ): Promise<FleetPage>;

  /**
   * All runtimes that match when the list is given out, in the same order, in slices of some hundreds. A report after
   * that does not change it. Other requests run between two slices. A runtime that is forgotten meanwhile may be missing.
   */
  list(
    organization: string,
    query: FleetQuery,
    searcher?: Searcher,
  ): Awaitable<AsyncIterable<readonly StoredRuntime[]>>;

  /**
   * Counts the runtimes, 100,000 within a few milliseconds; `now` decides who is
   * online, and the expected versions who drifted.
   */
  counts(
    organization: string,
    now: number,
    expected: Expected,
    searcher?: Searcher,
  ): Awaitable<FleetCounts>;

  /** Counts the runtimes by policy version: the versions that most runtimes report, at most `limit`. */
  policies(
    organization: string,
    now: number,
    limit: number,
    searcher?: Searcher,
  ): Awaitable<readonly PolicyCount[]>;

  /** The labels of a runtime; `undefined` for a runtime without labels, or that the fleet does not have. */
  labels(organization: string, name: string): Awaitable<Labels | undefined>;

  /** Those of some names that the fleet has. */
  known(organization: string, names: readonly string[]): Awaitable<readonly string[]>;

  /** Forgets a runtime, durably; `false` if the organization has no runtime of that name. */
  forget(organization: string, name: string): Promise<boolean>;

  /**
   * Forgets the runtimes of all organizations that were last seen before a moment (milliseconds),
   * durably. Returns the organizations concerned, each with the number of its runtimes.
   */
  forgetSilent(before: number): Promise<readonly ForgottenRuntimes[]>;
}
