import type { AuditEvent } from "../../../../audit/schema.ts";
import { globalRow, type LocalRow, type SegmentIndex } from "../index/segment-index.ts";
import { firstLine } from "../write/lines.ts";
import type { Tail } from "./tail.ts";

/** The active tails; each gets every event as it is stored. */
export class FanOut {
  readonly #tails = new Set<Tail>();

  get isEmpty(): boolean {
    return this.#tails.size === 0;
  }

  attach(tail: Tail): void {
    this.#tails.add(tail);
  }

  detach(tail: Tail): void {
    this.#tails.delete(tail);
  }

  /** Passes every tail the events of a segment from a row on. Their lines are in `bytes`. */
  offer(bytes: Buffer, index: SegmentIndex, first: number, offset: number): void {
    if (this.isEmpty) return;
    for (let row = first; row < index.rows; row++) {
      const start = (index.offsets[row] as number) - offset;
      const end = (index.offsets[row + 1] as number) - offset;
      const line = Buffer.from(firstLine(bytes.subarray(start, end))); // tails keep it for a while
      const event = JSON.parse(line.toString("utf8")) as AuditEvent;
      for (const tail of this.#tails)
        tail.offer(globalRow(index.segment, row as LocalRow), event, line);
    }
  }

  /** Ends every tail. */
  close(): void {
    for (const tail of this.#tails) tail.close();
  }
}
