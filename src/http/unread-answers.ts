/**
 * Long responses that wait for their readers. Each response is bounded, but their number is not: a client
 * that requests pages over hundreds of connections and never reads them would fill the memory. When all
 * responses together hold too much, one response of the reader with the most unread bytes is cut: the
 * response with the most unread bytes, the oldest of equal ones. An export never has more than one piece
 * waiting, so it outlives unread pages. New responses are never refused.
 */
import type { ServerResponse } from "node:http";
import { SECOND_MS } from "../core/clock.ts";
import { FairShare, type Holding, type Party, type Share } from "../core/scheduling/fair-share.ts";
import { clearInterval, setInterval } from "../core/timers.ts";

/** Counts the unread bytes, and cuts responses when there are too many. */
export class UnreadAnswers {
  readonly #limit: number;
  readonly #shares = new FairShare<ServerResponse>();
  readonly #open = new Set<Holding<ServerResponse>>();
  #checks: NodeJS.Timeout | undefined;

  /**
   * @param limit the most unread bytes
   */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The number of unread bytes now. */
  get bytes(): number {
    for (const answer of this.#open) answer.set(answer.owner.writableLength);
    return this.#shares.used();
  }

  /** Follows a response until it is sent. Streams fill up later, so all responses are checked every second too. */
  add(response: ServerResponse, reader: Party): void {
    const answer = this.#shares.hold(reader, response);
    this.#open.add(answer);
    response.once("close", () => this.#forget(answer));
    this.#checks ??= setInterval(() => this.#check(), SECOND_MS).unref();
    this.#check(answer);
  }

  #forget(answer: Holding<ServerResponse>): void {
    answer.close();
    this.#open.delete(answer);
    if (this.#open.size > 0) return;
    clearInterval(this.#checks);
    this.#checks = undefined;
  }

  /** Cuts responses until the unread bytes are within the limit, but never the response that has just begun. */
  #check(begun?: Holding<ServerResponse>): void {
    if (this.bytes <= this.#limit) return;
    while (this.#shares.used() > this.#limit) {
      const most = longestOf(this.#shares.biggest(), begun);
      if (!most) return;
      most.owner.destroy();
      this.#forget(most); // not by its close event: other responses may begin before it
    }
  }
}

/** The holding with the most unread bytes, the oldest of equal ones. */
function longestOf(
  share: Share<ServerResponse> | undefined,
  except: Holding<ServerResponse> | undefined,
): Holding<ServerResponse> | undefined {
  let longest: Holding<ServerResponse> | undefined;
  for (const answer of share?.holdings ?? []) {
    if (answer !== except && answer.amount > (longest?.amount ?? 0)) longest = answer;
  }
  return longest;
}
