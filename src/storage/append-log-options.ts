import type { Clock } from "../core/clock.ts";
import type { FileOperations } from "./file-operations.ts";
import type { TornTail } from "./log-file.ts";

/** When an append is acknowledged: after the sync that covers it, or after the write. */
export type Durability = "sync" | "write";

/** The parts of a log, and the callbacks for its events. */
export interface AppendLogOptions {
  readonly files: FileOperations;
  readonly now: Clock;
  /** The path of a file of this log by its number; numbers rise, and may leave gaps. */
  readonly pathOf: (sequence: number) => string;
  /**
   * Whether a file of this size is full. Called before each write; if it is full, the log rolls to a new
   * file.
   */
  readonly full?: (size: number) => boolean;
  /** Awaited before a full file is followed by a new one; appends wait as long. Not after a failure. */
  readonly mayRoll?: () => Promise<void>;
  /** Called after the log has rolled to a new file. */
  readonly rolled?: (sequence: number) => void;
  /** Called after a file was removed because it contained no acknowledged byte. */
  readonly removed?: (sequence: number) => void;
  /** Called when a torn tail was cut off at start. */
  readonly torn?: (tail: TornTail) => void;
  /** Called once when writing stops, and with `undefined` when it goes on in that file. */
  readonly failed?: (error: unknown, file: string) => void;
}
