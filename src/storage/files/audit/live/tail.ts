/**
 * Gives one listener the events of an organization in the order of ingest. A tail remembers only the
 * last row that it has passed. It reads the rows after that one from the log until none is left. From
 * then on, within the same turn of the loop, it gets each event as it is stored. So there is no gap and
 * no duplicate between the two, and a paused listener costs no memory: it continues from its row.
 */
import type { AuditEvent } from "../../../../audit/schema.ts";
import type { AuditFilter, AuditTail, TailListener } from "../../../../audit/store.ts";
import { timeOf } from "../index/canonical-time.ts";

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
    this.caughtUp.catch(() => {}); // unhandled only if the caller never awaits it
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

/** Whether an event matches a filter: the rule in plain words, for events one by one. */
export function matchesEvent(event: AuditEvent, filter: AuditFilter): boolean {
  const is = (wanted: string | undefined, value: string | undefined): boolean =>
    wanted === undefined || value === wanted;
  if (
    !is(filter.decision, event.policy_decision) ||
    !is(filter.provider, event.provider) ||
    !is(filter.consumer, event.consumer) ||
    !is(filter.executor, event.executor) ||
    !is(filter.capability, event.capability) ||
    !is(filter.status, event.status) ||
    !is(filter.runtime, event.runtime_name) ||
    !is(filter.trace_id, event.trace_id) ||
    !is(filter.policy, event.policy) ||
    !is(filter.reported_by, event.reported_by)
  ) {
    return false;
  }
  const { q, from = -Infinity, to = Infinity } = filter;
  const time = timeOf(event.timestamp);
  return (
    time >= from && time < to && (q === undefined || q === "" || holds(event, q.toLowerCase()))
  );
}

function holds(event: AuditEvent, lower: string): boolean {
  const { command, executor, resource, provider, capability } = event;
  return [command, executor, resource, provider, capability].some((text) =>
    text?.toLowerCase().includes(lower),
  );
}
