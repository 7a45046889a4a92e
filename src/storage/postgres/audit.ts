import {
  MOST_OF_ID,
  UnknownPosition,
  type AuditStore,
  type AuditUsage,
} from "../../audit/store.ts";
import { readListPosition, readMarkedPosition } from "../../audit/positions.ts";
import { MINUTE_MS, SECOND_MS, type Clock } from "../../core/clock.ts";
import { describeError, type Log } from "../../core/log.ts";
import { setNewest } from "../../core/set-newest.ts";
import { clearInterval, setInterval, systemStopwatch } from "../../core/timers.ts";
import type { AuditFigures } from "../../engine.ts";
import { CoalescedReads } from "./coalesced.ts";
import { numberFrom, type Database } from "./database.ts";
import type { Removing } from "./proof/removing.ts";
import { answerExport, answerPage } from "./audit/answers.ts";
import { Arrivals } from "./audit/arrivals.ts";
import { activityOf, histogramOf, providerNamesOf, providerUseOf } from "./audit/counts.ts";
import { facetsOf } from "./audit/facets.ts";
import { Counting, countRest } from "./audit/counting.ts";
import { usageOf } from "./audit/days.ts";
import { GroupCommit } from "./audit/group-commit.ts";
import { eventsWithId } from "./audit/known-events.ts";
import { daysFrom, stillThere } from "./audit/marks.ts";
import { Partitions } from "./audit/partitions.ts";
import { Readers } from "./audit/readers.ts";
import { retain, sweep, trim } from "./audit/retention.ts";
import { indexClosedDays } from "./audit/closed-days.ts";

export interface PostgresAuditOptions {
  readonly database: Database;
  readonly now: Clock;
  readonly log: Log;
  /** `write` does not wait for the disk of the database: a crash of the database may lose the newest events. */
  readonly durability: "sync" | "write";
  /** The number of new events after which they are counted. */
  readonly countAfter?: number;
  /** Switches maintenance off. A move writes to past days, and indexing a past day would lock it. */
  readonly isMove?: boolean | undefined;
  /** Called before the events of a day are deleted. */
  readonly removing?: Removing;
}

const MAINTAIN_EVERY_MS = MINUTE_MS;
/** The oldest age of an organization's cached size when its quota is checked. */
const SIZE_AGE_MS = SECOND_MS;
const MOST_SIZES = 10_000;

/** Keeps audit events in PostgreSQL. Any number of servers can share the database. */
export class PostgresAudit implements AuditStore {
  readonly #options: PostgresAuditOptions;
  readonly #database: Database;
  readonly #arrivals: Arrivals;
  readonly #readers: Readers;
  readonly #commits: GroupCommit;
  readonly #counting: Counting;
  /** The bytes of organizations, as of the last commit or query. */
  readonly #sizes = new Map<string, { readonly bytes: number; readonly at: number }>();
  readonly #readSizes = new CoalescedReads((organizations) => this.#loadSizes(organizations));
  readonly #maintaining: NodeJS.Timeout;
  #maintenance: Promise<void> = Promise.resolve();

  constructor(options: PostgresAuditOptions) {
    const { database, durability } = options;
    this.#options = options;
    this.#database = database;
    this.#arrivals = new Arrivals(database);
    this.#readers = new Readers(database);
    this.#counting = new Counting(database, options.countAfter);
    this.#commits = new GroupCommit({
      database,
      partitions: new Partitions(database),
      isRelaxed: durability === "write",
      grown: (organization, lastRow, bytes) => {
        this.#noteSize(organization, bytes);
        this.#arrivals.grown(organization, lastRow);
        this.#counting.grown(organization, lastRow);
      },
    });
    const maintain = (): void => {
      if (options.isMove) return;
      this.#maintenance = this.#maintenance.then(() => this.#maintain());
    };
    this.#maintaining = setInterval(maintain, MAINTAIN_EVERY_MS).unref();
  }

  /** The counters of this server's events since the start. */
  get figures(): AuditFigures {
    return this.#commits.figures;
  }

  append(...[organization, events, stored, ...more]: Parameters<AuditStore["append"]>): void {
    const [named, quota, sender] = more;
    if (events.length === 0) return stored(null, "");
    const party = sender?.party ?? ["", organization];
    const append = (): void => this.#commits.append(party, events, stored, named);
    if (quota === undefined) return append();
    const size = this.#sizes.get(organization);
    const ask = (bytes: number): void => {
      const refusal = quota.refusal(bytes);
      if (refusal === undefined) append();
      else stored(refusal);
    };
    if (size !== undefined && systemStopwatch() - size.at < SIZE_AGE_MS) ask(size.bytes);
    else this.#readSizes.get(organization).then((bytes = 0) => ask(bytes), stored);
  }

  readonly page: AuditStore["page"] = async (id, filter, limit, start, searcher, characters) => {
    searcher?.gone?.throwIfAborted();
    const from = typeof start === "number" ? start : readListPosition(start);
    return answerPage(this.#database, id, filter, { limit, start: from, searcher, characters });
  };

  async withId(organization: string, id: string): Promise<readonly Buffer[]> {
    const found = await eventsWithId(this.#database, organization, id, MOST_OF_ID);
    return found.map(({ line }) => Buffer.from(line));
  }

  readonly export: AuditStore["export"] = (organization, filter, searcher) =>
    answerExport(this.#database, organization, filter, searcher, this.#readers);

  readonly tail: AuditStore["tail"] = async (organization, filter, after, reader) => {
    const newest = "SELECT last_seq AS n FROM audit_heads WHERE organization_id = $1";
    const query: Database["query"] = (...statement) => this.#database.query(...statement);
    const known =
      after === undefined
        ? { row: await numberFrom(this.#database, newest, [organization]), mark: undefined }
        : readMarkedPosition(after);
    const days = await daysFrom(query, organization, known.row);
    const place = await stillThere(query, organization, days, known);
    if (place === undefined) throw new UnknownPosition();
    return this.#arrivals.tail(organization, filter, place, reader?.party);
  };

  readonly histogram: AuditStore["histogram"] = (organization, filter, from, to, ms, searcher) =>
    histogramOf(this.#database, organization, filter, { from, to, intervalMs: ms }, searcher);

  readonly facets: AuditStore["facets"] = (...asked) => facetsOf(this.#database, ...asked);

  readonly activity: AuditStore["activity"] = (...asked) => activityOf(this.#database, ...asked);

  readonly providerUse: AuditStore["providerUse"] = (...asked) =>
    providerUseOf(this.#database, ...asked);

  readonly providerNames: AuditStore["providerNames"] = (...asked) =>
    providerNamesOf(this.#database, ...asked);

  async usage(organization: string): Promise<AuditUsage> {
    const usage = await usageOf(this.#database, organization);
    this.#noteSize(organization, usage.bytes);
    return usage;
  }

  async #loadSizes(organizations: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#database.query<{ id: string; bytes: number }>(
      "SELECT organization_id AS id, bytes FROM audit_heads WHERE organization_id = ANY ($1)",
      [organizations],
    );
    const sizes = new Map(rows.map(({ id, bytes }) => [id, bytes]));
    for (const id of organizations) this.#noteSize(id, sizes.get(id) ?? 0);
    return sizes;
  }

  readonly retain: AuditStore["retain"] = async (organization, olderThanMs) => {
    const removals = await retain(this.#database, organization, olderThanMs, this.#options.log);
    this.#sizes.clear();
    return removals;
  };

  readonly trim: AuditStore["trim"] = async (organization, allowed) => {
    const removal = await trim(this.#database, organization, allowed);
    this.#sizes.delete(organization);
    return removal;
  };

  /** Finishes the pending appends, and ends streams and exports. */
  async close(): Promise<void> {
    clearInterval(this.#maintaining);
    await this.#commits.close();
    await this.#counting.close();
    this.#arrivals.close();
    this.#readers.close();
    await this.#maintenance;
  }

  #noteSize(organization: string, bytes: number): void {
    setNewest(this.#sizes, organization, { bytes, at: systemStopwatch() }, MOST_SIZES);
  }

  /** Counts uncounted events, deletes events that retention has removed, and indexes past days. */
  async #maintain(): Promise<void> {
    const { log, now, removing } = this.#options;
    try {
      await countRest(this.#database);
      await sweep(this.#database, undefined, removing);
      await indexClosedDays(this.#database, now());
    } catch (error) {
      log.error("the maintenance of the audit tables failed", { error: describeError(error) });
    }
  }
}
