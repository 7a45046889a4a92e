/**
 * One listener to events as they arrive. It remembers the last row that it was given or that did not
 * match, and nothing else: what is stored beyond that row is read from the log until nothing is left,
 * and from that moment on, within the same turn of the loop, each event is handed over as it is
 * stored. So there is neither a gap nor a duplicate between the two, and a listener that asks for a
 * pause costs no memory: it goes on from its row, by the log.
 */
import type { AuditEvent } from "../../../../audit/schema.ts";
import type { AuditFilter, AuditTail, TailListener } from "../../../../audit/store.ts";
import { matchesEvent } from "./event-match.ts";

const READ_ROWS = 256;
/** An event may be some MiB long, and many tails may read at once. */
const READ_BYTES = 64 << 10;

/** What a tail reads from. */
export interface TailSource {
  readonly lastRow: number;
  /** The next rows after a row, at least one if there is one, and at most so many or so long. */
  rowsAfter(row: number, count: number, bytes: number): readonly number[];
  /** Their lines, which are read only when asked for. */
  readRows(rows: readonly number[]): Promise<readonly Buffer[]>;
  /** Forgets a tail that was closed. */
  detach(tail: Tail): void;
}

/** Gives one listener what is stored, in the order of ingest. */
export class Tail implements AuditTail {
  readonly caughtUp: Promise<void>;
  readonly #filter: AuditFilter;
  readonly #takesAll: boolean;
  readonly #listener: TailListener;
  #resolve = (): void => {};
  #reject: (error: unknown) => void = () => {};
  #source: TailSource | undefined;
  #at: number | undefined;
  #state: "replaying" | "live" | "paused" | "closed" = "replaying";
  #wasResumed = false;

  constructor(filter: AuditFilter, after: number | undefined, listener: TailListener) {
    this.#filter = filter;
    this.#takesAll = Object.values(filter).every((wanted) => wanted === undefined);
    this.#at = after;
    this.#listener = listener;
    this.caughtUp = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.caughtUp.catch(() => {}); // whoever wants to know waits for it
  }

  /** Begins to read; a tail that was closed meanwhile does not. */
  attach(source: TailSource): boolean {
    if (this.#state === "closed") return false;
    this.#source = source;
    const last = source.lastRow;
    this.#at = Math.min(this.#at ?? last, last);
    if (this.#at === last) this.#goLive();
    else this.#replay();
    return true;
  }

  /** Ends a tail that cannot be read. */
  fail(error: unknown): void {
    this.#reject(error);
    this.close();
  }

  /** Hears of each event when it is stored, and of its line. */
  offer(row: number, event: AuditEvent, line: Buffer): void {
    if (this.#state !== "live" || row <= (this.#at as number)) return;
    this.#at = row;
    if (matchesEvent(event, this.#filter)) this.#give(row, line);
  }

  resume(): void {
    this.#wasResumed = true;
    if (this.#state !== "paused") return;
    this.#state = "replaying";
    this.#replay();
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#source?.detach(this);
    this.#resolve();
  }

  #give(row: number, json: Buffer): void {
    this.#wasResumed = false;
    const wantsPause = this.#listener(row, json) === false && !this.#wasResumed;
    if (wantsPause && this.#state !== "closed") this.#state = "paused";
  }

  #matches(line: Buffer): boolean {
    return matchesEvent(JSON.parse(line.toString("utf8")) as AuditEvent, this.#filter);
  }

  #goLive(): void {
    this.#state = "live";
    this.#resolve();
  }

  #replay(): void {
    this.#readOn().catch((error: unknown) => this.fail(error));
  }

  async #readOn(): Promise<void> {
    const source = this.#source as TailSource;
    while (this.#state === "replaying") {
      const rows = source.rowsAfter(this.#at as number, READ_ROWS, READ_BYTES);
      if (rows.length === 0) return this.#goLive();
      const lines = await source.readRows(rows);
      for (let i = 0; i < rows.length && this.#state === "replaying"; i++) {
        const line = lines[i] as Buffer;
        this.#at = rows[i] as number;
        if (this.#takesAll || this.#matches(line)) this.#give(this.#at, line);
      }
    }
  }
}
