/**
 * An append-only log with group commit. Text that arrives while the loop is busy is written at once; the next
 * writes may follow during its sync, and up to four syncs run at a time. An append with durability `sync` is
 * acknowledged after its own sync and all earlier ones, in the order of these appends. An append with
 * durability `write` is acknowledged right after its write, and may overtake appends that wait for a sync. It
 * waits only while the log rolls to a new file. A sync follows within a second.
 *
 * A failed sync is never repeated or trusted. When a write or a sync fails, every append in flight is
 * answered with the error, the file is cut back to the last acknowledged byte and never written again, and
 * the log rolls to a new file. Refused text before an acknowledged byte is overwritten with empty lines, so
 * that acknowledged text stays in its place. Until all of this succeeds, appends fail; it is retried at most
 * once a second.
 *
 * | State | Event | Next state | Then |
 * |---|---|---|---|
 * | ready | append, or a sync is wanted | ready | write the next blocks, start a sync |
 * | ready | append, and the file is full | draining | sync the unsynced blocks |
 * | ready | a write or a sync fails | draining | remember the error, write no more |
 * | draining | the last sync in flight ends | rolling | after a failure: refuse every block in flight |
 * | rolling | the new file is there | ready | after a failure: report that writing goes on |
 * | rolling | no new file can be created | broken | refuse the waiting appends |
 * | broken | append or `recover`, a second after the last try | rolling | |
 * | broken | append, sooner | broken | refuse it |
 *
 * After a failure within a second of the last try, draining ends in broken.
 */
import { SECOND_MS } from "../core/clock.ts";
import { Unavailable } from "../core/errors.ts";
import { clearTimeout, setImmediate, setTimeout } from "../core/timers.ts";
import type { AppendLogOptions, Durability } from "./append-log-options.ts";
import { LogBlock, type Appended } from "./log-block.ts";
import type { LogFile } from "./log-file.ts";
import { createNextFile, currentOf, openLastFile, takeBack, type Current } from "./log-files.ts";
import { PendingBlocks } from "./pending-blocks.ts";

/** The most text that may wait for its answer, in UTF-16 units; appends beyond it are refused. */
export const MAX_HELD = 64 << 20;

/** Appends text, which ends in a newline (see `log-lines.ts`), to the last file of a log. */
export class AppendLog {
  readonly #options: AppendLogOptions;
  #current: Current;
  #state: "ready" | "draining" | "rolling" | "broken" = "ready";
  readonly #pending = new PendingBlocks();
  /** Blocks that are written and wait for their sync. */
  #flying: LogBlock[] = [];
  #held = 0;
  #scheduled = false;
  #timer: NodeJS.Timeout | undefined;
  /** The failure for which the log is draining, rolling or broken; `undefined` without one. */
  #error: unknown;
  /**
   * The error of a failed write, until a write succeeds. The creation of a new file proves nothing: on a full disk a
   * file can be created but not written.
   */
  #doubt: unknown;
  #triedAt = -Infinity;
  #closed: Promise<void> | undefined;
  #resting: (() => void) | undefined;

  private constructor(options: AppendLogOptions, file: LogFile) {
    this.#options = options;
    this.#current = currentOf(file);
  }

  /** Opens a log at its last file, which is repaired; `undefined` creates the first. */
  static async open(options: AppendLogOptions, last: number | undefined): Promise<AppendLog> {
    return new AppendLog(options, await openLastFile(options, last));
  }

  /** The number of the file that takes the writes. */
  get sequence(): number {
    return this.#current.file.sequence;
  }

  /** The error that stopped writing, or of the last failed write; `undefined` while writing works. */
  get failure(): unknown {
    return this.#error ?? this.#doubt;
  }

  /** The length of the appends that are not answered yet, in UTF-16 units. */
  get held(): number {
    return this.#held;
  }

  /** The active file, and its acknowledged bytes. */
  get committed(): readonly [path: string, bytes: number] {
    return [this.#current.file.path, this.#current.good.acknowledged];
  }

  /** Retries writing after a failure, at most once a second. A retry leaves an empty line. */
  recover(): void {
    if (this.failure === undefined || this.#closed !== undefined || !this.#mayTry()) return;
    if (this.#state === "broken") void this.#roll();
    else if (this.#state === "ready" && this.#held === 0) this.append("\n", "sync", () => {});
  }

  /** Appends text, or its bytes in UTF-8; calls `done` later, never before this returns. */
  append(text: string | Buffer, durability: Durability, done: Appended): void {
    const refusal = this.#refusalOf(text);
    if (refusal !== undefined) {
      setImmediate(done, refusal, 0, 0, 0);
      return;
    }
    this.#pending.add(text, durability, done);
    this.#held += text.length;
    this.#schedule();
  }

  /** Writes and syncs the pending appends, answers them, and closes. Later appends are refused. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#current.isSyncWanted ||= this.#current.isDirty;
    await new Promise<void>((resolve) => {
      this.#resting = resolve;
      this.#schedule();
    });
    await this.#current.file.close();
    // A last attempt to take back the refused text: otherwise the next start would find it.
    if (this.#error !== undefined)
      await takeBack(this.#options, this.#current.file, this.#current.good).catch(() => {});
  }

  #refusalOf(text: string | Buffer): unknown {
    if (this.#closed !== undefined) return new Unavailable("The service is stopping", 1);
    if (this.#held > 0 && this.#held + text.length > MAX_HELD) {
      return new Unavailable("Too much is waiting to be written", 1);
    }
    return this.#state === "broken" && !this.#mayTry() ? this.#error : undefined;
  }

  readonly #schedule = (): void => {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#flush);
  };

  readonly #flush = (): void => {
    this.#scheduled = false;
    const { isEmpty } = this.#pending;
    if (isEmpty && !this.#current.isSyncWanted) this.#rest();
    else if (this.#state === "broken") this.#rollOrRefuse();
    else if (this.#state !== "ready") return;
    else if (!isEmpty && this.#options.full?.(this.#current.file.size) === true) this.#drain();
    else this.#writeNext();
  };

  /** Writes the next block of each durability. */
  #writeNext(): void {
    const { sync, write } = this.#pending;
    const written = write.shift();
    if (written !== undefined) this.#write(written);
    if (write.length > 0) return this.#schedule(); // a removal may not overtake the report before it
    if (this.#state !== "ready" || (sync.length === 0 && !this.#current.isSyncWanted)) return;
    if (!this.#current.file.wantSync(this.#schedule)) return;
    this.#writeAndSync(sync.shift() ?? new LogBlock());
    if (sync.length > 0) this.#schedule();
  }

  /** Writes a block, and acknowledges it. */
  #write(block: LogBlock): void {
    if (!this.#place(block)) return;
    this.#current.isDirty = true;
    this.#timer ??= setTimeout(this.#syncLate, SECOND_MS).unref();
    this.#acknowledge(block);
  }

  /** Writes a block, which may be empty, and starts the sync that it waits for. */
  #writeAndSync(block: LogBlock): void {
    if (!this.#place(block)) return;
    this.#flying.push(block);
    this.#current.isDirty = false;
    this.#current.isSyncWanted = false;
    this.#current.file.sync((error) => {
      if (error) this.#fail(error);
      else block.synced = true;
      this.#settle();
    });
  }

  /** Writes a block to the end of the file. If that fails, the block is refused with the others. */
  #place(block: LogBlock): boolean {
    try {
      this.#current.file.write(block.place(this.#current.file.size));
      return true;
    } catch (error) {
      this.#flying.push(block);
      this.#fail(error);
      this.#settle();
      return false;
    }
  }

  readonly #syncLate = (): void => {
    this.#timer = undefined;
    this.#current.isSyncWanted ||= this.#current.isDirty;
    this.#schedule();
  };

  #fail(error: unknown): void {
    this.#error ??= error;
    this.#doubt = error;
    this.#state = "draining";
  }

  /** Acknowledges, in order, the blocks whose syncs are done, and goes on with waiting work. */
  #settle(): void {
    for (let block = this.#flying[0]; block?.synced === true; block = this.#flying[0]) {
      this.#flying.shift();
      this.#current.good.synced = block.end;
      this.#acknowledge(block);
    }
    if (this.#state === "ready") this.#schedule();
    else if (this.#state === "draining" && !this.#current.file.syncing) this.#drained();
  }

  #acknowledge(block: LogBlock): void {
    this.#held -= block.length;
    this.#current.good.acknowledged = Math.max(this.#current.good.acknowledged, block.end);
    if (this.#state === "ready") this.#doubt = undefined;
    block.answer(this.sequence);
  }

  /** Rolls to a new file once everything in this one is synced. */
  #drain(): void {
    if (this.#current.isDirty) {
      if (!this.#current.file.wantSync(this.#schedule)) return;
      this.#writeAndSync(new LogBlock());
    }
    this.#state = "draining";
    if (!this.#current.file.syncing) this.#drained();
  }

  #drained(): void {
    this.#state = "broken";
    if (this.#error !== undefined) {
      this.#options.failed?.(this.#error, this.#current.file.path);
      const { good } = this.#current;
      good.holes = this.#flying.filter(({ end }) => end <= good.acknowledged);
      this.#refuse(this.#flying);
    }
    this.#rollOrRefuse();
  }

  #mayTry(): boolean {
    return Math.abs(this.#options.now() - this.#triedAt) >= SECOND_MS; // the clock may be set back
  }

  #rollOrRefuse(): void {
    if (this.#error === undefined || this.#mayTry()) void this.#roll();
    else this.#refuseAll();
  }

  async #roll(): Promise<void> {
    const hadFailed = this.#error !== undefined;
    this.#state = "rolling";
    try {
      if (hadFailed) this.#triedAt = this.#options.now();
      else await this.#options.mayRoll?.();
      await this.#current.file.close();
      if (hadFailed) await takeBack(this.#options, this.#current.file, this.#current.good);
      this.#current = currentOf(await createNextFile(this.#options, this.#current.file));
      this.#error = undefined;
      this.#state = "ready";
      this.#options.rolled?.(this.#current.file.sequence);
      if (hadFailed) this.#options.failed?.(undefined, this.#current.file.path);
      this.#schedule();
    } catch (error) {
      this.#error = error;
      this.#state = "broken";
      this.#triedAt = this.#options.now();
      if (!hadFailed) this.#options.failed?.(error, this.#current.file.path);
      this.#refuseAll();
    }
  }

  #refuse(blocks: LogBlock[]): void {
    for (const block of blocks.splice(0)) {
      this.#held -= block.length;
      block.refuse(this.#error);
    }
  }

  #refuseAll(): void {
    this.#refuse(this.#pending.write);
    this.#refuse(this.#pending.sync);
    this.#current.isSyncWanted = false;
    this.#rest();
  }

  #rest(): void {
    const isIdle = this.#state === "ready" || this.#state === "broken";
    if (isIdle && this.#flying.length === 0) this.#resting?.();
  }
}
