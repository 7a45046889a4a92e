/** The client of a request, as far as long-running work needs it. */
import type { Awaitable, Credentials } from "../core/caller.ts";
import { Refusal } from "../core/errors.ts";
import type { Party } from "../core/scheduling/fair-share.ts";

/** The status in log and metrics of a request whose client disconnected before the response. */
export const CLIENT_GONE = 499;

/** The reason why a request was abandoned. It is never sent; only the request log shows it. */
export class ClientGone extends Refusal {
  readonly status = CLIENT_GONE;
}

/** Checks whether credentials that were accepted before would still be accepted. */
export type AcceptanceCheck = () => Awaitable<boolean>;

/** A client that waits for its answer. */
export interface WaitingClient {
  readonly credentials: Credentials;
  /** The party whose share of a budget the request uses: surface, organization and network. */
  readonly party: Party;
  /** Fires when the client disconnects. */
  readonly gone: AbortSignal;
  /** Calls a listener if the client disconnects before its answer; takes less memory than `gone`. */
  onGone(listener: (error: ClientGone) => void): void;
  /** Calls a listener once another request waits behind this one on its connection. */
  onFollowed(listener: () => void): void;
  /** Throws the refusal if the credentials are no longer accepted; those of a question are checked only after a second. */
  recheck(): Awaitable<void>;
  /**
   * Makes a check whether the request's credentials are still accepted, for the same organization.
   * The check may outlive the request: it holds only the credentials.
   */
  acceptance(): AcceptanceCheck;
}
