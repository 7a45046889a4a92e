/**
 * Live events as Server-Sent Events (HTML Standard §9.2). Each event carries its position as `id`,
 * and so does the very first block, which has no event: a client that is cut before anything came
 * still knows where to go on. A reader is written to until 64 KiB wait for it; then its events are
 * left in the store until all that has gone out, so a burst costs memory that is bounded, and a
 * reader that is merely slow loses nothing. One that has not caught up at the second tick is closed.
 */
import type { Writable } from "node:stream";
import type { Awaitable } from "../core/caller.ts";
import { HOUR_MS, SECOND_MS } from "../core/clock.ts";
import { TooMany, Unavailable } from "../core/errors.ts";
import { FairShare, type Party } from "../core/fair-share.ts";
import { clearInterval, setInterval } from "../core/timers.ts";
import { streamPosition } from "./cursor.ts";
import type { AuditFilter, AuditStore, AuditTail } from "./store.ts";

/** The media type of a stream. */
export const STREAM_TYPE = "text/event-stream";

export const MAX_WAITING_BYTES = 64 << 10;
const RETRY_MS = 3 * SECOND_MS;
const RETRY_SECONDS = 5;

export interface StreamLimits {
  /** How many streams an organization can have open under one prefix. */
  readonly perOrganization: number;
  /** How often a comment is sent, which keeps proxies and our own time limits from closing. */
  readonly keepAliveMs: number;
  /** When a stream is ended, so that the client comes back and its credentials are checked again. */
  readonly lifetimeMs: number;
}

export const STREAM_LIMITS: StreamLimits = {
  perOrganization: 100,
  keepAliveMs: 15 * SECOND_MS,
  lifetimeMs: HOUR_MS,
};

/** Every stream that is open, so that they can be counted, and ended when the service stops. */
export class AuditStreams {
  readonly #limits: StreamLimits;
  readonly #shares = new FairShare<AbortController>();
  readonly #open = new Set<AbortController>();
  readonly #blocks = new Blocks();
  #closed = false;

  constructor(limits: Partial<StreamLimits> = {}) {
    this.#limits = { ...STREAM_LIMITS, ...limits };
  }

  /** How many there are. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Makes sure that a caller may open one more.
   *
   * @throws TooMany when its organization has as many as it can under this prefix, and no other address
   *   has more of them than the caller; Unavailable when the service stops
   */
  requireRoom(caller: Party): void {
    if (this.#closed) throw new Unavailable("The service is stopping", RETRY_SECONDS);
    const { perOrganization } = this.#limits;
    const asking = this.#shares.hold(caller, new AbortController());
    const hasRoom = this.#shares.hasRoom(asking, 1, perOrganization, groupOf(caller));
    asking.close();
    if (hasRoom) return;
    const message = `This organization has ${perOrganization} streams open under this prefix, which is the most`;
    throw new TooMany(message, RETRY_SECONDS);
  }

  /**
   * Sends what matches after a row until the reader leaves, stays behind, or the service stops. Where
   * there is no room for one more, the newest stream of the address that has most of them ends.
   *
   * @throws like `requireRoom`: other streams may have begun since the handler called it
   */
  async run(source: StreamSource, output: Writable, gone: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const { perOrganization } = this.#limits;
    const { caller } = source;
    this.requireRoom(caller);
    const holding = this.#shares.hold(caller, stop);
    this.#shares.makeRoom(holding, 1, perOrganization, (cut) => cut.abort(), groupOf(caller));
    holding.set(1);
    this.#open.add(stop);
    try {
      const signal = AbortSignal.any([gone, stop.signal]);
      await sendEvents(source, output, signal, this.#limits, this.#blocks);
    } finally {
      holding.close();
      this.#open.delete(stop);
    }
  }

  /** Ends every stream, and lets none begin. */
  close(): void {
    this.#closed = true;
    for (const stop of this.#open) stop.abort();
  }
}

/** Surface and organization: who shares the limit. */
function groupOf(caller: Party): Party {
  return caller.slice(0, 2);
}

/** Makes the text of an event once for all the streams that it goes to, one after the other. */
class Blocks {
  #organization = "";
  #row = 0;
  #text = "";

  of(organization: string, row: number, json: Buffer | string): string {
    if (row !== this.#row || organization !== this.#organization) {
      this.#organization = organization;
      this.#row = row;
      this.#text = `${idLine(organization, row)}data: ${json.toString()}\n\n`;
    }
    return this.#text;
  }
}

function idLine(organization: string, row: number): string {
  return `id: ${streamPosition(row, organization)}\n`;
}

/** Which events a stream gives out. */
export interface StreamSource {
  readonly audit: Pick<AuditStore, "tail">;
  readonly organization: string;
  /** Whose share of the streams it is. */
  readonly caller: Party;
  readonly filter: AuditFilter;
  /** The row after which it begins. */
  readonly after: number;
  /** Whether the reader may still have them, asked with every comment. */
  readonly isAllowed: () => Awaitable<boolean>;
}

function sendEvents(
  { audit, organization, filter, after, isAllowed }: StreamSource,
  output: Writable,
  signal: AbortSignal,
  { keepAliveMs, lifetimeMs }: StreamLimits,
  blocks: Blocks,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let tail: AuditTail | undefined;
    let ticksLeft = Math.ceil(lifetimeMs / keepAliveMs);
    let ticksBehind: number | undefined; // counted while the reader is behind
    const end = (error?: unknown): void => {
      clearInterval(ticks);
      output.off("drain", catchUp);
      signal.removeEventListener("abort", onAbort);
      tail?.close();
      if (error === undefined) resolve();
      else reject(error as Error);
    };
    const onAbort = (): void => end();
    const catchUp = (): void => {
      if (ticksBehind === undefined) return;
      ticksBehind = undefined;
      tail?.resume();
    };
    const check = async (): Promise<void> => {
      if (!(await isAllowed())) end();
    };
    const tick = (): void => {
      check().catch(end);
      if (--ticksLeft <= 0) end();
      else if (ticksBehind === undefined) output.write(": keep-alive\n\n");
      else if (++ticksBehind > 1) output.destroy(); // which aborts the signal
    };
    const ticks = setInterval(tick, keepAliveMs).unref();
    output.on("drain", catchUp);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) return onAbort();

    output.write(`retry: ${RETRY_MS}\n${idLine(organization, after)}\n`);
    try {
      tail = audit.tail(organization, filter, after, (row, json) => {
        output.write(blocks.of(organization, row, json));
        if (output.writableLength < MAX_WAITING_BYTES) return true;
        ticksBehind ??= 0;
        return false;
      });
      tail.caughtUp.catch(end);
    } catch (error) {
      end(error);
    }
  });
}
