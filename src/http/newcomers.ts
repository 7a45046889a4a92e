/**
 * New connections of which nothing has been read yet. Node accepts one connection in each turn of the event loop, in the
 * order in which they reached the machine, and what a turn reads may take a millisecond: one client with 1,500 connections a
 * second, each with 50 requests, kept all others waiting for over three seconds before they were accepted. So a connection
 * that arrives behind others is accepted at once, and read in a later turn: one in a turn, and addresses in turn.
 */
import type { Socket } from "node:net";
import { RecentArrivals, connectionArrived } from "../core/scheduling/arrivals.ts";

/** With more waiting connections than this, the process is behind. */
export const MANY = 100;

/** Begins to read new connections, which arrive paused. */
export class Newcomers {
  readonly #accepted = new RecentArrivals();
  /** Those that wait, by address; the address that is next comes first. */
  readonly #lines = new Map<string, Set<Socket>>();
  #waiting = 0;

  /** Whether many connections wait to be read. */
  get areMany(): boolean {
    return this.#waiting > MANY;
  }

  /** Adds a connection that was accepted. */
  add(address: string, socket: Socket): void {
    const isFirst = this.#lines.size === 0;
    const isAlone = isFirst && !this.#accepted.areRecent;
    this.#accepted.add();
    connectionArrived();
    if (isAlone) return void socket.resume();
    this.#waiting++;
    const line = this.#lines.get(address);
    if (line) line.add(socket);
    else this.#lines.set(address, new Set([socket]));
    if (isFirst) this.#plan();
  }

  /** Forgets a connection that has closed, if it still waits. */
  remove(address: string, socket: Socket): void {
    if (this.#lines.get(address)?.delete(socket) === true) this.#waiting--;
  }

  #plan(): void {
    this.#accepted.onQuietTurn(() => this.#readNext());
  }

  #readNext(): void {
    for (const [address, line] of this.#lines) {
      this.#lines.delete(address);
      const [next] = line;
      if (next === undefined) continue; // all of them have closed
      line.delete(next);
      this.#waiting--;
      if (line.size > 0) this.#lines.set(address, line);
      connectionArrived();
      next.resume();
      break;
    }
    if (this.#lines.size > 0) this.#plan();
  }
}
