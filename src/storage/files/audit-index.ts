/**
 * What is known of an organization's events without reading the log: the fields that queries decide
 * by, and where each event's line stands. Rows are kept oldest first, by timestamp and then by the
 * order of ingest; an event that comes late is put where it belongs.
 */
import type { AuditEvent } from "../../audit/schema.ts";
import type { AuditActivity, AuditFilter, ProviderActivity } from "../../audit/store.ts";
import { DAY_MS } from "../../core/clock.ts";
import { parseTimestamp } from "../../core/time.ts";
import type { Slice } from "../segment-reader.ts";

/** One event: where it stands, and what it is found by. */
export interface AuditRow extends Slice {
  /** `timestamp` in milliseconds. */
  readonly time: number;
  /** The texts that `q` searches, in lower case. */
  readonly searched: readonly string[];
  readonly decision: string | undefined;
  readonly provider: string | undefined;
  readonly consumer: string | undefined;
  readonly ai: boolean;
  readonly status: string | undefined;
}

/** The rows of one organization. */
export class AuditIndex {
  readonly #rows: AuditRow[] = [];
  readonly #lastUsed = new Map<string, number>();
  #sorted = false; // what is read at start is sorted once, by the first question

  /** Adds an event that is stored. */
  add(event: AuditEvent, { segment, offset, length }: Slice): AuditRow {
    const { provider } = event;
    const time = timeOf(event.timestamp);
    const row: AuditRow = {
      time,
      segment,
      offset,
      length,
      searched: searchedTexts(event),
      decision: event.policy_decision,
      provider,
      consumer: event.consumer,
      ai: event.ai,
      status: event.status,
    };
    if (provider !== undefined) {
      this.#lastUsed.set(provider, Math.max(this.#lastUsed.get(provider) ?? -Infinity, time));
    }
    const last = this.#rows.at(-1);
    const isLate = this.#sorted && last !== undefined && last.time > time;
    if (isLate) this.#rows.splice(this.#endOf(time), 0, row);
    else this.#rows.push(row);
    return row;
  }

  /** The rows of a page, newest first, and the number of rows that match. */
  page(
    filter: AuditFilter,
    limit: number,
    offset: number,
  ): { readonly rows: readonly AuditRow[]; readonly total: number } {
    const rows = this.#ordered();
    if (Object.values(filter).every((value) => value === undefined)) {
      const end = Math.max(0, rows.length - offset);
      return { rows: rows.slice(Math.max(0, end - limit), end).reverse(), total: rows.length };
    }
    const matches = matcher(filter);
    const found: AuditRow[] = [];
    let total = 0;
    for (let i = rows.length - 1; i >= 0; i--) {
      const row = rows[i] as AuditRow;
      if (!matches(row)) continue;
      if (total >= offset && found.length < limit) found.push(row);
      total++;
    }
    return { rows: found, total };
  }

  /** What happened in the 24 hours up to and including `now`. */
  activity(now: number): AuditActivity {
    const rows = this.#ordered();
    const counts = { commands: 0, allowed: 0, denied: 0, ai: 0 };
    const providers = new Map<string, { events: number; failed: number; lastUsed: number }>();
    for (const [name, lastUsed] of this.#lastUsed) {
      providers.set(name, { events: 0, failed: 0, lastUsed });
    }
    for (let i = rows.length - 1; i >= 0; i--) {
      const row = rows[i] as AuditRow;
      if (row.time > now) continue;
      if (row.time <= now - DAY_MS) break;
      counts.commands++;
      if (row.decision === "ALLOWED") counts.allowed++;
      if (row.decision === "DENIED") counts.denied++;
      if (row.ai) counts.ai++;
      const provider = row.provider === undefined ? undefined : providers.get(row.provider);
      if (provider === undefined) continue;
      provider.events++;
      if (hasFailed(row)) provider.failed++;
    }
    return { ...counts, providers: providers satisfies Map<string, ProviderActivity> };
  }

  /** The number of rows up to and including a time. */
  #endOf(time: number): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#rows[middle] as AuditRow).time <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #ordered(): readonly AuditRow[] {
    if (!this.#sorted) {
      this.#rows.sort((a, b) => a.time - b.time);
      this.#sorted = true;
    }
    return this.#rows;
  }
}

/** Stored timestamps are canonical, which the engine reads four times as fast as we do. */
function timeOf(timestamp: string): number {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? (parseTimestamp(timestamp) ?? 0) : time;
}

function hasFailed({ decision, status }: AuditRow): boolean {
  return decision === "DENIED" || status === "error" || status === "failed";
}

function searchedTexts(event: AuditEvent): readonly string[] {
  const { command, executor, resource, provider, capability } = event;
  const texts: string[] = [];
  if (command !== undefined) texts.push(command.toLowerCase());
  if (executor !== undefined) texts.push(executor.toLowerCase());
  if (resource !== undefined) texts.push(resource.toLowerCase());
  if (provider !== undefined) texts.push(provider.toLowerCase());
  if (capability !== undefined) texts.push(capability.toLowerCase());
  return texts;
}

function matcher({ q, decision, provider, consumer }: AuditFilter): (row: AuditRow) => boolean {
  const needle = q?.toLowerCase();
  return (row) =>
    (decision === undefined || row.decision === decision) &&
    (consumer === undefined || row.consumer === consumer) &&
    (provider === undefined || row.provider === provider) &&
    (needle === undefined || row.searched.some((text) => text.includes(needle)));
}
