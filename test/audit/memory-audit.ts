import type { AuditEvent } from "../../src/audit/schema.ts";
import type {
  AuditActivity,
  AuditExport,
  AuditFilter,
  AuditHistogram,
  AuditRemoval,
  AuditRows,
  AuditStore,
  AuditTail,
  AuditUsage,
  Position,
  ProviderActivity,
  Stored,
  TailListener,
} from "../../src/audit/store.ts";
import type { Pieces } from "../../src/core/pieces.ts";
import { activityOf, matchesOf, providerNamesOf, providerUseOf } from "./naive-audit.ts";

interface Listening {
  readonly organization: string;
  readonly filter: AuditFilter;
  readonly listener: TailListener;
  given: number;
  isPaused: boolean;
}

/** An audit store in its plainest form, for tests of what stands above it. */
export class MemoryAudit implements AuditStore {
  readonly #events = new Map<string, AuditEvent[]>();
  readonly #tails = new Set<Listening>();
  /** Exports whose rows are being read. */
  exporting = 0;
  /** Rows that exports have read. */
  rowsRead = 0;

  get tails(): number {
    return this.#tails.size;
  }

  append(organization: string, events: readonly AuditEvent[], stored: Stored): void {
    const own = this.#own(organization);
    own.push(...events);
    this.#events.set(organization, own);
    stored(null, events.map((event) => JSON.stringify(event)).join(","));
    for (const tail of this.#tails) this.#give(tail);
  }

  page(organization: string, filter: AuditFilter, limit: number, offset: number): AuditRows {
    const found = matchesOf(this.#own(organization), filter);
    return this.#rows(organization, found, limit, offset);
  }

  pageAfter(
    organization: string,
    filter: AuditFilter,
    limit: number,
    after: Position | undefined,
  ): AuditRows {
    const found = matchesOf(this.#own(organization), filter);
    const isAfter = (event: AuditEvent): boolean => {
      if (after === undefined) return true;
      const time = timeOf(event);
      const row = this.#rowOf(organization, event);
      return time < after.timestamp || (time === after.timestamp && row < after.row);
    };
    const offset = found.findIndex(isAfter);
    return this.#rows(organization, found, limit, offset === -1 ? found.length : offset);
  }

  get(organization: string, id: string): Buffer | undefined {
    const found = this.#own(organization).find((event) => event.id === id);
    return found && Buffer.from(JSON.stringify(found));
  }

  export(organization: string, filter: AuditFilter): AuditExport {
    const found = matchesOf(this.#own(organization), filter);
    return { total: found.length, rows: piecesOf(this.#read(found)) };
  }

  async *#read(events: readonly AuditEvent[]): AsyncGenerator<Buffer> {
    this.exporting++;
    try {
      for (const event of events) {
        this.rowsRead++;
        yield Buffer.from(`${JSON.stringify(event)}\n`);
      }
    } finally {
      this.exporting--;
    }
  }

  tail(
    organization: string,
    filter: AuditFilter,
    after: number | undefined,
    listener: TailListener,
  ): AuditTail {
    const given = after ?? this.lastRow(organization);
    const tail: Listening = { organization, filter, listener, given, isPaused: false };
    this.#tails.add(tail);
    const caughtUp = Promise.resolve().then(() => this.#give(tail));
    return {
      caughtUp,
      resume: () => {
        tail.isPaused = false;
        this.#give(tail);
      },
      close: () => this.#tails.delete(tail),
    };
  }

  lastRow(organization: string): number {
    return this.#own(organization).length;
  }

  histogram(
    organization: string,
    filter: AuditFilter,
    from: number,
    to: number,
    intervalMs: number,
  ): AuditHistogram {
    const zeros = () => new Array<number>((to - from) / intervalMs).fill(0);
    const counts = { allowed: zeros(), denied: zeros(), other: zeros() };
    for (const event of matchesOf(this.#own(organization), filter)) {
      const decision = event.policy_decision;
      const own = decision ? counts[decision === "ALLOWED" ? "allowed" : "denied"] : counts.other;
      const index = Math.floor((timeOf(event) - from) / intervalMs);
      own[index] = (own[index] ?? 0) + 1;
    }
    return counts;
  }

  activity(organization: string, now: number): AuditActivity {
    return activityOf(this.#own(organization), now);
  }

  providerUse(
    organization: string,
    names: readonly string[],
    now: number,
  ): ReadonlyMap<string, ProviderActivity> {
    return providerUseOf(this.#own(organization), names, now);
  }

  providerNames(organization: string, most: number): ReadonlySet<string> {
    return new Set([...providerNamesOf(this.#own(organization))].slice(0, most));
  }

  usage(organization: string): AuditUsage {
    const own = this.#own(organization);
    const oldest = own.length === 0 ? undefined : Math.min(...own.map(timeOf));
    return { events: own.length, bytes: JSON.stringify(own).length, oldest, segments: 1 };
  }

  trim(): Promise<AuditRemoval | undefined> {
    return Promise.resolve(undefined);
  }

  retain(): Promise<readonly AuditRemoval[]> {
    return Promise.resolve([]);
  }

  #own(organization: string): AuditEvent[] {
    return this.#events.get(organization) ?? [];
  }

  #rowOf(organization: string, event: AuditEvent): number {
    return this.#own(organization).indexOf(event) + 1;
  }

  #rows(
    organization: string,
    found: readonly AuditEvent[],
    limit: number,
    offset: number,
  ): AuditRows {
    const events = found.slice(offset, offset + limit);
    const last = events.at(-1);
    const isEnd = offset + limit >= found.length || last === undefined;
    return {
      json: Buffer.from(events.map((event) => JSON.stringify(event)).join(",")),
      returned: events.length,
      total: found.length,
      next: isEnd ? undefined : { timestamp: timeOf(last), row: this.#rowOf(organization, last) },
    };
  }

  #give(tail: Listening): void {
    const own = this.#own(tail.organization);
    while (this.#tails.has(tail) && !tail.isPaused && tail.given < own.length) {
      const event = own[tail.given++] as AuditEvent;
      if (matchesOf([event], tail.filter).length === 0) continue;
      tail.isPaused = tail.listener(tail.given, JSON.stringify(event)) === false;
    }
  }
}

function timeOf(event: AuditEvent): number {
  return Date.parse(event.timestamp);
}

/** Pieces that are read from memory, of which nothing has to be freed. */
export function piecesOf(pieces: AsyncIterable<Buffer>): Pieces {
  return { [Symbol.asyncIterator]: () => pieces[Symbol.asyncIterator](), close: () => {} };
}
