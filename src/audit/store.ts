import type { Quota } from "../core/quota.ts";
import type { Awaitable } from "../core/caller.ts";
import type { Pieces } from "../core/pieces.ts";
import type { AuditEvent } from "./schema.ts";

/** What the rows of a list must match; a filter that is absent matches all. */
export interface AuditFilter {
  /** Literal, case-insensitive part of command, executor, resource, provider or capability. */
  readonly q?: string | undefined;
  /** `ALLOWED` or `DENIED`; any other text matches nothing. */
  readonly decision?: string | undefined;
  readonly provider?: string | undefined;
  /** `human`, `ai` or `ci`; any other text matches nothing. */
  readonly consumer?: string | undefined;
  /** The first `timestamp` that matches, in milliseconds. */
  readonly from?: number | undefined;
  /** The first `timestamp` that is too late, in milliseconds. */
  readonly to?: number | undefined;
  readonly executor?: string | undefined;
  readonly capability?: string | undefined;
  readonly status?: string | undefined;
  /** `runtime_name`. */
  readonly runtime?: string | undefined;
  readonly trace_id?: string | undefined;
  readonly policy?: string | undefined;
  readonly reported_by?: string | undefined;
}

/**
 * A place in a list or in a stream: bytes that the store makes and reads, at most 64 of them. They stay
 * valid for good, also after a restart, and at every server that shares the storage.
 */
export type Position = Buffer;

/** A position that the store did not make, or that is beyond its newest event. */
export class UnknownPosition extends Error {}

/**
 * One page of a list, which is sorted by `timestamp` and, where that is equal, by the order of ingest.
 * Bytes that a store gives out belong to the caller: the store never writes over them.
 */
export interface AuditRows {
  /** The rows as JSON objects, newest first, joined by commas; in pieces when they are long. */
  readonly json: Buffer | Pieces;
  readonly returned: number;
  /** Rows that match, before paging. */
  readonly total: number;
  /** The place after the last row, where the next page begins; `undefined` when no row is left. */
  readonly next: Position | undefined;
}

/** Everything that matched at one moment. */
export interface AuditExport {
  readonly total: number;
  /**
   * JSON rows, newest first, each of which ends in a newline. A piece holds whole rows, or a part of one
   * long row. Retention removes none of the rows before `close`.
   */
  readonly rows: Pieces;
}

/** An event that a tail gives out. */
export interface Arrival {
  /** The place after the event: a tail that begins there goes on with the next one. */
  readonly position: Position;
  readonly json: Buffer;
}

/** Events in the order of ingest, from a place on. */
export interface AuditTail {
  /** Where the tail begins. */
  readonly start: Position;
  /**
   * Gives out the events that are stored after `start`, then each one as it is stored, until the signal
   * fires or the store closes. A reader that stays behind costs bounded memory and loses nothing: its events
   * are read again from the store. To be called once; nothing is held before the first event is asked for.
   */
  arrivals(signal: AbortSignal): AsyncIterable<Arrival>;
}

/** Events by `timestamp` and decision; one number for each bucket. */
export interface AuditHistogram {
  readonly allowed: readonly number[];
  readonly denied: readonly number[];
  /** Events without a decision. */
  readonly other: readonly number[];
}

/** How much an organization has stored. */
export interface AuditUsage {
  readonly events: number;
  /** Of the events themselves; indexes are not counted. */
  readonly bytes: number;
  /** The oldest `timestamp`, in milliseconds. */
  readonly oldest: number | undefined;
}

/** How much of an organization's events may be kept. */
export interface AuditAllowance {
  readonly events: number;
  /** As in `AuditUsage`. */
  readonly bytes: number;
}

/** What retention removed of one organization. */
export interface AuditRemoval {
  readonly organization: string;
  readonly events: number;
  readonly bytes: number;
}

/** What one provider was used for. */
export interface ProviderActivity {
  /** Events of the last 24 hours. */
  readonly events: number;
  /** Those of them that were denied, or whose status is `error` or `failed`, in any letter case. */
  readonly failed: number;
  /** The newest event's `timestamp` over all that is stored, in milliseconds. */
  readonly lastUsed: number;
}

/** Counts by `timestamp`: later than 24 hours before `now`, and up to `now` itself. */
export interface AuditActivity {
  readonly commands: number;
  readonly allowed: number;
  readonly denied: number;
  readonly ai: number;
  /** Events by provider, the most first, of equal ones by name; the 1,000 that were used most. */
  readonly byProvider: readonly (readonly [provider: string, events: number])[];
}

/** Takes the stored events as JSON objects joined by commas, in the order sent, or the error. */
export type Stored = (error: unknown, json?: string | Buffer) => void;

/** Keeps the audit events of every organization. A query whose signal is aborted rejects. */
export interface AuditStore {
  /**
   * Stores events, all or none, and calls back when they are as safe as the deployment demands. An
   * event that its reporter sent before under the same id, or is just sending, is answered as it was stored
   * the first time and not stored again. All events of one call have the same reporter. May call back before
   * it returns; never throws.
   *
   * @param named a hint: the ids that the client gave. The store need not look for the others, which the
   *   service has just generated. Every id counts as given when it is absent
   * @param quota asked with the bytes of `usage`; without one there is no limit
   */
  append(
    organization: string,
    events: readonly AuditEvent[],
    stored: Stored,
    named?: ReadonlySet<string>,
    quota?: Quota,
  ): void;

  /**
   * A page of the rows that match, newest `timestamp` first. Whatever arrives meanwhile, following `next`
   * neither skips nor repeats an event that was there at first.
   *
   * @param start how many rows to skip, or the place after which the page begins
   * @param characters cuts each longer text of a row, which then ends in `…`; whole texts when absent
   * @throws UnknownPosition for a place that is not the store's
   */
  page(
    organization: string,
    filter: AuditFilter,
    limit: number,
    start: number | Position,
    signal?: AbortSignal,
    characters?: number,
  ): Awaitable<AuditRows>;

  /** One event's JSON, by its id; where several reporters used the id, that of the event stored first. */
  get(organization: string, id: string): Awaitable<Buffer | undefined>;

  /** Everything that matches at this moment, at constant memory. */
  export(organization: string, filter: AuditFilter, signal?: AbortSignal): Awaitable<AuditExport>;

  /**
   * Follows the events that match, after a place; without one, only the events that are stored from now on.
   *
   * @throws UnknownPosition for a place that is not the store's
   */
  tail(
    organization: string,
    filter: AuditFilter,
    after: Position | undefined,
  ): Awaitable<AuditTail>;

  /** Counts what matches from one moment up to another, in buckets of `intervalMs`. */
  histogram(
    organization: string,
    filter: AuditFilter,
    from: number,
    to: number,
    intervalMs: number,
    signal?: AbortSignal,
  ): Awaitable<AuditHistogram>;

  /** What happened in the 24 hours that end at `now` (milliseconds). */
  activity(organization: string, now: number): Awaitable<AuditActivity>;

  /** What the named providers were used for, by `now`; those that no event names are left out. */
  providerUse(
    organization: string,
    names: readonly string[],
    now: number,
  ): Awaitable<ReadonlyMap<string, ProviderActivity>>;

  /** The providers that events name, in no order; where there are more than `most`, newer ones. */
  providerNames(organization: string, most: number): Awaitable<ReadonlySet<string>>;

  usage(organization: string): Awaitable<AuditUsage>;

  /**
   * Removes events that were ingested before a moment (milliseconds); of all organizations when none is
   * named. A store may remove them in groups, each once all of its events are that old.
   */
  retain(organization: string | undefined, olderThanMs: number): Promise<readonly AuditRemoval[]>;

  /** Removes the oldest events, in the same groups, until no more is left than is allowed. */
  trim(organization: string, allowed: AuditAllowance): Promise<AuditRemoval | undefined>;
}
