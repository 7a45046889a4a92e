/**
 * The open connections, up to a limit. At the limit a new connection replaces another one, of the address
 * with the most connections, the new one included. An idle connection is closed first, then a connection
 * whose request has not arrived yet. So an address that opens thousands of connections closes its own, and
 * other addresses can still connect.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { networkOf } from "../core/address.ts";
import { connectionArrived } from "../core/scheduling/arrivals.ts";
import { FairShare, type Holding, type Share } from "../core/scheduling/fair-share.ts";
import { Newcomers } from "./newcomers.ts";
import { isAnswering, type Latest } from "./pipeline.ts";

/** The number of connections that are examined to find the least useful one: the work must not grow with the limit. */
const LOOKED_AT = 64;

/** The states of a connection, least useful first. */
const IDLE = 0;
const RECEIVING = 1;
const ANSWERING = 2;

/** Tracks the open connections, and closes one when a new one needs its place. */
export class Connections {
  /** The last response on each connection. */
  readonly latest: Latest = new Map();
  readonly #limit: number;
  readonly #isByAddress: boolean;
  readonly #shares = new FairShare<Socket>();
  readonly #newcomers = new Newcomers();
  /** In the order in which the next search for an idle connection looks at them. */
  readonly #open = new Set<Holding<Socket>>();

  /**
   * @param isByAddress whether the peer is the client. Behind proxies the peers are the proxies, and all
   *   connections count as one address
   */
  constructor(limit: number, isByAddress: boolean) {
    this.#limit = limit;
    this.#isByAddress = isByAddress;
  }

  /** Adds a new connection, and reads it in its turn. At the limit it replaces another connection, or is closed. */
  add(socket: Socket): void {
    // Reset while it waited to be accepted. What the client had sent would still be read and carried out, 64 requests of
    // thousands of such connections, before those behind them are accepted.
    if (socket.remoteAddress === undefined) return void socket.destroy();
    const address = this.#isByAddress ? networkOf(socket.remoteAddress) : "";
    const holding = this.#shares.hold([address], socket);
    holding.set(1);
    this.#open.add(holding);
    this.latest.set(socket, undefined);
    // `on`: the event comes once, and `once` would take more memory on each connection.
    socket.on("close", () => {
      this.latest.delete(socket);
      this.#newcomers.remove(address, socket);
      this.#forget(holding);
    });
    if (this.#isByAddress) {
      this.#newcomers.add(address, socket);
    } else {
      connectionArrived();
      socket.resume(); // its requests take turns, by the addresses in their headers
    }
    if (this.#open.size <= this.#limit) return;
    const evicted = this.#leastUseful(holding);
    this.#forget(evicted); // not by its close event: other connections may be added before it
    evicted.owner.destroy();
  }

  /** Whether many new connections wait to be read. */
  get isCrowded(): boolean {
    return this.#newcomers.areMany;
  }

  #forget(holding: Holding<Socket>): void {
    holding.close();
    this.#open.delete(holding);
  }

  #leastUseful(newcomer: Holding<Socket>): Holding<Socket> {
    const share = this.#shares.biggest(newcomer.share) ?? newcomer.share;
    const isOwn = share === newcomer.share;
    const found = this.#leastUsefulOf(share, newcomer, isOwn ? RECEIVING : ANSWERING);
    return found ?? this.#anyIdle(newcomer) ?? newcomer;
  }

  /** An idle connection of any address, if the newcomer's address has no other connection. */
  #anyIdle(newcomer: Holding<Socket>): Holding<Socket> | undefined {
    if (newcomer.share.amount > 1) return undefined;
    let left = LOOKED_AT;
    // No iterator is kept between searches: it would keep every connection that closes meanwhile in memory.
    for (const holding of this.#open) {
      if (left-- === 0) break;
      if (holding !== newcomer && doingOf(this.latest.get(holding.owner)) === IDLE) return holding;
      this.#open.delete(holding);
      this.#open.add(holding); // the next search looks at others
    }
    return undefined;
  }

  /** The least useful of the examined connections of an address; only connections up to the state `most` count. */
  #leastUsefulOf(
    share: Share<Socket>,
    newcomer: Holding<Socket>,
    most: number,
  ): Holding<Socket> | undefined {
    let found: Holding<Socket> | undefined;
    let least = most + 1;
    let left = LOOKED_AT;
    for (const holding of share.holdings) {
      if (holding === newcomer) continue;
      if (left-- === 0 || least === IDLE) break;
      const doing = doingOf(this.latest.get(holding.owner));
      if (doing < least) [found, least] = [holding, doing];
      if (doing === ANSWERING) share.moveToEnd(holding); // the next search looks at others
    }
    return found;
  }
}

function doingOf(response: ServerResponse | undefined): number {
  if (response?.writableFinished) return IDLE;
  return isAnswering(response) ? ANSWERING : RECEIVING; // no response yet: the first request has not arrived
}
