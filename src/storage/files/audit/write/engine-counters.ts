/** What an audit store has done since it was opened, over all organizations. */
export class EngineCounters {
  stored = 0;
  /** Events that had been stored before, and were answered with what was stored. */
  repeated = 0;
  failed = 0;
  /** Events that are being stored now. */
  pending = 0;

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
}
