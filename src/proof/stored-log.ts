/** A log as a check sees it, whatever it is stored in. */
import type { Checkpoint } from "./checkpoint.ts";
import { HASH_BYTES } from "./merkle.ts";
import { TILE_WIDTH } from "./tiles.ts";

/** A checkpoint whose signature was verified, with the name of its place for messages. */
export interface KnownCheckpoint extends Pick<Checkpoint, "size" | "root"> {
  readonly name: string;
}

/** Receives a line of a log, its file, and its number in the file, from 1. */
export type TakeLogLine = (line: Buffer, file: string, number: number) => void;

/** A stored log and its tiles. */
export interface StoredLog {
  /** The index of the first line. The events before it were removed by retention; their tiles are kept. */
  readonly first: number;
  /** The word for a line in findings. */
  readonly unit: "line" | "row";
  /** The place of findings that belong to no file of lines. */
  readonly directory: string;
  /** Reads every line, in order. The bytes are valid only during the call. */
  readLines(take: TakeLogLine): Promise<void>;
  /** Reads the hashes of a tile, full or not; `undefined` if it is not stored. */
  readTile(level: number, index: number): Promise<Buffer | undefined>;
  /** The file of a tile. */
  tileFile(level: number, index: number): string;
}

/** A fault of a log, by its file. */
export interface LogFault {
  readonly file: string;
  readonly problem: string;
}

/** The files and line numbers of a log's lines, kept as runs of consecutive numbers. */
export class Places {
  readonly #runs: { readonly file: string; readonly number: number; readonly line: number }[] = [];
  #lines = 0;
  #next = 0;

  /** The number of lines. */
  get lines(): number {
    return this.#lines;
  }

  add(file: string, number: number): void {
    if (this.#runs.at(-1)?.file !== file || number !== this.#next) {
      this.#runs.push({ file, number, line: this.#lines });
    }
    this.#lines++;
    this.#next = number + 1;
  }

  /** The place of a line, counted from 0. */
  at(line: number): { readonly file: string; readonly number: number } | undefined {
    const run = this.#runs.findLast((one) => one.line <= line);
    if (run === undefined || line < 0 || line >= this.#lines) return undefined;
    return { file: run.file, number: run.number + line - run.line };
  }
}

/** The leaves that tiles record from an index on, tile by tile, up to the first that is missing or not full. */
export async function* recordedLeaves(log: StoredLog, from: number): AsyncGenerator<Buffer> {
  let skipped = (from % TILE_WIDTH) * HASH_BYTES;
  for (let index = Math.floor(from / TILE_WIDTH); ; index++) {
    const tile = await log.readTile(0, index);
    if (tile === undefined) return;
    yield tile.subarray(skipped);
    if (tile.length < TILE_WIDTH * HASH_BYTES) return;
    skipped = 0;
  }
}
