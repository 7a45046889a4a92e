import { basename, dirname, join } from "node:path";
import { activityEntry, type ActivityEntry } from "../../activity/schema.ts";
import type { ActivityRows } from "../../activity/store.ts";
import type { Clock } from "../../core/clock.ts";
import { describeError, type Log } from "../../core/log.ts";
import { validate } from "../../core/validate.ts";
import { AppendLog } from "../append-log.ts";
import { DamageFound, type DamageRegister } from "../damage.ts";
import { listDirectory, makeDurableDirectory } from "../directories.ts";
import type { FileOperations } from "../file-operations.ts";
import type { Layout } from "../layout.ts";
import { cutTornEnd, type TornTail } from "../log-file.ts";
import { ENDS, readLines } from "../log-lines.ts";
import { ReadFiles } from "../read-files.ts";
import { SegmentReader, type Slice } from "../segment-reader.ts";

/** What the record of changes of one organization is made of. */
export interface ActivityLogParts {
  readonly organization: string;
  readonly files: FileOperations;
  readonly layout: Layout;
  readonly now: Clock;
  readonly log: Log;
  /** Where damaged lines are entered. */
  readonly damage: DamageRegister;
}

/** One organization's record of changes: a file, and after a failed write another one. */
export class ActivityLog {
  readonly #parts: ActivityLogParts;
  readonly #log: AppendLog;
  /** Where the acknowledged part of each file ends, by the file's number, oldest first. */
  readonly #ends: Map<number, number>;
  readonly #reader: SegmentReader;

  private constructor(parts: ActivityLogParts, log: AppendLog, ends: Map<number, number>) {
    this.#parts = parts;
    this.#log = log;
    this.#ends = ends;
    this.#reader = new SegmentReader(new ReadFiles(parts.files), (file) => pathOf(parts, file));
  }

  /** Whether an organization has one. */
  static async exists(parts: ActivityLogParts): Promise<boolean> {
    return (await listFiles(parts)).length > 0;
  }

  /**
   * Cuts off what is half written at the end of an organization's record, while nobody writes it.
   *
   * @returns how many bytes there are to be looked through; `undefined` when there is no record
   */
  static async repair(parts: ActivityLogParts): Promise<number | undefined> {
    const paths = (await listFiles(parts)).map((file) => pathOf(parts, file));
    let bytes: number | undefined;
    for (const path of paths) {
      await cutTornEnd(parts.files, path, (tail) => tellTorn(parts, tail));
      bytes = (bytes ?? 0) + (await parts.files.stat(path)).size;
    }
    return bytes;
  }

  /** Opens an organization's record, which is begun if there is none; a torn end is cut off. */
  static async open(parts: ActivityLogParts): Promise<ActivityLog> {
    const { files, layout, organization, now, log } = parts;
    await makeDurableDirectory(files, layout.organization(organization).directory, layout.root);
    const found = await listFiles(parts);
    const ends = new Map<number, number>();
    const appendLog = await AppendLog.open(
      {
        files,
        now,
        pathOf: (file) => pathOf(parts, file),
        began: (file) => ends.set(file, 0),
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
    for (const file of found) ends.set(file, (await files.stat(pathOf(parts, file))).size);
    return new ActivityLog(parts, appendLog, ends);
  }

  /** Why writing is stopped, or why the last write failed; `undefined` while neither is so. */
  get failure(): unknown {
    return this.#log.failure;
  }

  /** The file that takes the writes, and how much of it is acknowledged. */
  get committed(): readonly [path: string, bytes: number] {
    return this.#log.committed;
  }

  /** Tries to write again after a failure. */
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

  /** The newest entries that match, but for the first `offset`, and how many match over all. */
  async newest(
    matches: (entry: ActivityEntry) => boolean,
    limit: number,
    offset: number,
  ): Promise<ActivityRows> {
    const wanted = limit + offset;
    const last: Slice[] = []; // of the matching entries, oldest first
    let total = 0;
    for (const [segment, end] of [...this.#ends]) {
      await readLines(this.#parts.files, pathOf(this.#parts, segment), (line, at) => {
        if (at >= end) return false; // is being written, and may yet be taken back
        const entry = parse(line, this.#parts.organization);
        if (!entry || !matches(entry)) return undefined;
        total++;
        last.push({ segment, offset: at, length: line.length });
        if (last.length >= 2 * wanted) last.splice(0, last.length - wanted);
        return undefined;
      });
    }
    const rows = last.slice(Math.max(0, last.length - wanted), Math.max(0, last.length - offset));
    const lines = await this.#reader.read(rows.reverse());
    return { entries: lines.map((line) => JSON.parse(line.toString("utf8"))), total };
  }

  /** Writes what was given, and closes. */
  async close(): Promise<void> {
    await this.#log.close();
    await this.#reader.close();
  }
}

/**
 * Looks an organization's record through for damaged lines, which are entered. What is being written
 * meanwhile is not looked at.
 */
export async function checkActivity(parts: ActivityLogParts): Promise<void> {
  const { files, organization, damage } = parts;
  for (const file of await listFiles(parts)) {
    const path = pathOf(parts, file);
    const { size } = await files.stat(path);
    const found = new DamageFound(path);
    await readLines(files, path, (line, offset) => {
      if (offset + line.length >= size) return false;
      if (!parse(line, organization)) found.add(line, offset);
      return undefined;
    });
    await damage.enter(found);
  }
}

function tellTorn({ log }: ActivityLogParts, tail: TornTail): void {
  log.warn("cut off half an activity entry", { ...tail });
}

function parse(line: Buffer, organization: string): ActivityEntry | undefined {
  try {
    const entry = validate(activityEntry, JSON.parse(line.toString("utf8")));
    return entry.organization_id === organization ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** `activity.jsonl`, and after it `activity-2.jsonl`, `activity-3.jsonl` and so on. */
function pathOf({ layout, organization }: ActivityLogParts, file: number): string {
  const { activityLog } = layout.organization(organization);
  if (file === 1) return activityLog;
  return join(dirname(activityLog), basename(activityLog, ".jsonl") + `-${file}.jsonl`);
}

async function listFiles({ files, layout, organization }: ActivityLogParts): Promise<number[]> {
  const { directory } = layout.organization(organization);
  const names = await listDirectory(files, directory);
  return names
    .flatMap((name) => {
      const match = /^activity(?:-([1-9]\d*))?\.jsonl$/.exec(name);
      return match ? [Number(match[1] ?? 1)] : [];
    })
    .sort((a, b) => a - b);
}
