/**
 * Long answers whose readers have not taken them yet. One is bounded, but not how many there are: who
 * asks for pages over hundreds of connections and reads none would fill the memory. When all of them
 * together hold too much, those that began first and are still behind are cut, as the ones most likely
 * to be stalled; nobody who asks anew is refused for it.
 */
import type { ServerResponse } from "node:http";
import { SECOND_MS } from "../core/clock.ts";

/** Counts what waits to be read, and cuts readers where it is too much. */
export class UnreadAnswers {
  readonly #limit: number;
  // A Set keeps the order of insertion: the one that began first comes first.
  readonly #open = new Set<ServerResponse>();
  #checks: NodeJS.Timeout | undefined;

  /** @param limit the most bytes that may wait */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The bytes that wait now. */
  get bytes(): number {
    let sum = 0;
    for (const { writableLength } of this.#open) sum += writableLength;
    return sum;
  }

  /** Follows an answer until it is sent. A stream fills later, so all are looked at every second too. */
  add(response: ServerResponse): void {
    this.#open.add(response);
    response.once("close", () => this.#forget(response));
    this.#checks ??= setInterval(() => this.#check(), SECOND_MS).unref();
    this.#check(response);
  }

  #forget(response: ServerResponse): void {
    this.#open.delete(response);
    if (this.#open.size > 0) return;
    clearInterval(this.#checks);
    this.#checks = undefined;
  }

  /** Cuts readers until few enough bytes wait, but never the one that has just begun. */
  #check(newest?: ServerResponse): void {
    let left = this.bytes;
    for (const response of this.#open) {
      if (left <= this.#limit) return;
      if (response === newest || response.writableLength === 0) continue;
      left -= response.writableLength;
      response.destroy();
      this.#forget(response); // its own event comes later, and others may come before
    }
  }
}
