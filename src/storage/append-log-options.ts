import type { Clock } from "../core/clock.ts";
import type { FileOperations } from "./file-operations.ts";
import type { TornTail } from "./log-file.ts";

/** When an append is acknowledged: after the sync that covers it, or after the write. */
export type Durability = "sync" | "write";

/** What a log is made of, and who hears of what happens to it. */
export interface AppendLogOptions {
  readonly files: FileOperations;
  readonly now: Clock;
  /** The path of a file of this log by its number; numbers rise, and may leave gaps. */
  readonly pathOf: (sequence: number) => string;
  /** Whether a file of that size is full, asked before each write; if so a new one is begun. */
  readonly full?: (size: number) => boolean;
  /** Hears that a new file takes the writes from now on. */
  readonly began?: (sequence: number) => void;
  /**
   * Hears, right before the answers, of text that is as safe as was asked for; appends of the same
   * durability come in the order of the file. These bytes stand in the file with that number, from byte `offset` on.
   */
  readonly acknowledged?: (bytes: Buffer, sequence: number, offset: number) => void;
  /** Hears that a file was removed, since nothing in it was ever acknowledged. */
  readonly removed?: (sequence: number) => void;
  /** Hears of half an append that was cut off at start. */
  readonly torn?: (tail: TornTail) => void;
  /** Hears, once, that writing stopped; the error is `undefined` when it goes on in that file. */
  readonly failed?: (error: unknown, file: string) => void;
}
