import type { ServerResponse } from "node:http";
import type { Awaitable } from "../core/caller.ts";
import { Refusal } from "../core/errors.ts";
import type { Party } from "../core/fair-share.ts";
import type { Turns } from "./turns.ts";

/** The status that log and metrics show for a request whose client left before it was answered. */
export const CLIENT_GONE = 499;

/** The reason why a request was abandoned. It cannot be sent; the request log shows it. */
export class ClientGone extends Refusal {
  readonly status = CLIENT_GONE;
}

/** Tells whether credentials that were accepted would be accepted now as well. */
export type AcceptanceCheck = () => Awaitable<boolean>;

/** The client that waits for an answer, as long-running handlers see it. */
export abstract class Client {
  readonly response: ServerResponse;
  #gone: AbortController | undefined;
  #leaveTurn: (() => void) | undefined;

  constructor(response: ServerResponse) {
    this.response = response;
  }

  /** Fires when the client leaves. Made when it is first asked for: most answers come at once. */
  get gone(): AbortSignal {
    if (!this.#gone) {
      const gone = (this.#gone = new AbortController());
      const leave = (): void => {
        if (this.response.writableFinished) return; // it has its answer
        gone.abort(new ClientGone("The client left before it was answered"));
      };
      if (this.response.destroyed) leave();
      else this.response.once("close", leave);
    }
    return this.#gone.signal;
  }

  /** Whose share of a budget it uses: surface, organization and network. */
  abstract readonly party: Party;

  /**
   * Waits for a turn to answer at length.
   *
   * @param begin called when the turn comes, or with the reason why it will not come
   * @throws Unavailable when too many wait already
   */
  protected takeTurn(turns: Turns, begin: (reason?: unknown) => void): void {
    const come = (leave: () => void): void => {
      this.#leaveTurn = leave;
      begin();
    };
    const cancel = turns.take(this.party, come, begin);
    if (!cancel) return;
    const { gone } = this;
    gone.addEventListener("abort", () => {
      cancel();
      if (!this.#leaveTurn) begin(gone.reason);
    });
  }

  /** Ends the turn, if there is one. */
  protected leaveTurn(): void {
    this.#leaveTurn?.();
  }

  /**
   * Makes a check whether the credentials of the request would still be accepted, for the same
   * organization. The check may outlive the request: it holds the credentials alone.
   */
  abstract acceptance(): AcceptanceCheck;
}

/**
 * The status that the client was sent. Otherwise: that of the refusal that `server.ts` wrote past the
 * response, 499 when the client left before, 500 when it was cut off.
 *
 * @param error why the request was refused or failed
 */
export function sentStatus(response: ServerResponse, bytesSent: number, error: unknown): number {
  // The head of a stream goes out with its first bytes.
  const isSent = response.headersSent && !(response.destroyed && bytesSent === 0);
  if (isSent || response.statusCode >= 400) return response.statusCode;
  return error === undefined || error instanceof Refusal ? CLIENT_GONE : 500;
}
