/**
 * The events of one organization: log, indexes and recent ids. Events are written, synced and indexed before they
 * are answered, in the order of the log. A large batch is indexed in parts, so queries may see its first events
 * before it is answered. Queries take a lease, so that retention keeps the files that they read.
 */
import type { AuditEvent } from "../../../audit/schema.ts";
import type { AuditActivity, AuditAllowance, AuditExport } from "../../../audit/store.ts";
import type { AuditFacets, AuditFilter, AuditHistogram } from "../../../audit/store.ts";
import type { AuditRemoval, AuditRows, AuditUsage } from "../../../audit/store.ts";
import type { ProviderActivity, Stored } from "../../../audit/store.ts";
import { streamPosition } from "../../../audit/positions.ts";
import { CloseStack } from "../../../core/close-stack.ts";
import type { Searcher } from "../../../core/scheduling/fair-share.ts";
import type { Quota } from "../../../core/quota.ts";
import type { Durability } from "../../append-log-options.ts";
import { SegmentedLog, type SegmentedLogOptions } from "../../segmented-log.ts";
import type { EngineCounters } from "./write/engine-counters.ts";
import { EventWriter } from "./write/event-writer.ts";
import { segmentQuery, type SegmentQuery } from "./query/segment-query.ts";
import { Leases, type AnswerInPieces } from "./leases.ts";
import { Removals } from "./removals.ts";
import { lineOf, linesOfId, recentIdsOf, rowsAfter } from "./write/known-events.ts";
import type { PlacedLine } from "./write/known-events.ts";
import type { RecentIds } from "./write/recent-ids.ts";
import { InOrder } from "./write/in-order.ts";
import { arrivalOf, firstLine, foreignLine, linesAsBytes, linesIn } from "./write/lines.ts";
import { answerExport, answerPage, type PageStart } from "./query/answers.ts";
import { answerFacets } from "./query/facets.ts";
import { answerHistogram, type BucketRange } from "./query/histogram.ts";
import { LastDay } from "./query/last-day.ts";
import { lastUses, providerNames } from "./query/providers.ts";
import { globalRow, NO_ROW, type GlobalRow, type LocalRow } from "./index/segment-index.ts";
import type { SegmentIndex } from "./index/segment-index.ts";
import { SegmentSet, type SegmentSetOptions } from "./segment-set.ts";
import type { ByteCache } from "../byte-cache.ts";
import type { RowSet } from "./index/row-set.ts";
import type { Tail, TailSource } from "./live/tail.ts";

type LogOptions = Omit<SegmentedLogOptions, "timeOf" | "rolled" | "removed">;

export interface AuditTrailOptions extends LogOptions, SegmentSetOptions {
  readonly durability: Durability;
  readonly counts: EngineCounters;
  /** Called when removed segments, which answers were still reading, could not be deleted. The next removal repeats it. */
  readonly removalFailed: (error: unknown) => void;
  readonly found: ByteCache<RowSet>;
  readonly shortLines: ByteCache<Buffer>;
}

/** Stores and finds the events of one organization. */
export class AuditTrail implements TailSource {
  readonly organization: string;
  readonly #found: ByteCache<RowSet>;
  readonly #shortLines: ByteCache<Buffer>;
  readonly #log: SegmentedLog;
  readonly #segments: SegmentSet;
  readonly #ids: RecentIds;
  readonly #sequel: InOrder;
  readonly #writer: EventWriter;
  /** The tails that are read: each is offered every event as it is stored. */
  readonly tails = new Set<Tail>();
  readonly #leases = new Leases();
  readonly #lastDay = new LastDay();
  readonly #removals: Removals;

  private constructor(
    { organization, durability, counts, found, shortLines, now, removalFailed }: AuditTrailOptions,
    log: SegmentedLog,
    segments: SegmentSet,
    ids: RecentIds,
    sequel: InOrder,
  ) {
    this.organization = organization;
    this.#found = found;
    this.#shortLines = shortLines;
    this.#log = log;
    this.#segments = segments;
    this.#ids = ids;
    this.#sequel = sequel;
    this.#removals = new Removals(segments, this.#leases, now, removalFailed);
    this.#writer = new EventWriter({
      ...{ log, segments, ids, durability, counts, sequel },
      acknowledged: this.#add,
    });
  }

  /** Opens the log, loads the index of each segment, and rebuilds missing ones. */
  static async open(options: AuditTrailOptions): Promise<AuditTrail> {
    const { organization } = options;
    let segments: SegmentSet | undefined;
    const sequel = new InOrder();
    const log = await SegmentedLog.open({
      ...options,
      timeOf: (line) => arrivalOf(line, organization),
      isFull: () => segments?.isFull === true,
      mayRoll: async () => segments?.room(),
      rolled: (segment) => sequel.do(() => segments?.roll(segment)),
    });
    try {
      segments = await SegmentSet.open(options, log);
      return new AuditTrail(options, log, segments, await recentIdsOf(segments), sequel);
    } catch (error) {
      await segments?.close();
      await log.close();
      throw error;
    }
  }

  /** The state of writing: failures, pending text, acknowledged bytes. */
  get writer(): Pick<SegmentedLog, "failure" | "held" | "committed" | "recover"> {
    return this.#log;
  }

  /** Whether no append, stream or query is in progress, so that the trail could be closed. */
  get isIdle(): boolean {
    return this.#writer.isIdle && this.tails.size === 0 && this.#leases.areNone;
  }

  /** Stores events, all or none; see `AuditStore.append`. */
  append(
    events: readonly AuditEvent[],
    named: ReadonlySet<string> | undefined,
    stored: Stored,
    quota: Quota | undefined,
  ): void {
    const refusal = quota?.refusal(this.#segments.bytes);
    if (refusal !== undefined) stored(refusal);
    else this.#writer.append(events, named, stored);
  }

  /** Stores events as these lines, all or none; see `FileAuditStore.appendLines`. */
  appendLines(lines: readonly Buffer[], stored: Stored): void {
    const fault = foreignLine(lines, this.organization);
    if (fault !== undefined) return stored(fault);
    this.#log.append(linesAsBytes(lines), "sync", (error, _segment, offset, _length, bytes) =>
      this.#sequel.do(() => {
        for (const line of bytes && error === null ? linesIn(bytes) : []) {
          const place = offset + line.byteOffset - (bytes as Buffer).byteOffset;
          this.#add(JSON.parse(line.toString("utf8")) as AuditEvent, line, place);
        }
        stored(error);
      }),
    );
  }

  /** Adds an acknowledged event to the index, to the recent ids and to the streams. */
  readonly #add = (event: AuditEvent, line: Buffer, offset: number): void => {
    const index = this.#segments.growing;
    const row = index.add(event, offset, offset + line.length);
    const place = globalRow(index.segment, row);
    this.#ids.add(index.idHashes[row] as number, place);
    if (this.tails.size === 0) return;
    // A copy: tails keep it for a while, and must not keep the whole batch in memory.
    const arrival = { position: streamPosition(place), json: Buffer.from(line) };
    for (const tail of this.tails) tail.offer(place, event, arrival, this.tails.size);
  };

  /** A page that begins after a number of rows, or after a position; see `AuditStore.page`. */
  page(
    filter: AuditFilter,
    limit: number,
    start: PageStart,
    reader: Searcher | undefined,
    characters: number | undefined,
  ): Promise<AuditRows> {
    const query = this.#query(filter);
    const common = { organization: this.organization, kept: this.#shortLines };
    const shortening = characters === undefined ? undefined : { ...common, characters };
    const parts = { limit, start, reader, shortening };
    return this.#ask((indexes, answer) =>
      answerPage(this.#log, indexes, query, { ...parts, answer }),
    );
  }

  export(filter: AuditFilter, reader: Searcher | undefined): Promise<AuditExport> {
    const query = this.#query(filter);
    return this.#ask((indexes, answer) => answerExport(this.#log, indexes, query, reader, answer));
  }

  histogram(
    filter: AuditFilter,
    range: BucketRange,
    signal: AbortSignal | undefined,
  ): Promise<AuditHistogram> {
    const query = this.#query(filter);
    return this.#ask((indexes) => answerHistogram(indexes, query, range, signal));
  }

  facets(filter: AuditFilter, most: number, signal: AbortSignal | undefined): Promise<AuditFacets> {
    const log = { log: this.#log, organization: this.organization };
    const query = this.#query(filter);
    return this.#ask((indexes) => answerFacets(log, indexes, query, most, signal));
  }

  #query(filter: AuditFilter): SegmentQuery {
    return segmentQuery(filter, this.organization, this.#found);
  }

  /** The events with an id, with their rows. */
  eventsOf(id: string): Promise<readonly PlacedLine[]> {
    return this.#ask(() => linesOfId(this.#segments, id, (rows) => this.readRows(rows)));
  }

  activity(now: number): Promise<AuditActivity> {
    return this.#ask((indexes) => this.#lastDay.activity(now, indexes));
  }

  providerUse(
    names: readonly string[],
    now: number,
  ): Promise<ReadonlyMap<string, ProviderActivity>> {
    return this.#ask(async (indexes) => {
      const times = await lastUses(indexes, names);
      const use = new Map<string, ProviderActivity>();
      for (const [name, counts] of await this.#lastDay.providerUse(names, now, indexes)) {
        const lastUsed = times.get(name);
        if (lastUsed !== undefined) use.set(name, { ...counts, lastUsed });
      }
      return use;
    });
  }

  providerNames(most: number): Promise<ReadonlySet<string>> {
    return this.#ask((indexes) => providerNames(indexes, most));
  }

  usage(): AuditUsage {
    return this.#segments.usage();
  }

  get lastRow(): GlobalRow {
    const last = this.#segments.indexes.findLast(({ rows }) => rows > 0);
    if (last !== undefined) return globalRow(last.segment, (last.rows - 1) as LocalRow);
    // Retention may have removed all events, but row numbers are never used again.
    const { segment } = this.#segments.growing;
    return segment === 1 ? NO_ROW : globalRow(segment, -1 as LocalRow);
  }

  rowsAfter(row: GlobalRow, count: number, bytes: number): readonly GlobalRow[] {
    return rowsAfter(this.#segments.indexes, row, count, bytes);
  }

  bytesOf = (row: GlobalRow): number => lineOf(this.#segments, row)?.length ?? 0;

  async readRows(rows: readonly GlobalRow[]): Promise<readonly Buffer[]> {
    const slices = rows.flatMap((row) => lineOf(this.#segments, row) ?? []);
    return (await this.#log.read(slices)).map(firstLine);
  }

  /** Removes segments whose events are all older; the files, once no reader needs them. */
  async retain(olderThanMs: number): Promise<AuditRemoval | undefined> {
    const done = this.#leases.take(); // closed meanwhile, the trail could be opened with files that are then removed
    // Not by the next append: at the quota all are refused. A full disk has no room before the others are removed.
    if (this.#segments.growing.endBefore(olderThanMs)) await this.#log.roll().catch(() => {});
    done();
    const sealed = this.#segments.indexes.slice(0, -1);
    return this.#remove(sealed.filter(({ newestIngested }) => newestIngested < olderThanMs));
  }

  /** Removes the oldest sealed segments until the rest is within the allowance. */
  async trim(allowed: AuditAllowance): Promise<AuditRemoval | undefined> {
    let { events, bytes } = this.usage();
    const old: SegmentIndex[] = [];
    for (const index of this.#segments.indexes.slice(0, -1)) {
      if (events <= allowed.events && bytes <= allowed.bytes) break;
      events -= index.rows;
      bytes -= index.bytes;
      old.push(index);
    }
    return this.#remove(old, allowed.bytes);
  }

  async #remove(
    old: readonly SegmentIndex[],
    allowedBytes?: number,
  ): Promise<AuditRemoval | undefined> {
    const removed = await this.#removals.remove(old, allowedBytes);
    return removed && { organization: this.organization, ...removed };
  }

  async close(): Promise<void> {
    for (const tail of this.tails) tail.close();
    const opened = new CloseStack();
    opened.keep(this.#segments);
    opened.add(() => this.#sequel.idle());
    opened.keep(this.#log); // first, since it may still seal a segment
    await opened.close();
  }

  /** Answers a query from the indexes, under a lease. */
  #ask<T>(
    search: (indexes: readonly SegmentIndex[], answer: AnswerInPieces) => Promise<T>,
  ): Promise<T> {
    return this.#leases.search((answer) =>
      this.#segments.read((indexes) => search(indexes, answer)),
    );
  }
}
