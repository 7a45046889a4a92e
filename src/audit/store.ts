import type { Quota } from "../core/quota.ts";
import type { Awaitable } from "../core/caller.ts";
import type { Party, Searcher } from "../core/scheduling/fair-share.ts";
import type { Pieces } from "../core/pieces.ts";
import type { ExactFilter, ExcludingFilter } from "./event-fields.ts";
import type { FacetName, ValueCount } from "./facets.ts";
import type { AuditEvent } from "./schema.ts";
import type { Wildcard } from "./wildcards.ts";

/**
 * The filters of a list; an absent filter matches all events. `event-fields.ts` says which fields have an
 * exact filter. `not_NAME` leaves out the events that the filter NAME matches. A value that a field never
 * has, such as a `decision` other than `ALLOWED` and `DENIED`, matches nothing.
 */
export interface AuditFilter extends Readonly<
  Partial<Record<ExactFilter | ExcludingFilter, string | undefined>>
> {
  /** A literal, case-insensitive part of a searched field. */
  readonly q?: string | undefined;
  /** The filters that match in part; each field's exact filter is absent then. */
  readonly wildcards?: readonly Wildcard[] | undefined;
  /** A literal, case-insensitive part of the reason. */
  readonly reason?: string | undefined;
  /** The earliest `timestamp` that matches, in milliseconds. */
  readonly from?: number | undefined;
  /** The first `timestamp` after the range, in milliseconds. */
  readonly to?: number | undefined;
}

/**
 * A position in a list or in a stream: at most 64 bytes that the store makes and reads. It stays
 * valid for good, even after a restart, on every server that shares the storage.
 */
export type Position = Buffer;

/** The most events of one id that a store gives. */
export const MOST_OF_ID = 10;

/** A position that the store did not make, or that lies beyond its newest event. */
export class UnknownPosition extends Error {}

/** A position of a list whose event, and the events after it, were removed by retention. */
export class RemovedPosition extends Error {}

/**
 * One page of a list, which is sorted by `timestamp` and, for equal ones, by the order of ingest.
 * The caller owns the bytes: the store never overwrites them.
 */
export interface AuditRows {
  /** The rows as JSON objects, newest first, joined by commas; in pieces if they are long. */
  readonly json: Buffer | Pieces;
  readonly returned: number;
  /** The number of matching rows before paging. */
  readonly total: number;
  /** The position after the last row, where the next page begins; `undefined` on the last page. */
  readonly next: Position | undefined;
}

/** All events that matched at one moment. */
export interface AuditExport {
  readonly total: number;
  /**
   * JSON rows, newest first, each of which ends in a newline. A piece contains whole rows, or a
   * part of one long row. It is valid until the next piece is asked for: an export of a million rows would otherwise
   * keep the garbage collector busy. Retention removes none of the rows before `close` for a day; if some are missing then,
   * or after the server was stopped for long, reading them throws.
   */
  readonly rows: Pieces;
}

/** An event that a tail delivers. */
export interface Arrival {
  /** The position after the event: a tail that begins there continues with the next event. */
  readonly position: Position;
  readonly json: Buffer;
}

/** Events in the order of ingest, from a position on. */
export interface AuditTail {
  /** The position at which the tail begins. */
  readonly start: Position;
  /**
   * Delivers the events stored after `start`, then new ones when they are stored, until the signal fires or the store
   * closes: those that are ready together, about 64 KiB of them at most. A slow reader costs bounded memory and loses
   * nothing: its events are read again from the store. Call it once; it uses no resources before the first events are
   * requested.
   */
  arrivals(signal: AbortSignal): AsyncIterable<readonly Arrival[]>;
}

/** Counts of events by `timestamp` and decision; one number for each bucket. */
export interface AuditHistogram {
  readonly allowed: readonly number[];
  readonly denied: readonly number[];
  /** Events without a decision. */
  readonly other: readonly number[];
}

/** Counts of events by the values of fields. */
export interface AuditFacets {
  readonly counted: number;
  /** Whether all matching events were counted; otherwise only the newest ones. */
  readonly isComplete: boolean;
  /**
   * The values with the most events, in the order of `mostFrequent`. Reasons that differ only in letter
   * case are counted together under one of their spellings.
   */
  readonly values: ReadonlyMap<FacetName, readonly ValueCount[]>;
}

/** The amount of data that an organization has stored. */
export interface AuditUsage {
  readonly events: number;
  /** The size of the events; indexes are not counted. */
  readonly bytes: number;
  /** The oldest `timestamp`, in milliseconds. */
  readonly oldest: number | undefined;
}

/** The amount of data that an organization may keep. */
export interface AuditAllowance {
  readonly events: number;
  /** As in `AuditUsage`. */
  readonly bytes: number;
}

/** The data that retention removed from one organization. */
export interface AuditRemoval {
  readonly organization: string;
  readonly events: number;
  readonly bytes: number;
}

/** The use of one provider. */
export interface ProviderActivity {
  /** Events of the last 24 hours. */
  readonly events: number;
  /** Those of them that were denied, or whose status is `error` or `failed`, in any letter case. */
  readonly failed: number;
  /** The newest `timestamp` of all stored events, in milliseconds. */
  readonly lastUsed: number;
}

/** Counts of events with a `timestamp` within the 24 hours up to and including `now`. */
export interface AuditActivity {
  readonly commands: number;
  readonly allowed: number;
  readonly denied: number;
  /** Those that a runtime in observe mode would have denied. */
  readonly wouldBeDenied: number;
  readonly ai: number;
  /** Events by provider, sorted by number, then by name; the 1,000 providers with the most events. */
  readonly byProvider: readonly (readonly [provider: string, events: number])[];
}

/** A client, as far as it shares what a store can do with others: surface, organization and network. */
export interface Client {
  readonly party: Party;
}

/** Receives the stored events as JSON objects joined by commas, in the order sent, or the error. */
export type Stored = (error: unknown, json?: string | Buffer) => void;

/** Keeps the audit events of every organization. A query whose client has left rejects. */
export interface AuditStore {
  /**
   * Stores all events or none, and calls back when they are as durable as the deployment demands. An event
   * whose id this reporter has sent before, or is sending at this moment, is not stored again: the answer
   * contains the event as first stored. All events of one call have the same reporter. May call back before
   * it returns; never throws.
   *
   * @param named a hint: the ids that the client chose. The store need not look up the other ids, since the
   *   service has just generated them. If absent, the client chose all ids
   * @param quota checked with the bytes of `usage`; without it there is no limit
   * @param sender the client whose share of the store's room the events use
   */
  append(
    organization: string,
    events: readonly AuditEvent[],
    stored: Stored,
    named?: ReadonlySet<string>,
    quota?: Quota,
    sender?: Client,
  ): void;

  /**
   * A page of the matching rows, newest `timestamp` first. Following `next` neither skips nor repeats an
   * event that existed when the first page was read, even while events are stored.
   *
   * @param start the number of rows to skip, or the position after which the page begins
   * @param characters the length to which longer texts of a row are cut; a cut text ends in `…`. If absent,
   *   no text is cut
   * @throws UnknownPosition for a position that the store did not make
   * @throws RemovedPosition for a position whose event was removed
   */
  page(
    organization: string,
    filter: AuditFilter,
    limit: number,
    start: number | Position,
    searcher?: Searcher,
    characters?: number,
  ): Awaitable<AuditRows>;

  /** The JSON of the events with an id, the oldest first. Each reporter may have stored one. */
  withId(organization: string, id: string): Awaitable<readonly Buffer[]>;

  /** All events that match at this moment, at constant memory. */
  export(organization: string, filter: AuditFilter, searcher?: Searcher): Awaitable<AuditExport>;

  /**
   * Follows the matching events after a position; without one, only the events stored from now on.
   *
   * @param reader the client whose turns the tail takes
   * @throws UnknownPosition for a position that the store did not make
   */
  tail(
    organization: string,
    filter: AuditFilter,
    after: Position | undefined,
    reader?: Client,
  ): Awaitable<AuditTail>;

  /** Counts the matching events of a range of time, in buckets of `intervalMs`. */
  histogram(
    organization: string,
    filter: AuditFilter,
    from: number,
    to: number,
    intervalMs: number,
    searcher?: Searcher,
  ): Awaitable<AuditHistogram>;

  /**
   * Counts the matching events by the values of each facet. The work is bounded, so values that are rare
   * everywhere may be missing.
   *
   * @param most the number of values of each field
   */
  facets(
    organization: string,
    filter: AuditFilter,
    most: number,
    searcher?: Searcher,
  ): Awaitable<AuditFacets>;

  /** Counts over the 24 hours that end at `now` (milliseconds). */
  activity(organization: string, now: number, searcher?: Searcher): Awaitable<AuditActivity>;

  /** The use of the named providers up to `now`; providers without events are left out. */
  providerUse(
    organization: string,
    names: readonly string[],
    now: number,
  ): Awaitable<ReadonlyMap<string, ProviderActivity>>;

  /** The providers that events name, unordered. If there are more than `most`, newer ones are preferred. */
  providerNames(
    organization: string,
    most: number,
    searcher?: Searcher,
  ): Awaitable<ReadonlySet<string>>;

  usage(organization: string): Awaitable<AuditUsage>;

  /**
   * Removes events that were ingested before a moment (milliseconds), of one organization or of all. A
   * store may remove events in groups: a group is removed once all of its events are old enough.
   */
  retain(organization: string | undefined, olderThanMs: number): Promise<readonly AuditRemoval[]>;

  /**
   * Removes the oldest events, in groups as `retain` does, until the rest is within the allowance. Over files it also ends
   * an export or a page that keeps removed events of more than half the allowed bytes.
   */
  trim(organization: string, allowed: AuditAllowance): Promise<AuditRemoval | undefined>;
}
