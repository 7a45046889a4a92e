/**
 * Opens and closes the trails of organizations. The first use opens a trail. It is closed after ten idle
 * minutes, or to make room when too many are open: then the least recently used trail is closed. An open trail
 * costs memory and a file descriptor; a closed trail costs neither.
 */
import { join } from "node:path";
import { MINUTE_MS, SECOND_MS, type Clock } from "../../../core/clock.ts";
import { CloseStack } from "../../../core/close-stack.ts";
import { clearInterval, nextTurn, setInterval } from "../../../core/timers.ts";
import { sidecarOf } from "./sidecar/stray-files.ts";
import type { AuditTrail } from "./trail.ts";
import { listDirectory } from "../../directories.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import type { LogCheck } from "../../log-checks.ts";

/** An organization without a request for this long is closed. */
const IDLE_MS = 10 * MINUTE_MS;
/** While more than this are open, each opening closes one that has been idle for a second. */
const MAX_OPEN = 1_000;
const RESTED_MS = SECOND_MS;
/** A trail that was opened only for a check stays open while fewer events than this are in memory. */
const KEPT_ROWS = 1_000_000;

interface Open {
  readonly trail: AuditTrail;
  usedAt: number;
  isUsed: boolean;
}

export interface OpenTrailsParts {
  readonly open: (organization: string) => Promise<AuditTrail>;
  readonly now: Clock;
  /** Called when files could not be closed. */
  readonly closeFailed: (error: unknown) => void;
  /** The most open trails; beyond it some are closed to make room. */
  readonly limit?: number | undefined;
}

/** Opens, keeps and closes the trails of a store. */
export class OpenTrails {
  readonly #parts: OpenTrailsParts;
  readonly #limit: number;
  readonly #open = new Map<string, Open>();
  readonly #opening = new Map<string, Promise<AuditTrail>>();
  readonly #closing = new Map<string, Promise<void>>();
  /** Errors of the last attempt to open, by organization. */
  readonly #unopened = new Map<string, unknown>();
  readonly #sweeper: NodeJS.Timeout;
  #closed = false;

  constructor(parts: OpenTrailsParts) {
    this.#parts = parts;
    this.#limit = parts.limit ?? MAX_OPEN;
    this.#sweeper = setInterval(() => this.closeIdle(), MINUTE_MS).unref();
  }

  /** All open trails. */
  get all(): readonly AuditTrail[] {
    return Array.from(this.#open.values(), ({ trail }) => trail);
  }

  /** The error that stops some organization's events; `undefined` while all can be stored. */
  get failure(): unknown {
    for (const { trail } of this.#open.values()) {
      if (trail.writer.failure !== undefined) return trail.writer.failure;
    }
    return this.#unopened.values().next().value;
  }

  /** Retries writing and opening after a failure. */
  recover(): void {
    for (const { trail } of this.#open.values()) trail.writer.recover();
    if (this.#closed) return;
    for (const organization of this.#unopened.keys()) this.opened(organization).catch(() => {});
  }

  /** An organization's trail for immediate use, if it is open. */
  atHand(organization: string): AuditTrail | undefined {
    const open = this.#open.get(organization);
    if (open === undefined) return undefined;
    open.usedAt = this.#parts.now();
    open.isUsed = true;
    return open.trail;
  }

  /** An organization's trail once it is open; a failure is not remembered, so the next use tries again. */
  opened(organization: string): Promise<AuditTrail> {
    let opening = this.#opening.get(organization);
    if (opening === undefined) {
      opening = this.#begin(organization);
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

  /** Opens a trail to check that it can be opened. It stays open if it is small, or used meanwhile. */
  async look(organization: string): Promise<void> {
    if (this.#open.has(organization) || this.#opening.has(organization)) return;
    await this.opened(organization);
    let rows = 0;
    for (const { trail } of this.#open.values()) rows += trail.usage().events;
    if (rows < KEPT_ROWS) return;
    await nextTurn(); // other callers that waited for it may use it now
    const open = this.#open.get(organization);
    if (open?.isUsed === false) open.usedAt = -Infinity;
    this.closeIdle();
  }

  /** Closes trails that have been idle for a long time. */
  closeIdle(): void {
    const oldest = this.#parts.now() - IDLE_MS;
    for (const [organization, open] of this.#open) {
      if (open.usedAt <= oldest && isAtRest(open)) this.#leave(organization, open);
    }
  }

  /** Refuses to open trails from now on. */
  refuse(): void {
    this.#closed = true;
    clearInterval(this.#sweeper);
  }

  /** Finishes pending writes, and closes every trail. */
  async close(): Promise<void> {
    this.refuse();
    await Promise.allSettled(this.#opening.values());
    await Promise.all(this.#closing.values());
    const opened = new CloseStack();
    for (const { trail } of this.#open.values()) opened.keep(trail);
    await opened.close();
  }

  async #begin(organization: string): Promise<AuditTrail> {
    if (this.#closed) throw new Error("The audit store is closed");
    await this.#closing.get(organization);
    const trail = await this.#parts.open(organization);
    this.#makeRoom();
    this.#open.set(organization, { trail, usedAt: this.#parts.now(), isUsed: false });
    return trail;
  }

  /** Closes the least recently used trail if too many are open and it is at rest. */
  #makeRoom(): void {
    if (this.#open.size < this.#limit) return;
    const rested = this.#parts.now() - RESTED_MS;
    let oldest: readonly [string, Open] | undefined;
    for (const entry of this.#open) {
      const [, open] = entry;
      if (open.usedAt > rested || open.usedAt >= (oldest?.[1].usedAt ?? Infinity)) continue;
      if (isAtRest(open)) oldest = entry;
    }
    if (oldest !== undefined) this.#leave(...oldest);
  }

  #leave(organization: string, { trail }: Open): void {
    this.#open.delete(organization);
    const closing = trail.close().catch((error: unknown) => this.#parts.closeFailed(error));
    this.#closing.set(organization, closing);
    void closing.then(() => this.#closing.delete(organization));
  }
}

/** Whether a trail can be closed without effect: it has no work in progress, and everything is stored. */
function isAtRest({ trail }: Open): boolean {
  return trail.isIdle && trail.writer.failure === undefined;
}

/** The checks of all organizations that have events; `run` checks one organization. */
export async function checksOf(
  files: FileOperations,
  layout: Layout,
  organizations: readonly string[],
  run: (organization: string) => Promise<void>,
): Promise<readonly LogCheck[]> {
  const checks: LogCheck[] = [];
  for (const id of organizations) {
    const what = layout.organization(id).audit;
    const bytes = await unindexedBytes(files, what);
    if (bytes !== undefined) checks.push({ what, bytes, run: () => run(id) });
  }
  return checks;
}

/**
 * The bytes of an organization's events that no sidecar covers: those of the active segment, and of
 * segments without a sidecar. `undefined` when there are no segments.
 */
async function unindexedBytes(
  files: FileOperations,
  directory: string,
): Promise<number | undefined> {
  const names = await listDirectory(files, directory);
  const segments = names.filter((name) => name.endsWith(".jsonl"));
  if (segments.length === 0) return undefined;
  const known = new Set(names);
  let bytes = 0;
  for (const name of segments) {
    const isSealed = name !== segments.at(-1) && known.has(sidecarOf(name));
    if (!isSealed) bytes += (await files.stat(join(directory, name))).size;
  }
  return bytes;
}
