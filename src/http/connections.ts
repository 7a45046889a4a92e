/**
 * The connections that are open, up to a limit. At the limit a new connection takes the place of another
 * one: of the address that has most of them, the new one counted, and there of one that waits for
 * nothing, or else of one whose request has not arrived yet. So an address that opens thousands cuts
 * its own, and everybody else gets in.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { networkOf } from "../core/address.ts";
import { FairShare, type Holding, type Share } from "../core/fair-share.ts";
import { isAnswering, type Latest } from "./pipeline.ts";

/** How many connections are looked at to find the least useful one: the work must not grow with the limit. */
const LOOKED_AT = 64;

/** What a connection does, the least useful first. */
const IDLE = 0;
const RECEIVING = 1;
const ANSWERING = 2;

/** Knows every connection, and decides which one makes room. */
export class Connections {
  /** The last response on each. */
  readonly latest: Latest = new Map();
  readonly #limit: number;
  readonly #isByAddress: boolean;
  readonly #shares = new FairShare<Socket>();
  readonly #open = new Set<Holding<Socket>>();
  /** Where the search for idle ones goes on. */
  #sweep = this.#open.values();

  /**
   * @param isByAddress whether the peer is the client; behind proxies all connections are theirs, and
   *   count as one address
   */
  constructor(limit: number, isByAddress: boolean) {
    this.#limit = limit;
    this.#isByAddress = isByAddress;
  }

  /** Takes a new connection in, at the limit in the place of another one or not at all. */
  add(socket: Socket): void {
    const address = this.#isByAddress ? networkOf(socket.remoteAddress ?? "") : "";
    const holding = this.#shares.hold([address], socket);
    holding.set(1);
    this.#open.add(holding);
    this.latest.set(socket, undefined);
    socket.once("close", () => {
      this.latest.delete(socket);
      this.#forget(holding);
    });
    if (this.#open.size <= this.#limit) return;
    const evicted = this.#leastUseful(holding);
    this.#forget(evicted); // its own event comes later, and other connections may come before
    evicted.owner.destroy();
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

  /** An idle connection of any address, for one that has no other connection. */
  #anyIdle(newcomer: Holding<Socket>): Holding<Socket> | undefined {
    if (newcomer.share.amount > 1) return undefined;
    for (let left = LOOKED_AT; left > 0; left--) {
      let next = this.#sweep.next();
      if (next.done) next = (this.#sweep = this.#open.values()).next();
      const { value } = next;
      const isIdle = value !== undefined && doingOf(this.latest.get(value.owner)) === IDLE;
      if (isIdle && value !== newcomer) return value;
    }
    return undefined;
  }

  /** The least useful of some connections of an address that do no more than `most`. */
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
      if (doing === ANSWERING) share.moveToEnd(holding); // others are looked at the next time
    }
    return found;
  }
}

function doingOf(response: ServerResponse | undefined): number {
  if (response?.writableFinished) return IDLE;
  return isAnswering(response) ? ANSWERING : RECEIVING; // where nothing was asked yet, it is on its way
}
