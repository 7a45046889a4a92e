import { dirname, join } from "node:path";
import type { Clock } from "../../core/clock.ts";
import { Unavailable } from "../../core/errors.ts";
import { describeError, type Log } from "../../core/log.ts";
import type { Quota } from "../../core/quota.ts";
import type { Heartbeat } from "../../fleet/schema.ts";
import type { Kept } from "../../fleet/store.ts";
import type { Durability } from "../append-log-options.ts";
import { AppendLog } from "../append-log.ts";
import { DamageFound, type DamageRegister } from "../damage.ts";
import { listDirectory, makeDurableDirectory } from "../directories.ts";
import type { FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import type { Appended } from "../log-block.ts";
import { cutTornEnd, type TornTail } from "../log-file.ts";
import { ENDS, readLines } from "../log-lines.ts";
import { listNumbers, numberedPath } from "../numbered-files.ts";
import { FleetIndex } from "./fleet-index.ts";
import { recordOf, recordPrefix, removalOf, replayLine } from "./fleet-records.ts";
import { readFleetSnapshot, writeFleetSnapshot } from "./fleet-snapshot.ts";
import { growth } from "./label-room.ts";

const FORGOTTEN_AT_ONCE = 1_000;

/** The parts of one organization's fleet. */
export interface FleetLogParts {
  readonly organization: string;
  readonly files: FileOperations;
  readonly layout: Layout;
  readonly now: Clock;
  readonly log: Log;
  /** Takes damaged lines, which are skipped. */
  readonly damage: DamageRegister;
  /** Fires when the service stops. A snapshot under way is then cancelled, since the log has everything. */
  readonly stopping: AbortSignal;
  /** The least size at which a log file is folded into the snapshot. */
  readonly minLogBytes: number;
}

interface Waiting {
  readonly text: string;
  readonly durability: Durability;
  readonly done: Appended;
}

/** One organization's fleet: memory, log and snapshot. The log's file is opened by its first report. */
export class FleetLog {
  readonly index = new FleetIndex();
  readonly #parts: FleetLogParts;
  readonly #prefix: string;
  readonly #snapshotPath: string;
  /** The number of the first log file that the snapshot does not include. */
  #first = 1;
  #lastSeen = 0;
  /** New runtimes whose first report is not in the log yet. */
  readonly #arriving = new Set<string>();
  #snapshotBytes = 0;
  #log: AppendLog | undefined;
  #opening: Promise<void> | undefined;
  #openFailure: unknown;
  #waiting: Waiting[] = [];
  #folding: Promise<void> | undefined;

  /** A fleet that is new and empty. */
  constructor(parts: FleetLogParts) {
    const { organization, layout } = parts;
    this.#parts = parts;
    this.#prefix = recordPrefix(organization);
    this.#snapshotPath = layout.organization(organization).fleetSnapshot;
  }

  /** Reads the snapshot and the log after it; throws if the snapshot is damaged. */
  static async open(parts: FleetLogParts): Promise<FleetLog> {
    const fleet = new FleetLog(parts);
    const head = await readFleetSnapshot(
      parts.files,
      fleet.#snapshotPath,
      parts.organization,
      fleet.index,
    );
    if (head) {
      fleet.#first = head.log;
      fleet.#lastSeen = head.lastSeen;
      fleet.#snapshotBytes = head.bytes;
    }
    await fleet.#removeBefore(fleet.#first);
    const logs = (await fleet.#logFiles()).map((file) => fleet.#pathOf(file));
    for (const path of logs) await fleet.#replay(path);
    await fleet.#recallFolded(logs);
    fleet.index.sort(); // snapshots are not sorted
    return fleet;
  }

  /** The error that stopped writing, or of the last failed write; `undefined` while writing works. */
  get failure(): unknown {
    return this.#log ? this.#log.failure : this.#openFailure;
  }

  /** The active file, while one is open, and its acknowledged bytes. */
  get committed(): readonly [path: string, bytes: number] | undefined {
    return this.#log?.committed;
  }

  /** Retries writing after a failure. */
  recover(): void {
    if (this.#log) this.#log.recover();
    else if (this.#openFailure !== undefined && !this.#parts.stopping.aborted)
      this.#opening ??= this.#openLog();
  }

  /** Stores a report; see `FleetStore`. */
  heartbeat(report: Heartbeat, at: number, kept: Kept, quota?: Quota, labels?: Quota): void {
    const { labelRoom } = this.index;
    const entry = this.index.get(report.name);
    const isCounted = entry !== undefined || this.#arriving.has(report.name);
    const room = growth(entry, report);
    const refusal =
      (isCounted ? undefined : quota?.refusal(this.index.size + this.#arriving.size)) ??
      labelRoom.take(room, labels);
    if (refusal !== undefined) return kept(refusal);
    if (entry === undefined) this.#arriving.add(report.name);
    const lastSeen = Math.max(this.#lastSeen, at);
    this.#lastSeen = lastSeen;
    const isKnown = entry !== undefined && entry.leaving === 0;
    // While another report is pending, memory is not yet in the state of the log.
    const known = entry?.unsettled === 0 ? entry : undefined;
    const text = recordOf(this.#prefix, report, lastSeen, known) + ENDS;
    if (entry) entry.unsettled++;
    this.#append(text, isKnown ? "write" : "sync", (error) => {
      if (entry) entry.unsettled--;
      else this.#arriving.delete(report.name);
      labelRoom.release(room);
      if (error) kept(error);
      else kept(undefined, this.index.apply(report, lastSeen));
    });
  }

  /** Forgets a runtime; see `FleetStore`. */
  forget(name: string): Promise<boolean> {
    const entry = this.index.get(name);
    if (entry === undefined) return Promise.resolve(false);
    entry.leaving++;
    entry.unsettled++;
    return new Promise((resolve, reject) => {
      this.#append(removalOf(this.#prefix, name) + ENDS, "sync", (error) => {
        entry.leaving--;
        entry.unsettled--;
        if (error) reject(error as Error);
        else resolve(this.index.remove(name));
      });
    });
  }

  /** Forgets the runtimes that were last seen before a moment; resolves with their number. */
  async forgetSilent(before: number): Promise<number> {
    let count = 0;
    for (const names of this.index.silentBefore(before, FORGOTTEN_AT_ONCE)) {
      const forgotten = await Promise.all(names.map((name) => this.forget(name)));
      count += forgotten.filter(Boolean).length;
    }
    return count;
  }

  /** Finishes pending reports and writes, and closes; `stopping` comes first. */
  async close(): Promise<void> {
    await this.#opening;
    await this.#log?.close();
    await this.#folding;
  }

  #append(text: string, durability: Durability, done: Appended): void {
    if (this.#log) return this.#log.append(text, durability, done);
    if (this.#parts.stopping.aborted)
      return done(new Unavailable("The service is stopping", 1), 0, 0, 0);
    this.#waiting.push({ text, durability, done });
    this.#opening ??= this.#openLog();
  }

  /** Opens the log for waiting callers. If that fails, they get the error, and the next caller retries. */
  async #openLog(): Promise<void> {
    const { files, layout, organization, now } = this.#parts;
    try {
      await makeDurableDirectory(files, layout.organization(organization).directory, layout.root);
      const last = (await this.#logFiles()).at(-1);
      const before = last === undefined ? this.#first - 1 : 0; // a new log counts from 1
      this.#log = await AppendLog.open(
        {
          files,
          now,
          pathOf: (sequence) => this.#pathOf(before + sequence),
          full: (size) => this.#isFull(size),
          rolled: (sequence) => this.#fold(before + sequence),
          torn: (tail) => tellTorn(this.#parts, tail),
          failed: (error) => {
            if (error) this.#warn("the fleet's log cannot be written", error);
          },
        },
        last,
      );
      this.#openFailure = undefined;
      for (const { text, durability, done } of this.#waiting.splice(0)) {
        this.#log.append(text, durability, done);
      }
    } catch (error) {
      this.#openFailure = error;
      for (const { done } of this.#waiting.splice(0)) done(error, 0, 0, 0);
    } finally {
      this.#opening = undefined;
    }
  }

  #isFull(size: number): boolean {
    const limit = Math.max(this.#parts.minLogBytes, this.#snapshotBytes);
    return size >= limit && this.#folding === undefined && !this.#parts.stopping.aborted;
  }

  /** Writes the snapshot that makes the log files before `sequence` superfluous. */
  #fold(sequence: number): void {
    this.#folding ??= this.#writeSnapshot(sequence)
      .catch((error: unknown) => {
        // Nothing is lost: the older files stay, and the next full file starts another attempt.
        if (!this.#parts.stopping.aborted) {
          this.#warn("the fleet's snapshot cannot be written", error);
        }
      })
      .finally(() => {
        this.#folding = undefined;
      });
  }

  async #writeSnapshot(sequence: number): Promise<void> {
    const { files, organization, stopping } = this.#parts;
    // All reports in the older files were answered, so they were in memory before this snapshot began.
    const path = this.#snapshotPath;
    this.#snapshotBytes = await writeFleetSnapshot(
      files,
      path,
      organization,
      sequence,
      this.index,
      stopping,
    );
    await this.#removeBefore(sequence);
  }

  async #replay(path: string): Promise<void> {
    const { files, organization, damage } = this.#parts;
    await cutTornEnd(files, path, (tail) => tellTorn(this.#parts, tail));
    const found = new DamageFound(path);
    await readLines(files, path, (line, offset) => {
      const seen = replayLine(this.index, organization, line);
      if (seen === undefined) found.add(line, offset);
      else this.#lastSeen = Math.max(this.#lastSeen, seen);
    });
    await damage.enter(found);
  }

  /** Keeps counting the damaged lines of logs that are now part of the snapshot: they stay lost. */
  async #recallFolded(logs: readonly string[]): Promise<void> {
    const { files, damage } = this.#parts;
    const directory = dirname(this.#snapshotPath);
    for (const name of await listDirectory(files, directory)) {
      const log = /^(fleet(?:-\d+)?\.jsonl)\.damaged$/.exec(name)?.[1];
      if (log === undefined || logs.includes(join(directory, log))) continue;
      await damage.recall(join(directory, log));
    }
  }

  #logFiles(): Promise<number[]> {
    return listNumbers(this.#parts.files, this.#pathOf(1));
  }

  async #removeBefore(sequence: number): Promise<void> {
    for (const file of await this.#logFiles()) {
      if (file < sequence) await this.#parts.files.remove(this.#pathOf(file));
    }
  }

  #warn(message: string, error: unknown): void {
    this.#parts.log.warn(message, { reason: describeError(error) });
  }

  #pathOf(file: number): string {
    const { organization, layout } = this.#parts;
    return numberedPath(layout.organization(organization).fleetLog, file);
  }
}

function tellTorn({ log }: FleetLogParts, tail: TornTail): void {
  log.warn("cut off half a fleet report", { ...tail });
}
