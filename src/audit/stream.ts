/**
 * Live events as Server-Sent Events (HTML Standard §9.2). Each event carries its position as `id`. The
 * first block has only an `id`, so that a client that is disconnected before the first event knows where
 * to continue. While 64 KiB wait for a reader, its next events stay in the store: a burst costs bounded
 * memory, and a slow reader loses nothing. A reader that is still behind at the second tick is disconnected.
 */
import { once } from "node:events";
import type { Writable } from "node:stream";
import type { Awaitable } from "../core/caller.ts";
import { HOUR_MS, SECOND_MS } from "../core/clock.ts";
import { TooMany, Unavailable } from "../core/errors.ts";
import { FairShare, type Party } from "../core/scheduling/fair-share.ts";
import { clearInterval, setInterval } from "../core/timers.ts";
import { ownTurn } from "../core/scheduling/yielder.ts";
import { streamIds } from "./cursor.ts";
import type { Arrival, AuditTail, Position } from "./store.ts";

/** The media type of a stream. */
export const STREAM_TYPE = "text/event-stream";

export const MAX_WAITING_BYTES = 64 << 10;
/** An event of more bytes is long. */
const LONG_BYTES = 16 << 10;
/** The end of a block. */
const END = Buffer.from("\n\n");
/** Streams that have more events than this to send, or more than `LONG_BYTES` of them, take turns. */
const FEW_EVENTS = 8;
const RETRY_MS = 3 * SECOND_MS;
const RETRY_SECONDS = 5;

export interface StreamLimits {
  /** The most streams that an organization can have open under one prefix. */
  readonly perOrganization: number;
  /** The interval of comments, which keep proxies and our own timeouts from closing the connection. */
  readonly keepAliveMs: number;
  /** After this time a stream ends: the client connects again, and its credentials are checked again. */
  readonly lifetimeMs: number;
}

export const STREAM_LIMITS: StreamLimits = {
  perOrganization: 100,
  keepAliveMs: 15 * SECOND_MS,
  lifetimeMs: HOUR_MS,
};

/** All open streams, so that they can be counted, and ended when the service stops. */
export class AuditStreams {
  readonly #limits: StreamLimits;
  readonly #shares = new FairShare<AbortController>();
  readonly #open = new Set<AbortController>();
  readonly #blocks = new Blocks();
  #closed = false;

  constructor(limits: Partial<StreamLimits> = {}) {
    this.#limits = { ...STREAM_LIMITS, ...limits };
  }

  /** The number of open streams. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Checks that a caller may open one more stream.
   *
   * @throws TooMany if the organization is at its limit under this prefix, and no address has more
   *   streams than the caller's; Unavailable when the service stops
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
   * Sends the events of a tail until the reader disconnects, falls behind, or the service stops. At
   * the limit, the newest stream of the address with the most streams ends.
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

  /** Ends every stream, and refuses new ones. */
  close(): void {
    this.#closed = true;
    for (const stop of this.#open) stop.abort();
  }
}

/** The group that shares one limit: surface and organization. */
function groupOf(caller: Party): Party {
  return caller.slice(0, 2);
}

/**
 * Makes the bytes of events that are sent together, and caches those of the newest ones, since all streams send the same
 * events one after the other. A long event is not copied: with bytes of its own each slow reader would keep it in memory.
 */
class Blocks {
  #arrived: readonly Arrival[] = [];
  #parts: readonly Buffer[] = [];

  of(arrived: readonly Arrival[], idOf: (position: Position) => string): readonly Buffer[] {
    const known = this.#arrived;
    const isKnown =
      known.length === arrived.length && known.every((one, i) => one.json === arrived[i]?.json);
    if (!isKnown) {
      this.#arrived = arrived;
      this.#parts = partsOf(arrived, idOf);
    }
    return this.#parts;
  }
}

/**
 * Whether events take long to send. The system copies some mebibytes for each reader in a millisecond: sent to a hundred
 * streams in one turn, a batch of eight events of 1 MiB stopped the loop for a tenth of a second or more.
 */
function isMuch(arrived: readonly Arrival[]): boolean {
  if (arrived.length > FEW_EVENTS) return true;
  return arrived.reduce((bytes, { json }) => bytes + json.length, 0) > LONG_BYTES;
}

/** The blocks of events, as few buffers as possible. */
function partsOf(arrived: readonly Arrival[], idOf: (position: Position) => string): Buffer[] {
  const parts: Buffer[] = [];
  let joined: Buffer[] = [];
  const join = (): void => {
    if (joined.length > 0) parts.push(Buffer.concat(joined));
    joined = [];
  };
  for (const { json, position } of arrived) {
    joined.push(Buffer.from(`id: ${idOf(position)}\ndata: `));
    if (json.length <= LONG_BYTES) joined.push(json);
    else {
      join();
      parts.push(json);
    }
    joined.push(END);
  }
  join();
  return parts;
}

/** The events of a stream. */
export interface StreamSource {
  readonly tail: AuditTail;
  readonly organization: string;
  /** The party whose share of the streams this stream counts against. */
  readonly caller: Party;
  /** Whether the reader's credentials are still accepted; called with every comment. */
  readonly isAllowed: () => Awaitable<boolean>;
}

async function sendEvents(
  { tail, organization, caller, isAllowed }: StreamSource,
  output: Writable,
  gone: AbortSignal,
  { keepAliveMs, lifetimeMs }: StreamLimits,
  blocks: Blocks,
): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([gone, over.signal]);
  if (signal.aborted) return;
  const idOf = streamIds(organization);
  let ticksLeft = Math.ceil(lifetimeMs / keepAliveMs);
  let ticksBehind: number | undefined; // counted while the reader is behind
  let fault: Error | undefined;
  const check = async (): Promise<void> => {
    if (!(await isAllowed())) over.abort();
  };
  const tick = (): void => {
    check().catch((error: unknown) => {
      fault = new Error("A stream's credentials could not be checked", { cause: error });
      over.abort();
    });
    if (--ticksLeft <= 0) over.abort();
    else if (ticksBehind === undefined) output.write(": keep-alive\n\n");
    else if (++ticksBehind > 1) output.destroy(); // this aborts `gone`
  };
  const ticks = setInterval(tick, keepAliveMs).unref();
  try {
    output.write(`retry: ${RETRY_MS}\nid: ${idOf(tail.start)}\n\n`);
    for await (const arrived of tail.arrivals(signal)) {
      if (isMuch(arrived)) await ownTurn(caller);
      if (signal.aborted) break;
      // Not corked: from Node 22 on, a response that is corked during a write of little never says `drain`.
      for (const part of blocks.of(arrived, idOf)) output.write(part);
      if (output.writableLength < MAX_WAITING_BYTES) continue;
      ticksBehind = 0;
      await once(output, "drain", { signal }).catch(() => {}); // the stream may end during the wait
      if (signal.aborted) break;
      ticksBehind = undefined;
    }
    if (fault !== undefined) throw fault;
  } finally {
    clearInterval(ticks);
  }
}
