/**
 * One organization's activity log: JSON lines in numbered files of about a mebibyte. The last file takes the
 * entries, the others never change. Retention removes whole files, oldest first, so a crash during it leaves a
 * log without gaps.
 */
import { basename, dirname } from "node:path";
import type { ActivityEntry } from "../../activity/schema.ts";
import type { ActivityRows } from "../../activity/store.ts";
import { describeError } from "../../core/log.ts";
import { AppendLog } from "../append-log.ts";
import { makeDurableDirectory } from "../directories.ts";
import { cutTornEnd, type TornTail } from "../log-file.ts";
import { ENDS } from "../log-lines.ts";
import { Queue } from "../../core/scheduling/queue.ts";
import { ReadFiles } from "../read-files.ts";
import { portionsOf, SegmentReader, type Slice } from "../segment-reader.ts";
import { syncDirectory } from "../snapshot.ts";
import {
  activityPath,
  type ActivityLogParts,
  listActivityFiles,
  readEntries,
  type TakeEntry,
} from "./activity-files.ts";
import { Leases, type AnswerInPieces } from "./audit/leases.ts";

/** Longer pages are read in pieces of this size. */
const PIECE_BYTES = 64 << 10;
const COMMA = Buffer.from(",");

/** The facts about a file that retention needs. */
interface FileFacts {
  readonly entries: number;
  /** The newest entry's timestamp; empty when the file has none. */
  readonly newest: string;
}

/** Writes, reads and shortens an organization's activity log. */
export class ActivityLog {
  readonly #parts: ActivityLogParts;
  readonly #log: AppendLog;
  /** The acknowledged bytes of each file, by the file's number, oldest first. */
  readonly #ends: Map<number, number>;
  readonly #reader: SegmentReader;
  readonly #leases = new Leases();
  /** The facts about the files that take no more entries. */
  readonly #facts = new Map<number, FileFacts>();
  readonly #removals = new Queue();

  private constructor(parts: ActivityLogParts, log: AppendLog, ends: Map<number, number>) {
    this.#parts = parts;
    this.#log = log;
    this.#ends = ends;
    this.#reader = new SegmentReader(new ReadFiles(parts.files), (file) =>
      activityPath(parts, file),
    );
  }

  /**
   * Cuts off a torn tail of an organization's log, which must not be open for writing.
   *
   * @returns the bytes to check for damage; `undefined` if there is no log
   */
  static async repair(parts: ActivityLogParts): Promise<number | undefined> {
    const paths = (await listActivityFiles(parts)).map((file) => activityPath(parts, file));
    let bytes: number | undefined;
    for (const path of paths) {
      await cutTornEnd(parts.files, path, (tail) => tellTorn(parts, tail));
      bytes = (bytes ?? 0) + (await parts.files.stat(path)).size;
    }
    return bytes;
  }

  /** Opens an organization's log, or creates it; a torn tail is cut off. */
  static async open(parts: ActivityLogParts): Promise<ActivityLog> {
    const { files, layout, organization, now, log, fileBytes } = parts;
    await makeDurableDirectory(files, layout.organization(organization).directory, layout.root);
    const found = await listActivityFiles(parts);
    const ends = new Map<number, number>();
    let opened: ActivityLog | undefined;
    const appendLog = await AppendLog.open(
      {
        files,
        now,
        pathOf: (file) => activityPath(parts, file),
        full: (size) => size >= fileBytes,
        rolled(file) {
          ends.set(file, 0);
          opened?.retain().catch((error: unknown) => tellKept(parts, error));
        },
        removed: (file) => ends.delete(file),
        torn: (tail) => tellTorn(parts, tail),
        failed: (error, file) => {
          if (error === undefined) log.info("the activity log is written again", { file });
          else log.error("the activity log is not written", { file, error: describeError(error) });
        },
      },
      found.at(-1),
    );
    if (found.length === 0) ends.set(appendLog.sequence, 0);
    for (const file of found) ends.set(file, (await files.stat(activityPath(parts, file))).size);
    return (opened = new ActivityLog(parts, appendLog, ends));
  }

  /** The error that stopped writing, or of the last failed write; `undefined` while writing works. */
  get failure(): unknown {
    return this.#log.failure;
  }

  /** The active file, and its acknowledged bytes. */
  get committed(): readonly [path: string, bytes: number] {
    return this.#log.committed;
  }

  /** Retries writing after a failure. */
  recover(): void {
    this.#log.recover();
  }

  /** Adds a line; it is on disk when this resolves. */
  append(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#log.append(line + ENDS, "sync", (error, file, offset, length) => {
        if (error) return reject(error as Error);
        this.#ends.set(file, offset + length);
        resolve();
      });
    });
  }

  /** The newest matching entries, without the first `offset`, and the number of all matches. */
  async newest(
    matches: (entry: ActivityEntry) => boolean,
    limit: number,
    offset: number,
    signal?: AbortSignal,
  ): Promise<ActivityRows> {
    const wanted = limit + offset;
    const last: Slice[] = []; // of the matching entries, oldest first
    let total = 0;
    return this.#leases.search(async (answer) => {
      for (const [segment, end] of [...this.#ends]) {
        const take: TakeEntry = (entry, at, length) => {
          if (!matches(entry)) return;
          total++;
          last.push({ segment, offset: at, length });
          if (last.length >= 2 * wanted) last.splice(0, last.length - wanted);
        };
        await readEntries(this.#parts, segment, end, take, signal);
      }
      const rows = last.slice(Math.max(0, last.length - wanted), Math.max(0, last.length - offset));
      const json = await this.#jsonOf(rows.reverse(), answer);
      return { json, returned: rows.length, total };
    });
  }

  async #jsonOf(rows: readonly Slice[], answer: AnswerInPieces): Promise<ActivityRows["json"]> {
    const isLong = rows.reduce((sum, { length }) => sum + length, 0) > PIECE_BYTES;
    if (isLong) return answer((lost) => piecesOf(this.#reader, rows, lost));
    return joined(await this.#reader.read(rows));
  }

  /**
   * Removes the oldest files: those whose entries are all older than a timestamp, and those beyond the
   * allowed bytes. The active file stays, and so do the newest 10,000 entries. Files that a page still reads are removed
   * later; a page that keeps too much, or for too long, is cut.
   */
  retain(olderThan = ""): Promise<void> {
    const { now, maxBytes } = this.#parts;
    this.#leases.cut(now(), maxBytes);
    return this.#removals.run(async () => this.#remove(await this.#expired(olderThan)));
  }

  /** Finishes the pending writes, and closes. */
  async close(): Promise<void> {
    await this.#log.close();
    await this.#removals.idle();
    await this.#leases.removed();
    await this.#reader.close();
  }

  async #expired(olderThan: string): Promise<readonly number[]> {
    const { maxBytes, keptEntries } = this.#parts;
    let excess = -maxBytes;
    for (const end of this.#ends.values()) excess += end;
    if (excess <= 0 && olderThan === "") return [];
    const files = [...this.#ends.keys()];
    for (let kept = 0; kept < keptEntries && files.length > 0;) {
      kept += (await this.#factsOf(files.pop() as number)).entries;
    }
    const expired: number[] = [];
    for (const file of files) {
      const isOld = (await this.#factsOf(file)).newest < olderThan;
      if (!isOld && excess <= 0) break;
      excess -= this.#ends.get(file) ?? 0;
      expired.push(file);
    }
    return expired;
  }

  async #factsOf(file: number): Promise<FileFacts> {
    const known = this.#facts.get(file);
    if (known !== undefined) return known;
    const isSealed = file !== this.#log.sequence;
    let [entries, newest] = [0, ""];
    await readEntries(this.#parts, file, this.#ends.get(file) ?? 0, ({ timestamp }) => {
      entries++;
      if (timestamp > newest) newest = timestamp;
    });
    const facts = { entries, newest };
    if (isSealed) this.#facts.set(file, facts);
    return facts;
  }

  async #remove(expired: readonly number[]): Promise<void> {
    if (expired.length === 0) return;
    let [entries, bytes] = [0, 0];
    for (const file of expired) {
      entries += this.#facts.get(file)?.entries ?? 0;
      bytes += this.#ends.get(file) ?? 0;
      this.#ends.delete(file); // later queries do not read it
      this.#facts.delete(file);
    }
    this.#leases.keep(bytes, this.#parts.now());
    await this.#leases.remove(
      () => this.#unlink(expired, { entries, bytes }),
      (error) => tellKept(this.#parts, error),
    );
  }

  async #unlink(
    expired: readonly number[],
    removed: { readonly entries: number; readonly bytes: number },
  ): Promise<void> {
    const { files, layout, organization, log, damage } = this.#parts;
    const names = expired.map((file) => basename(activityPath(this.#parts, file)));
    const free = (await this.#parts.removing?.(organization, names)) ?? names;
    for (const file of expired) {
      const path = activityPath(this.#parts, file);
      if (!free.includes(basename(path))) continue; // it is listed and removed after the next start
      await this.#reader.forget(file);
      await files.remove(path);
      await damage.remove(path);
    }
    await syncDirectory(files, dirname(layout.organization(organization).activityLog));
    log.info("removed old activity entries", { organization, ...removed });
  }
}

async function* piecesOf(
  reader: SegmentReader,
  rows: readonly Slice[],
  lost: AbortSignal,
): AsyncGenerator<Buffer> {
  let isFirst = true;
  for (const portion of portionsOf(rows, PIECE_BYTES)) {
    lost.throwIfAborted();
    if (!isFirst) yield COMMA;
    isFirst = false;
    yield joined(await reader.read(portion));
  }
}

function joined(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line, i) => (i === 0 ? [line] : [COMMA, line])));
}

function tellTorn({ log }: ActivityLogParts, tail: TornTail): void {
  log.warn("cut off half an activity entry", { ...tail });
}

function tellKept({ organization, log }: ActivityLogParts, error: unknown): void {
  const fields = { organization, error: describeError(error) };
  log.error("old activity entries could not be removed", fields);
}
