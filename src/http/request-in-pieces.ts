import { IncomingMessage } from "node:http";
import { networkOf } from "../core/address.ts";
import { onQuietTurn } from "../core/scheduling/arrivals.ts";
import { FairLine } from "../core/scheduling/fair-line.ts";
import type { Party } from "../core/scheduling/fair-share.ts";
import { ChunkBudget } from "./bodies/chunk-budget.ts";
import { cutOff, dropRest } from "./cut-off.ts";
import { callerAddress, hasTooManyHeaders } from "./request.ts";
import type { Identified } from "./request-id.ts";

/** A piece of a body with fewer bytes is small. Clients that send a body while they make it send longer ones. */
export const SMALL_PIECE_BYTES = 64;
/** The most small pieces of a body in chunks. */
export const MOST_SMALL_PIECES = 2_048;
/** The code of the error for a body with more of them. */
export const SMALL_PIECES = "ERR_SMALL_PIECES";
/** The code of the error for a body in many chunks that arrives together with many others. */
export const BUSY_WITH_PIECES = "ERR_BUSY_WITH_PIECES";

/** After this number of pieces of a body, the rest waits for a later turn of the event loop. */
export const PIECES_AT_ONCE = 64;
/** The same for its bytes. The usual batches of runtimes are smaller. */
const BYTES_AT_ONCE = 128 * 1024;
/** The bodies that go on in one turn: each may have a millisecond of pieces. */
const READ_ON_AT_ONCE = 4;

/**
 * A request whose body may not come in very many small chunks. Node makes a buffer of each chunk, which takes a
 * microsecond, and while no handler reads the body, 150 bytes of memory. It also reads up to 2 MiB of each connection in
 * one turn of the event loop: a hundred connections that sent bodies of one byte a chunk held up all others for a minute.
 *
 * Larger chunks are not bounded, since a client may send each event in one. They wait for a later turn instead: with
 * chunks of 64 bytes, 20 connections held up all others for three seconds. So do the pieces of a large body with a length:
 * with 300 bodies of 8 MB, each turn took 15 ms, and new connections waited for three seconds.
 */
export class RequestInPieces extends IncomingMessage implements Identified {
  requestId: string | undefined = undefined;
  #small = 0;
  /** The pieces since the body was last held, and their bytes. */
  #pieces = 0;
  #bytes = 0;
  #party: Party | undefined;
  #isHeld = false;
  #isRead = false;
  #isRefused = false;

  /** Takes the next piece of the body from the parser of Node; `null` is its end. */
  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    if (piece === null) {
      if (this.#isRefused) return false; // what came before the refusal is not the whole body
      // As many trailers cost as much as as many headers, for which a request is refused.
      if (!hasTooManyHeaders(this.rawTrailers)) return super.push(piece, encoding);
      cutOff(this.socket);
      return false;
    }
    if (this.#isInChunks) {
      const isSmall = piece.length < SMALL_PIECE_BYTES;
      if (isSmall) this.#small++;
      // The first ones of a body are not refused: counted over time, they would have the bodies of others refused.
      const counts = isSmall && this.#small > PIECES_AT_ONCE;
      const isBusy = !budget.take(counts ? this.party[0] : undefined) && this.#isHeld;
      if (this.#small > MOST_SMALL_PIECES) return this.#refuse(SMALL_PIECES);
      if (isBusy) return this.#refuse(BUSY_WITH_PIECES);
    }
    this.#bytes += piece.length;
    if (++this.#pieces >= PIECES_AT_ONCE || this.#bytes >= BYTES_AT_ONCE) this.#hold();
    return super.push(piece, encoding) && !this.#isHeld; // after `false` Node reads no more of the connection
  }

  /**
   * Ends the request when its connection ends. Node passes an error to each one that waits, and makes its stack trace into
   * text, although nothing listens for it: for the 64 requests of a connection that takes a millisecond.
   */
  override destroy(error?: Error): this {
    return super.destroy(this.listenerCount("error") > 0 ? error : undefined);
  }

  /** Makes Node read on, but not while the rest of the body waits. */
  override _read(size: number): void {
    // The first call shows Node that the body is read: otherwise it would drop it itself after the answer, uncounted.
    if (this.#isHeld && this.#isRead) return;
    this.#isRead = true;
    super._read(size);
  }

  /** The pieces of a body with a length are what the network delivers, up to 64 KiB each. */
  get #isInChunks(): boolean {
    return this.headers["transfer-encoding"] !== undefined;
  }

  /** The proxies that are believed about the caller's address; a server behind some overrides it. */
  get trustedProxies(): number {
    return 0;
  }

  /** The network of the caller. Found once, since that of an IPv6 address takes longer than a chunk. */
  get party(): Party {
    return (this.#party ??= [networkOf(callerAddress(this, this.trustedProxies))]);
  }

  #refuse(code: string): false {
    this.#isRefused = true;
    dropRest(this.socket); // dropping costs time, too: Node would read and drop up to 2 MiB more
    this.socket.emit("error", Object.assign(new Error(code), { code })); // as Node does for errors of its parser
    return false;
  }

  #hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#pieces = this.#bytes = 0;
    if (held.isEmpty) onQuietTurn(readOn);
    held.add(this);
  }

  /** Lets Node read on; the result is whether it does. */
  readOn(): boolean {
    this.#isHeld = false;
    // Without room, the code that reads the body asks for more. After its end Node reads on by itself.
    const hasRoom = this.readableLength < this.readableHighWaterMark;
    if (!hasRoom || this.complete || this.destroyed) return false;
    super._read(0);
    return true;
  }
}

const budget = new ChunkBudget();

/**
 * The bodies whose rest waits. The turns go round the networks: with 2,000 new connections a second from one network,
 * each with a body that began with 64 small chunks, the batches of others waited for six seconds behind them.
 */
const held = new FairLine<RequestInPieces>();

/**
 * Lets a few bodies be read on in each turn. Node accepts one connection in a turn: with all bodies of 100 connections in
 * each, others waited for seconds to be accepted. So none is read on while connections arrive, for eight turns at most.
 */
function readOn(): void {
  for (let read = 0, next; read < READ_ON_AT_ONCE && (next = held.next(() => true));) {
    if (next.readOn()) read++;
  }
  if (!held.isEmpty) onQuietTurn(readOn);
}
