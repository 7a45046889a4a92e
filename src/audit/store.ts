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
 * An event's place in a list. Lists are sorted by `timestamp` (milliseconds), then by `row`, which
 * rises in the order of ingest and belongs to the event for good; it is greater than 0.
 */
export interface Position {
  readonly timestamp: number;
  readonly row: number;
}

/** One page of a list. */
export interface AuditRows {
  /** The rows as JSON objects, newest first, joined by commas; in pieces when they are long. */
  readonly json: Buffer | Pieces;
  readonly returned: number;
  /** Rows that match, before paging. */
  readonly total: number;
  /** The last row's place, after which the next page begins; `undefined` when no row is left. */
  readonly next: Position | undefined;
}

/** Everything that matched at one moment. */
export interface AuditExport {
  readonly total: number;
  /**
   * Newest first; each piece is a run of whole JSON rows, each of which ends in a newline. A piece is
   * good until the next one is asked for, which may be written over it. Retention removes none of what
   * they are read from before `close`.
   */
  readonly rows: Pieces;
}

/** Takes an event and its row; `false` asks for a pause. */
export type TailListener = (row: number, json: Buffer | string) => boolean | void;

/** Events as they arrive. */
export interface AuditTail {
  /** Settles when what was stored already has been given out; rejects when it cannot be read. */
  readonly caughtUp: Promise<void>;
  /** Goes on after the listener asked for a pause. */
  resume(): void;
  close(): void;
}

/** Events by `timestamp` and decision; one number for each bucket. */
export interface AuditHistogram {
  readonly allowed: readonly number[];
  readonly denied: readonly number[];
  /** Events without a decision. */
  readonly other: readonly number[];
}

/** What an organization's events take up. */
export interface AuditUsage {
  readonly events: number;
  /** Of the log; an index beside it is not counted. */
  readonly bytes: number;
  /** The oldest `timestamp`, in milliseconds. */
  readonly oldest: number | undefined;
  readonly segments: number;
}

/** How much of an organization's events may be kept. */
export interface AuditAllowance {
  readonly events: number;
  /** Of the log, as in `AuditUsage`. */
  readonly bytes: number;
}

/** What retention removed of one organization. */
export interface AuditRemoval {
  readonly organization: string;
  readonly segments: number;
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

/** Keeps the audit events of every organization. A question whose signal is aborted rejects. */
export interface AuditStore {
  /**
   * Stores events, all or none, and calls back when they are as safe as the deployment demands. An
   * event that its reporter sent before under the same id, or is just sending, is answered as it was stored
   * the first time and not stored again. All events of one call have the same reporter. May call back before
   * it returns; never throws.
   *
   * `named` holds the ids that the client gave; every id counts as given when it is absent. Only these
   * are looked for: an id that the service has just generated never takes a stored event's place.
   *
   * `quota` is asked with the bytes of the organization's log; without one there is no limit.
   */
  append(
    organization: string,
    events: readonly AuditEvent[],
    stored: Stored,
    named?: ReadonlySet<string>,
    quota?: Quota,
  ): void;

  /**
   * Rows `offset` to `offset + limit` of those that match, newest `timestamp` first.
   *
   * @param characters cuts each longer text of a row, which then ends in `…`; whole texts when absent
   */
  page(
    organization: string,
    filter: AuditFilter,
    limit: number,
    offset: number,
    signal?: AbortSignal,
    characters?: number,
  ): Awaitable<AuditRows>;

  /**
   * The rows after a position, newest first; without one, the newest. Whatever arrives meanwhile,
   * following `next` neither skips nor repeats an event that was there at first. `characters` is that of
   * `page`.
   */
  pageAfter(
    organization: string,
    filter: AuditFilter,
    limit: number,
    after: Position | undefined,
    signal?: AbortSignal,
    characters?: number,
  ): Awaitable<AuditRows>;

  /** One event's JSON, by its id; where several reporters used the id, that of the event stored first. */
  get(organization: string, id: string): Awaitable<Buffer | undefined>;

  /** Everything that matches at this moment, at constant memory. */
  export(organization: string, filter: AuditFilter, signal?: AbortSignal): Awaitable<AuditExport>;

  /**
   * Gives a listener the events that match, in the order of ingest: those after a row (0: all), then
   * each as it is stored. Without a row, only what is stored from now on.
   */
  tail(
    organization: string,
    filter: AuditFilter,
    after: number | undefined,
    listener: TailListener,
  ): AuditTail;

  /** A row that no stored event is beyond, and every later one is; 0 when there never was an event. */
  lastRow(organization: string): Awaitable<number>;

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
   * Removes whole segments of which every event was ingested before a moment (milliseconds); of all
   * organizations when none is named. The segment that takes the writes is never removed.
   */
  retain(organization: string | undefined, olderThanMs: number): Promise<readonly AuditRemoval[]>;

  /**
   * Removes the oldest whole segments until no more is left than is allowed. The segment that takes
   * the writes is never removed.
   */
  trim(organization: string, allowed: AuditAllowance): Promise<AuditRemoval | undefined>;
}
