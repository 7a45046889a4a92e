import type { Awaitable } from "../core/caller.ts";
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
}

/** One page of a list. */
export interface AuditRows {
  /** The rows as JSON objects, newest first, joined by commas. */
  readonly json: Buffer;
  readonly returned: number;
  /** Rows that match, before paging. */
  readonly total: number;
}

/** What one provider was used for. */
export interface ProviderActivity {
  /** Events of the last 24 hours. */
  readonly events: number;
  /** Those of them that were denied, or whose status is `error` or `failed`. */
  readonly failed: number;
  /** The newest event's `timestamp` over all time, in milliseconds. */
  readonly lastUsed: number;
}

/** Counts by `timestamp`: later than 24 hours before `now`, and up to `now` itself. */
export interface AuditActivity {
  readonly commands: number;
  readonly allowed: number;
  readonly denied: number;
  readonly ai: number;
  /** Every provider ever seen, also those without an event in the window. */
  readonly providers: ReadonlyMap<string, ProviderActivity>;
}

/** Takes the stored events as JSON objects joined by commas, in the order sent, or the error. */
export type Stored = (error: unknown, json?: string) => void;

/** Keeps the audit events of every organization. */
export interface AuditStore {
  /**
   * Stores events, all or none, and calls back when they are as safe as the deployment demands. An
   * event whose id is stored already, or is being stored, is answered as it was stored the first
   * time and not stored again. May call back before it returns; never throws.
   */
  append(organization: string, events: readonly AuditEvent[], stored: Stored): void;

  /** Rows `offset` to `offset + limit` of those that match, newest `timestamp` first. */
  page(
    organization: string,
    filter: AuditFilter,
    limit: number,
    offset: number,
  ): Awaitable<AuditRows>;

  /** What happened in the 24 hours that end at `now` (milliseconds). */
  activity(organization: string, now: number): Awaitable<AuditActivity>;
}
