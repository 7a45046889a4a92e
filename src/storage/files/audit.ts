import { setImmediate as turn } from "node:timers/promises";
import type { AuditActivity, AuditAllowance, AuditExport } from "../../audit/store.ts";
import type { AuditFilter, AuditHistogram } from "../../audit/store.ts";
import type { AuditRemoval, AuditRows, AuditStore, AuditTail } from "../../audit/store.ts";
import type { AuditUsage, Position, TailListener } from "../../audit/store.ts";
import type { Awaitable } from "../../core/caller.ts";
import { MINUTE_MS, type Clock } from "../../core/clock.ts";
import { describeError, type Log } from "../../core/log.ts";
import type { Durability } from "../append-log-options.ts";
import { DamageRegister } from "../damage.ts";
import { listDirectory } from "../directories.ts";
import type { FileOperations } from "../file-operations.ts";
import { isOrganizationId, type Layout } from "../layout.ts";
import type { LogCheck } from "../log-checks.ts";
import { ReadFiles } from "../read-files.ts";
import { AuditCounts } from "./audit/counts.ts";
import { FoundRows } from "./audit/found-rows.ts";
import type { IndexThreads } from "./audit/index-threads.ts";
import { Tail } from "./audit/tail.ts";
import { AuditTrail } from "./audit/trail.ts";
import { checksOf } from "./audit/unindexed.ts";

export interface FileAuditOptions {
  readonly files: FileOperations;
  readonly layout: Layout;
  readonly now: Clock;
  readonly log: Log;
  /** Where damaged lines are entered; a register of its own when absent. */
  readonly damage?: DamageRegister;
  /** When an append is answered: after the sync that covers it, or after the write. */
  readonly durability: Durability;
  /** A segment is sealed at this size, or after a day. */
  readonly segmentBytes: number;
  /** Make indexes that are missing, where the disk is the system's; closed with the store. */
  readonly threads?: IndexThreads;
}

/** An organization that nobody asks for is closed after so long; its memory and files are freed. */
const IDLE_MS = 10 * MINUTE_MS;
/** What is opened only to be looked at is left open while fewer events than these are in memory. */
const KEPT_ROWS = 1_000_000;
const FROM_THE_TOP = { timestamp: Infinity, row: Infinity };

/** An organization's events while they are open. */
interface Open {
  readonly trail: AuditTrail;
  usedAt: number;
  isUsed: boolean;
}

/** Keeps audit events in segments of JSON lines; an organization's are opened on first use. */
export class FileAuditStore implements AuditStore {
  readonly counts = new AuditCounts();
  readonly #options: FileAuditOptions & { readonly damage: DamageRegister };
  readonly #reads: ReadFiles;
  readonly #found = new FoundRows();
  readonly #open = new Map<string, Open>();
  readonly #opening = new Map<string, Promise<AuditTrail>>();
  readonly #closing = new Map<string, Promise<void>>();
  readonly #unopened = new Map<string, unknown>(); // why it failed when that was tried last
  readonly #sweeper: NodeJS.Timeout;
  #closed = false;

  constructor(options: FileAuditOptions) {
    const { damage = new DamageRegister(options.files, options.log) } = options;
    this.#options = { ...options, damage };
    this.#reads = new ReadFiles(options.files);
    this.#sweeper = setInterval(() => this.closeIdle(), MINUTE_MS).unref();
  }

  /** Why some organization's events cannot be stored at present; `undefined` while all can. */
  get failure(): unknown {
    for (const { trail } of this.#open.values()) {
      if (trail.writer.failure !== undefined) return trail.writer.failure;
    }
    return this.#unopened.values().next().value;
  }

  /** Text that is given and not answered, in UTF-16 units. */
  get held(): number {
    return Array.from(this.#open.values(), ({ trail }) => trail.writer.held).reduce(
      (a, b) => a + b,
      0,
    );
  }

  /** The files that take the writes, and how much of each is acknowledged. */
  get committed(): readonly (readonly [path: string, bytes: number])[] {
    return Array.from(this.#open.values(), ({ trail }) => trail.writer.committed);
  }

  /** Tries to write again after a failure. */
  recover(): void {
    for (const { trail } of this.#open.values()) trail.writer.recover();
    if (this.#closed) return;
    for (const organization of this.#unopened.keys()) this.#trail(organization).catch(() => {});
  }

  append(
    ...[organization, events, stored, areNew = false]: Parameters<AuditStore["append"]>
  ): void {
    const trail = this.#use(organization);
    if (trail !== undefined) trail.append(events, areNew, stored);
    else this.#trail(organization).then((opened) => opened.append(events, areNew, stored), stored);
  }

  page(
    organization: string,
    filter: AuditFilter,
    limit: number,
    offset: number,
    signal?: AbortSignal,
  ): Promise<AuditRows> {
    return this.#ask(organization, (trail) => trail.page(filter, limit, offset, signal));
  }

  pageAfter(
    organization: string,
    filter: AuditFilter,
    limit: number,
    after: Position | undefined,
    signal?: AbortSignal,
  ): Promise<AuditRows> {
    const start = after ?? FROM_THE_TOP;
    return this.#ask(organization, (trail) => trail.page(filter, limit, start, signal));
  }

  get(organization: string, id: string): Promise<Buffer | undefined> {
    return this.#ask(organization, (trail) => trail.get(id));
  }

  export(organization: string, filter: AuditFilter, signal?: AbortSignal): Promise<AuditExport> {
    return this.#ask(organization, (trail) => trail.export(filter, signal));
  }

  tail(
    organization: string,
    filter: AuditFilter,
    after: number | undefined,
    listener: TailListener,
  ): AuditTail {
    const tail = new Tail(filter, after, listener);
    const trail = this.#use(organization);
    if (trail !== undefined) trail.attach(tail);
    else {
      this.#trail(organization).then(
        (opened) => opened.attach(tail),
        (error: unknown) => tail.fail(error),
      );
    }
    return tail;
  }

  lastRow(organization: string): Awaitable<number> {
    return this.#ask(organization, async (trail) => trail.lastRow);
  }

  histogram(
    organization: string,
    filter: AuditFilter,
    from: number,
    to: number,
    intervalMs: number,
    signal?: AbortSignal,
  ): Promise<AuditHistogram> {
    const range = { from, to, intervalMs };
    return this.#ask(organization, (trail) => trail.histogram(filter, range, signal));
  }

  activity(organization: string, now: number): Promise<AuditActivity> {
    return this.#ask(organization, async (trail) => trail.activity(now));
  }

  usage(organization: string): Promise<AuditUsage> {
    return this.#ask(organization, async (trail) => trail.usage());
  }

  async retain(
    organization: string | undefined,
    olderThanMs: number,
  ): Promise<readonly AuditRemoval[]> {
    const removals: AuditRemoval[] = [];
    for (const id of organization === undefined ? await this.#stored() : [organization]) {
      const removal = await this.#ask(id, (trail) => trail.retain(olderThanMs));
      if (removal !== undefined) removals.push(removal);
    }
    return removals;
  }

  /** How to look for damage in what no index of these organizations vouches for. */
  checks(organizations: readonly string[]): Promise<readonly LogCheck[]> {
    const { files, layout } = this.#options;
    return checksOf(files, layout, organizations, (id) => this.#check(id));
  }

  async #check(organization: string): Promise<void> {
    if (this.#open.has(organization) || this.#opening.has(organization)) return;
    await this.#trail(organization);
    let rows = 0;
    for (const { trail } of this.#open.values()) rows += trail.usage().events;
    if (rows < KEPT_ROWS) return;
    await turn(); // whoever waited for it as well has begun to use it by now
    const open = this.#open.get(organization);
    if (open?.isUsed === false) open.usedAt = -Infinity;
    this.closeIdle();
  }

  trim(organization: string, allowed: AuditAllowance): Promise<AuditRemoval | undefined> {
    return this.#ask(organization, (trail) => trail.trim(allowed));
  }

  /** Closes what nobody has asked for in a while. */
  closeIdle(): void {
    const oldest = this.#options.now() - IDLE_MS;
    for (const [organization, { trail, usedAt }] of this.#open) {
      if (usedAt > oldest || !trail.isIdle || trail.writer.failure !== undefined) continue;
      this.#open.delete(organization);
      const closing = trail.close().catch((error: unknown) => {
        this.#options.log.error("audit files could not be closed", { error: describeError(error) });
      });
      this.#closing.set(organization, closing);
      void closing.then(() => this.#closing.delete(organization));
    }
  }

  /** Stores what was given, and closes every file. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeper);
    await this.#options.threads?.close();
    await Promise.allSettled(this.#opening.values());
    await Promise.all(this.#closing.values());
    for (const { trail } of this.#open.values()) await trail.close();
    await this.#reads.close();
  }

  async #ask<T>(organization: string, answer: (trail: AuditTrail) => Promise<T>): Promise<T> {
    return answer(this.#use(organization) ?? (await this.#trail(organization)));
  }

  #use(organization: string): AuditTrail | undefined {
    const open = this.#open.get(organization);
    if (open === undefined) return undefined;
    open.usedAt = this.#options.now();
    open.isUsed = true;
    return open.trail;
  }

  /** The organizations of which more than one segment is stored. */
  async #stored(): Promise<readonly string[]> {
    const { files, layout } = this.#options;
    const found: string[] = [];
    for (const id of (await listDirectory(files, layout.organizations)).filter(isOrganizationId)) {
      const names = await listDirectory(files, layout.organization(id).audit);
      if (names.filter((name) => name.endsWith(".jsonl")).length > 1) found.push(id);
    }
    return found;
  }

  /** Opens an organization's events; a failure is not remembered, so the next use tries again. */
  #trail(organization: string): Promise<AuditTrail> {
    let opening = this.#opening.get(organization);
    if (opening === undefined) {
      opening = this.#openTrail(organization);
      this.#opening.set(organization, opening);
      const ended = (error?: unknown): void => {
        this.#opening.delete(organization);
        if (error === undefined || this.#closed) this.#unopened.delete(organization);
        else this.#unopened.set(organization, error);
      };
      opening.then(() => ended(), ended);
    }
    return opening;
  }

  async #openTrail(organization: string): Promise<AuditTrail> {
    if (this.#closed) throw new Error("The audit store is closed");
    await this.#closing.get(organization);
    const { layout, log, now } = this.#options;
    const trail = await AuditTrail.open({
      ...this.#options,
      counts: this.counts,
      reads: this.#reads,
      found: this.#found,
      organization,
      directory: layout.organization(organization).audit,
      root: layout.root,
      torn: (tail) => log.warn("cut off half an append, which was never acknowledged", { ...tail }),
      indexFailed: (error, file) =>
        log.error("an audit index could not be written", { file, error: describeError(error) }),
      failed: (error, file) => {
        if (error === undefined) log.info("the audit log can be written again", { file });
        else log.error("the audit log cannot be written", { file, error: describeError(error) });
      },
    });
    this.#open.set(organization, { trail, usedAt: now(), isUsed: false });
    return trail;
  }
}
