/**
 * A log in numbered files, the segments: `000000000001.jsonl` and so on, in their own directory. The last one, the
 * active segment, takes the writes until it is full or a day old; then the log rolls to a new segment. The others
 * never change. If the active segment is large, closing the log rolls it as well, so that the segment's index can be
 * stored and the next start has little to read. Other files in the directory, such as the index of a segment, are
 * not touched.
 */
import { join } from "node:path";
import type { Awaitable } from "../core/caller.ts";
import { DAY_MS, type Clock } from "../core/clock.ts";
import type { Durability } from "./append-log-options.ts";
import { AppendLog } from "./append-log.ts";
import { listDirectory, makeDurableDirectory } from "./directories.ts";
import type { FileOperations } from "./file-operations.ts";
import type { Appended } from "./log-block.ts";
import { LogFile, type TornTail } from "./log-file.ts";
import { ENDS, readLines, readManyLines, type TakeLines } from "./log-lines.ts";
import type { ReadFiles } from "./read-files.ts";
import { SegmentReader, type Slice } from "./segment-reader.ts";
import { syncDirectory } from "./snapshot.ts";

/** The share of the full size from which a segment is large when the log is closed. */
const MUCH = 1 / 8;
/** The bytes of one read for the time of a segment's first line. */
const FIRST_BYTES = 16 << 10;
const SEGMENT_NAME = /^(\d{12})\.jsonl$/;

export interface SegmentedLogOptions {
  readonly files: FileOperations;
  readonly reads: ReadFiles;
  readonly now: Clock;
  readonly directory: string;
  /** The data directory; the directory of the segments is inside. */
  readonly root: string;
  /** The size at which a segment takes no further writes. */
  readonly segmentBytes: number;
  /** Whether the last segment takes no further writes for another reason. */
  readonly isFull?: () => boolean;
  /** The time at which a line was written, in milliseconds, so that a segment's age survives a restart. */
  readonly timeOf: (line: Buffer) => number | undefined;
  /** Awaited before the log rolls to a new segment; appends wait as long. */
  readonly mayRoll?: () => Promise<void>;
  /** Called when the log has rolled to a new segment; all appends to earlier ones were answered. */
  readonly rolled?: (segment: number) => void;
  /** Called after a segment was removed because it contained no acknowledged byte. */
  readonly removed?: (segment: number) => void;
  /** Called when a torn tail was cut off at start. */
  readonly torn: (tail: TornTail) => void;
  /** Called once when writing stops, and with `undefined` when it goes on in that file. */
  readonly failed: (error: unknown, file: string) => void;
}

/** Appends to the last segment, and reads from all of them. */
export class SegmentedLog {
  readonly #options: SegmentedLogOptions;
  readonly #log: AppendLog;
  readonly #reader: SegmentReader;
  readonly #segments: number[];

  private constructor(options: SegmentedLogOptions, log: AppendLog, segments: number[]) {
    this.#options = options;
    this.#log = log;
    this.#segments = segments;
    this.#reader = new SegmentReader(options.reads, (segment) => this.path(segment));
  }

  /** Opens a directory, or creates it; the torn tail of the last segment is cut off. */
  static async open(options: SegmentedLogOptions): Promise<SegmentedLog> {
    const { files, now, directory, segmentBytes, torn, failed } = options;
    await makeDurableDirectory(files, directory, options.root);
    const segments = await listSegments(files, directory);
    const last = segments.at(-1);
    let beganAt = now();
    const log = await AppendLog.open(
      {
        files,
        now,
        pathOf: (segment) => segmentPath(directory, segment),
        full: (size) =>
          size >= segmentBytes ||
          (size > 0 && (now() - beganAt >= DAY_MS || options.isFull?.() === true)),
        mayRoll: async () => options.mayRoll?.(),
        rolled: (segment) => {
          beganAt = now();
          segments.push(segment);
          options.rolled?.(segment);
        },
        removed: (segment) => {
          const index = segments.indexOf(segment);
          if (index !== -1) segments.splice(index, 1);
          options.removed?.(segment);
        },
        torn,
        failed,
      },
      last,
    );
    if (last === undefined) segments.push(log.sequence);
    else beganAt = (await timeOfFirst(options, last)) ?? beganAt;
    return new SegmentedLog(options, log, segments);
  }

  /** The numbers of the segments, oldest first; the last one takes the writes. */
  get segments(): readonly number[] {
    return this.#segments;
  }

  /** The error that stopped writing, or of the last failed write; `undefined` while writing works. */
  get failure(): unknown {
    return this.#log.failure;
  }

  /** The length of the appends that are not answered yet, in UTF-16 units. */
  get held(): number {
    return this.#log.held;
  }

  /** The active file, and its acknowledged bytes. */
  get committed(): readonly [path: string, bytes: number] {
    return this.#log.committed;
  }

  /** Retries writing after a failure. */
  recover(): void {
    this.#log.recover();
  }

  /** The file of a segment. */
  path(segment: number): string {
    return segmentPath(this.#options.directory, segment);
  }

  /** Appends text that ends in a newline; calls `done` later with the segment and the offset. */
  append(text: string | Buffer, durability: Durability, done: Appended): void {
    this.#log.append(text, durability, done);
  }

  /** Begins a new segment, which `isFull` must demand, without waiting for an append: with an empty line. */
  roll(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#log.append(ENDS, "sync", (error) => (error ? reject(error as Error) : resolve()));
    });
  }

  readManyLines(segment: number, take: TakeLines): Promise<void> {
    return readManyLines(this.#options.files, this.path(segment), take);
  }

  /** Reads acknowledged slices, in the given order; see `SegmentReader.read`. */
  read(slices: readonly Slice[], room?: Buffer): Awaitable<Buffer[]> {
    return this.#reader.read(slices, room);
  }

  /** Removes a segment, which must not be the active one. */
  async remove(segment: number): Promise<void> {
    const index = this.#segments.indexOf(segment);
    if (index === -1 || segment === this.#log.sequence) throw new Error("Not a sealed segment");
    await this.#reader.forget(segment);
    await this.#options.files.remove(this.path(segment));
    await syncDirectory(this.#options.files, this.#options.directory);
    this.#segments.splice(this.#segments.indexOf(segment), 1); // not before, so that it can be repeated
  }

  /** Writes and syncs the pending appends, answers them, and closes. Later appends are refused. */
  async close(): Promise<void> {
    await this.#log.close();
    const [, bytes] = this.committed;
    if (this.failure === undefined && bytes >= this.#options.segmentBytes * MUCH) {
      await this.#rollAtClose().catch(() => {}); // it stays active after the next start
    }
    await this.#reader.close();
  }

  /** Creates the segment that is active after the next start. */
  async #rollAtClose(): Promise<void> {
    const segment = this.#log.sequence + 1;
    const file = await LogFile.create(this.#options.files, this.path(segment), segment);
    await file.close();
    this.#segments.push(segment);
    this.#options.rolled?.(segment);
  }
}

/** The file of a segment. */
export function segmentPath(directory: string, segment: number): string {
  return join(directory, `${String(segment).padStart(12, "0")}.jsonl`);
}

/** The segments in a directory. */
export async function listSegments(files: FileOperations, directory: string): Promise<number[]> {
  const names = await listDirectory(files, directory);
  return names.flatMap((name) => {
    const digits = SEGMENT_NAME.exec(name)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
}

/** The time of the first line of a segment that has one, in milliseconds. */
export async function timeOfFirst(
  { files, directory, timeOf }: Pick<SegmentedLogOptions, "files" | "directory" | "timeOf">,
  segment: number,
): Promise<number | undefined> {
  let time: number | undefined;
  const take = (line: Buffer): false | void => {
    time = timeOf(line);
    if (time !== undefined) return false;
  };
  await readLines(files, segmentPath(directory, segment), take, { bytes: FIRST_BYTES });
  return time;
}
