import type { Durability } from "./append-log-options.ts";
import { LogBlock, type Appended } from "./log-block.ts";

/** The text of a log that is not written yet, by its requested durability. */
export class PendingBlocks {
  readonly sync: LogBlock[] = [];
  readonly write: LogBlock[] = [];

  get isEmpty(): boolean {
    return this.sync.length === 0 && this.write.length === 0;
  }

  /** Adds text to the last block of its durability, or begins a block; bytes get their own block. */
  add(text: string | Buffer, durability: Durability, done: Appended): void {
    let block = this[durability].at(-1);
    if (block === undefined || typeof text !== "string" || !block.takesMore) {
      block = new LogBlock();
      this[durability].push(block);
    }
    block.add(text, done);
  }
}
