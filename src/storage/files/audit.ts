import type { AuditActivity, AuditAllowance, AuditExport, AuditFilter } from "../../audit/store.ts";
import type {
  AuditRemoval,
  AuditRows,
  AuditStore,
  AuditTail,
  AuditUsage,
  Client,
  Position,
} from "../../audit/store.ts";
import type { Clock } from "../../core/clock.ts";
import { CloseStack } from "../../core/close-stack.ts";
import { forEachOrganization } from "../../core/each-organization.ts";
import { describeError, type Log } from "../../core/log.ts";
import type { Searcher } from "../../core/scheduling/fair-share.ts";
import type { Durability } from "../append-log-options.ts";
import { DamageRegister } from "../damage.ts";
import { listOrganizations } from "../directories.ts";
import type { FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import type { LogCheck } from "../log-checks.ts";
import { ReadFiles } from "../read-files.ts";
import { listSegments, timeOfFirst } from "../segmented-log.ts";
import { EngineCounters } from "./audit/write/engine-counters.ts";
import type { RowSet } from "./audit/index/row-set.ts";
import type { IndexThreads } from "./audit/sidecar/index-threads.ts";
import { OpenTrails, checksOf } from "./audit/open-trails.ts";
import { ByteCache } from "./byte-cache.ts";
import { Tail } from "./audit/live/tail.ts";
import { readListPosition, readStreamPosition } from "../../audit/positions.ts";
import type { GlobalRow } from "./audit/index/segment-index.ts";
import type { PlacedLine } from "./audit/write/known-events.ts";
import { AuditTrail } from "./audit/trail.ts";
import { arrivalOf } from "./audit/write/lines.ts";
import type { Removing } from "./proof/removing.ts";

export interface FileAuditOptions {
  readonly files: FileOperations;
  readonly layout: Layout;
  readonly now: Clock;
  readonly log: Log;
  /** The register that takes damaged lines; a new one if absent. */
  readonly damage?: DamageRegister;
  /** When an append is answered: after its sync, or after its write. */
  readonly durability: Durability;
  /** A segment is sealed at this size, or after a day. */
  readonly segmentBytes: number;
  /** The threads that build missing indexes, for the real disk only; closed with the store. */
  readonly threads?: IndexThreads;
  /** Called before files of an organization are removed, which waits for it; with the names of the files. */
  readonly removing?: Removing | undefined;
  /** The most open organizations; beyond it, idle ones are closed. 1,000 when absent. */
  readonly maxOpen?: number;
}

/** Keeps audit events in segments of JSON lines; each organization's are opened on first use. */
export class FileAuditStore implements AuditStore {
  readonly counts = new EngineCounters();
  readonly #options: FileAuditOptions & { readonly damage: DamageRegister };
  readonly #reads: ReadFiles;
  readonly #found = new ByteCache<RowSet>();
  readonly #shortLines = new ByteCache<Buffer>();
  readonly #trails: OpenTrails;

  constructor(options: FileAuditOptions) {
    const { damage = new DamageRegister(options.files, options.log) } = options;
    this.#options = { ...options, damage };
    this.#reads = new ReadFiles(options.files);
    this.#trails = new OpenTrails({
      open: (organization) => this.#openTrail(organization),
      now: options.now,
      limit: options.maxOpen,
      closeFailed: (error) =>
        options.log.error("audit files could not be closed", { error: describeError(error) }),
    });
  }

  /** The error that stops some organization's events; `undefined` while all can be stored. */
  get failure(): unknown {
    return this.#trails.failure;
  }

  /** The length of the appends that are not answered yet, in UTF-16 units. */
  get held(): number {
    return this.#trails.all.reduce((sum, { writer }) => sum + writer.held, 0);
  }

  /** The active files, each with its acknowledged bytes. */
  get committed(): readonly (readonly [path: string, bytes: number])[] {
    return this.#trails.all.map(({ writer }) => writer.committed);
  }

  /** Retries writing after a failure. */
  recover(): void {
    this.#trails.recover();
  }

  append(...[organization, events, stored, named, quota]: Parameters<AuditStore["append"]>): void {
    const trail = this.#trails.atHand(organization);
    if (trail !== undefined) return trail.append(events, named, stored, quota);
    this.#trails
      .opened(organization)
      .then((opened) => opened.append(events, named, stored, quota), stored);
  }

  /** Appends the lines of another engine's events, all or none; only for a move. */
  appendLines(organization: string, lines: readonly Buffer[]): Promise<void> {
    return this.#ask(
      organization,
      (trail) =>
        new Promise((resolve, reject) => {
          trail.appendLines(lines, (error) =>
            error === null ? resolve() : reject(error as Error),
          );
        }),
    );
  }

  page(
    organization: string,
    filter: AuditFilter,
    limit: number,
    start: number | Position,
    searcher?: Searcher,
    characters?: number,
  ): Promise<AuditRows> {
    return this.#ask(organization, async (trail) => {
      const from = typeof start === "number" ? start : readListPosition<GlobalRow>(start);
      return trail.page(filter, limit, from, searcher, characters);
    });
  }

  async withId(organization: string, id: string): Promise<readonly Buffer[]> {
    return (await this.eventsOf(organization, id)).map(({ line }) => line);
  }

  /** The events with an id, with their rows. */
  eventsOf(organization: string, id: string): Promise<readonly PlacedLine[]> {
    return this.#ask(organization, (trail) => trail.eventsOf(id));
  }

  export(organization: string, filter: AuditFilter, searcher?: Searcher): Promise<AuditExport> {
    return this.#ask(organization, (trail) => trail.export(filter, searcher));
  }

  tail(
    organization: string,
    filter: AuditFilter,
    after: Position | undefined,
    reader: Client = { party: ["", organization] },
  ): Promise<AuditTail> {
    return this.#ask(organization, async ({ lastRow }) => {
      const row = after === undefined ? lastRow : readStreamPosition(after, lastRow);
      const open = () => this.#trails.atHand(organization) ?? this.#trails.opened(organization);
      return new Tail(filter, row, open, reader.party);
    });
  }

  readonly histogram: AuditStore["histogram"] = (id, filter, from, to, intervalMs, searcher) =>
    this.#ask(id, (trail) => trail.histogram(filter, { from, to, intervalMs }, searcher?.gone));

  readonly facets: AuditStore["facets"] = (id, filter, most, searcher) =>
    this.#ask(id, (trail) => trail.facets(filter, most, searcher?.gone));

  activity(organization: string, now: number): Promise<AuditActivity> {
    return this.#ask(organization, (trail) => trail.activity(now));
  }

  readonly providerUse: AuditStore["providerUse"] = (id, ...asked) =>
    this.#ask(id, (trail) => trail.providerUse(...asked));

  readonly providerNames: AuditStore["providerNames"] = (id, most) =>
    this.#ask(id, (trail) => trail.providerNames(most));

  usage(organization: string): Promise<AuditUsage> {
    return this.#ask(organization, async (trail) => trail.usage());
  }

  async retain(
    organization: string | undefined,
    olderThanMs: number,
  ): Promise<readonly AuditRemoval[]> {
    const removals: AuditRemoval[] = [];
    const removeOld = async (id: string): Promise<void> => {
      const removal = await this.#ask(id, (trail) => trail.retain(olderThanMs));
      if (removal !== undefined) removals.push(removal);
    };
    if (organization !== undefined) await removeOld(organization);
    else {
      const parts = { log: this.#options.log, failure: "audit retention failed" };
      await forEachOrganization(parts, await this.#withOld(olderThanMs), removeOld);
    }
    return removals;
  }

  /** The checks for damage in the parts of these organizations' logs that no index covers. */
  checks(organizations: readonly string[]): Promise<readonly LogCheck[]> {
    const { files, layout } = this.#options;
    return checksOf(files, layout, organizations, (id) => this.#trails.look(id));
  }

  trim(organization: string, allowed: AuditAllowance): Promise<AuditRemoval | undefined> {
    return this.#ask(organization, (trail) => trail.trim(allowed));
  }

  /** Closes organizations that have been idle for a long time. */
  closeIdle(): void {
    this.#trails.closeIdle();
  }

  /** Finishes the pending appends, and closes every file. */
  async close(): Promise<void> {
    this.#trails.refuse();
    const opened = new CloseStack();
    opened.keep(this.#reads);
    opened.keep(this.#trails);
    opened.add(() => this.#options.threads?.close());
    await opened.close();
  }

  async #ask<T>(organization: string, answer: (trail: AuditTrail) => Promise<T>): Promise<T> {
    return answer(this.#trails.atHand(organization) ?? (await this.#trails.opened(organization)));
  }

  /** The organizations with a sealed segment, or with an event in the active one that is older. The others stay closed. */
  async #withOld(olderThanMs: number): Promise<readonly string[]> {
    const { files, layout } = this.#options;
    const found: string[] = [];
    for (const id of await listOrganizations(files, layout)) {
      // What cannot be read is reported when its organization's turn comes.
      if (await this.#hasOld(id, olderThanMs).catch(() => true)) found.push(id);
    }
    return found;
  }

  async #hasOld(organization: string, olderThanMs: number): Promise<boolean> {
    const { files, layout } = this.#options;
    const directory = layout.organization(organization).audit;
    const [first, ...others] = await listSegments(files, directory);
    if (first === undefined || others.length > 0) return first !== undefined;
    const timeOf = (line: Buffer) => arrivalOf(line, organization);
    const began = await timeOfFirst({ files, directory, timeOf }, first);
    return began !== undefined && began < olderThanMs;
  }

  #openTrail(organization: string): Promise<AuditTrail> {
    const { layout, log } = this.#options;
    return AuditTrail.open({
      ...this.#options,
      counts: this.counts,
      reads: this.#reads,
      found: this.#found,
      shortLines: this.#shortLines,
      organization,
      directory: layout.organization(organization).audit,
      root: layout.root,
      torn: (tail) => log.warn("cut off half an append, which was never acknowledged", { ...tail }),
      indexFailed: (error, file) =>
        log.error("an audit index could not be written", { file, error: describeError(error) }),
      removalFailed: (error) =>
        log.error("old audit events could not be removed", {
          organization,
          error: describeError(error),
        }),
      failed: (error, file) => {
        if (error === undefined) log.info("the audit log can be written again", { file });
        else log.error("the audit log cannot be written", { file, error: describeError(error) });
      },
    });
  }
}
