import type { AuditEvent } from "../../audit/schema.ts";
import type {
  AuditActivity,
  AuditExport,
  AuditHistogram,
  AuditRemoval,
  AuditTail,
  AuditUsage,
  AuditFilter,
  AuditRows,
  AuditStore,
  Stored,
} from "../../audit/store.ts";
import type { Awaitable } from "../../core/caller.ts";
import type { Clock } from "../../core/clock.ts";
import { describeError, type Log } from "../../core/log.ts";
import type { Durability } from "../append-log.ts";
import type { FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import { AuditTrail } from "./audit-trail.ts";

export interface FileAuditOptions {
  readonly files: FileOperations;
  readonly layout: Layout;
  readonly now: Clock;
  readonly log: Log;
  /** When an append is answered: after the sync that covers it, or after the write. */
  readonly durability: Durability;
  /** A segment is sealed at this size, or after a day. */
  readonly segmentBytes: number;
}

/** Keeps audit events in segments of JSON lines; an organization's are opened on first use. */
export class FileAuditStore implements AuditStore {
  readonly #options: FileAuditOptions;
  readonly #open = new Map<string, AuditTrail>();
  readonly #opening = new Map<string, Promise<AuditTrail>>();
  #closed = false;

  constructor(options: FileAuditOptions) {
    this.#options = options;
  }

  /** Why some organization's events cannot be stored at present; `undefined` while all can. */
  get failure(): unknown {
    for (const trail of this.#open.values()) {
      if (trail.failure !== undefined) return trail.failure;
    }
    return undefined;
  }

  append(organization: string, events: readonly AuditEvent[], stored: Stored): void {
    const trail = this.#open.get(organization);
    if (trail !== undefined) trail.append(events, stored);
    else this.#trail(organization).then((opened) => opened.append(events, stored), stored);
  }

  async page(
    organization: string,
    filter: AuditFilter,
    limit: number,
    offset: number,
  ): Promise<AuditRows> {
    const trail = this.#open.get(organization) ?? (await this.#trail(organization));
    return trail.page(filter, limit, offset);
  }

  activity(organization: string, now: number): Awaitable<AuditActivity> {
    const trail = this.#open.get(organization);
    if (trail !== undefined) return trail.activity(now);
    return this.#trail(organization).then((opened) => opened.activity(now));
  }

  pageAfter(): Promise<AuditRows> {
    throw new Error("Not there yet");
  }
  get(): Promise<Buffer | undefined> {
    throw new Error("Not there yet");
  }
  export(): Promise<AuditExport> {
    throw new Error("Not there yet");
  }
  tail(): AuditTail {
    throw new Error("Not there yet");
  }
  lastRow(): number {
    throw new Error("Not there yet");
  }
  histogram(): Promise<AuditHistogram> {
    throw new Error("Not there yet");
  }
  usage(): Promise<AuditUsage> {
    throw new Error("Not there yet");
  }
  retain(): Promise<readonly AuditRemoval[]> {
    throw new Error("Not there yet");
  }

  /** Stores what was given, and closes every file. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#opening.values());
    for (const trail of this.#open.values()) await trail.close();
  }

  /** Opens an organization's events; a failure is not remembered, so the next use tries again. */
  #trail(organization: string): Promise<AuditTrail> {
    let opening = this.#opening.get(organization);
    if (opening === undefined) {
      opening = this.#openTrail(organization);
      this.#opening.set(organization, opening);
      const forget = (): boolean => this.#opening.delete(organization);
      opening.then(forget, forget);
    }
    return opening;
  }

  async #openTrail(organization: string): Promise<AuditTrail> {
    if (this.#closed) throw new Error("The audit store is closed");
    const { layout, log } = this.#options;
    const trail = await AuditTrail.open({
      ...this.#options,
      organization,
      directory: layout.organization(organization).audit,
      root: layout.root,
      torn: (tail) => log.warn("cut off half an append, which was never acknowledged", { ...tail }),
      damaged: (damage) => log.error("skipped damaged lines of the audit log", { ...damage }),
      failed: (error, file) => {
        if (error === undefined) log.info("the audit log can be written again", { file });
        else log.error("the audit log cannot be written", { file, error: describeError(error) });
      },
    });
    this.#open.set(organization, trail);
    return trail;
  }
}
