import type { DamagedLines } from "./segment-set.ts";

/** What an audit store has done since it was opened, over all organizations. */
export class AuditCounts {
  stored = 0;
  /** Events that had been stored before, and were answered with what was stored. */
  repeated = 0;
  failed = 0;
  /** Events that are being stored now. */
  pending = 0;
  readonly #damaged = new Map<string, number>();

  /** Events go to the log. */
  began(events: number): void {
    this.pending += events;
  }

  /** They were answered, with the error if there was one. */
  ended(events: number, error: unknown): void {
    this.pending -= events;
    if (error === null) this.stored += events;
    else this.failed += events;
  }

  /** Lines could not be read back; a file that is read again is not counted again. */
  damaged({ file, lines }: DamagedLines): void {
    this.#damaged.set(file, Math.max(lines, this.#damaged.get(file) ?? 0));
  }

  /** Lines that could not be read back, of all files that were read. */
  get damagedLines(): number {
    return [...this.#damaged.values()].reduce((sum, lines) => sum + lines, 0);
  }
}
