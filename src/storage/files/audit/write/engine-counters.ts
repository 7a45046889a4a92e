/** The counters of an audit store since it was opened, over all organizations. */
export class EngineCounters {
  stored = 0;
  /** Events that had been stored before, and were answered with the stored ones. */
  repeated = 0;
  failed = 0;
  /** Events that are being stored now. */
  pending = 0;

  /** Counts events that are about to be appended. */
  began(events: number): void {
    this.pending += events;
  }

  /** Counts events that were answered; `error` is the reason of a failure. */
  ended(events: number, error: unknown): void {
    this.pending -= events;
    if (error === null) this.stored += events;
    else this.failed += events;
  }
}
