import type { IncomingMessage, ServerResponse } from "node:http";
import { networkOf } from "../core/address.ts";
import type { Awaitable, Caller } from "../core/caller.ts";
import { Refusal } from "../core/errors.ts";
import type { Party } from "../core/fair-share.ts";
import type { Credentials, ListenerParts } from "./listener-parts.ts";
import { callerAddress } from "./request.ts";
import type { Endpoint, Match } from "./router.ts";
import type { Turns } from "../core/turns.ts";

/** The status that log and metrics show for a request whose client disconnected before the answer. */
export const CLIENT_GONE = 499;

/** The reason why a request was abandoned. It cannot be sent; the request log shows it. */
export class ClientGone extends Refusal {
  readonly status = CLIENT_GONE;
}

/** Tells whether credentials that were accepted would be accepted now as well. */
export type AcceptanceCheck = () => Awaitable<boolean>;

const NO_HEADERS: readonly string[] = [];
const SANE_REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

/** One request and its answer: the state that the steps of the listener share. */
export class Exchange<Needs = unknown> {
  readonly parts: ListenerParts<Needs>;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Cross-origin headers of an allowed origin; empty for all other requests. */
  originHeaders = NO_HEADERS;
  /** The query of the target, with its question mark. */
  search = "";
  /** Set when the row of the request is found. */
  match: Match<Needs> | undefined;
  /** Set when the credentials are accepted. */
  caller: Caller | undefined;
  /** Whether the client waits for a 100 before it sends the body; HTTP/1.0 has no such thing. */
  awaitsContinue: boolean;
  /** Frees the request's part of the budget of large bodies; set while it holds one. */
  freeBudget: (() => void) | undefined;
  isAnswered = false;
  /**
   * Set where a large body was left unread: the connection is closed, but only after this has called
   * back, so that the client can read the answer before the connection is reset.
   */
  awaitBody: ((done: () => void) => void) | undefined;
  /** The bytes of the body that was sent. */
  bytesSent = 0;
  readonly #startedAt: number | undefined;
  #gone: AbortController | undefined;
  #endTurn: (() => void) | undefined;

  constructor(parts: ListenerParts<Needs>, request: IncomingMessage, response: ServerResponse) {
    this.parts = parts;
    this.request = request;
    this.response = response;
    this.#startedAt = parts.stopwatch?.();
    this.awaitsContinue = request.headers.expect !== undefined && request.httpVersion === "1.1";
    const given = request.headers["x-request-id"];
    this.requestId =
      typeof given === "string" && SANE_REQUEST_ID.test(given) ? given : parts.requestIds();
  }

  get endpoint(): Endpoint<Needs> {
    if (!this.match) throw new Error("The request has no row yet");
    return this.match.endpoint;
  }

  get address(): string {
    return callerAddress(this.request, this.parts.trustedProxies);
  }

  get credentials(): Credentials {
    const { authorization, "x-api-key": apiKey } = this.request.headers;
    return { authorization, apiKey: apiKey as string | undefined };
  }

  /**
   * Whose share of a budget it uses: surface, organization and network. Computed when asked for: small
   * requests with short answers never need it.
   */
  get party(): Party {
    const surface = this.match?.endpoint.surface ?? "";
    return [surface, this.caller?.organization ?? "", networkOf(this.address)];
  }

  /** Fires when the client disconnects. Created on first use: most answers come at once. */
  get gone(): AbortSignal {
    if (!this.#gone) {
      const gone = (this.#gone = new AbortController());
      const onClose = (): void => {
        if (this.response.writableFinished) return; // it has its answer
        gone.abort(new ClientGone("The client left before it was answered"));
      };
      if (this.response.destroyed) onClose();
      else this.response.once("close", onClose);
    }
    return this.#gone.signal;
  }

  /**
   * Makes a check whether the credentials of the request would still be accepted, for the same
   * organization. The check may outlive the request: it holds the credentials alone.
   */
  acceptance(): AcceptanceCheck {
    const { resolveCaller } = this.parts;
    const { row, surface } = this.endpoint;
    const { credentials } = this;
    const organization = this.caller?.organization;
    return async () => {
      try {
        return (await resolveCaller(row, surface, credentials)).organization === organization;
      } catch (error) {
        if (error instanceof Refusal) return false;
        throw error;
      }
    };
  }

  /**
   * Waits for a turn to answer at length.
   *
   * @param begin called when the turn comes, or with the reason why it will not come
   * @throws Unavailable when too many wait already
   */
  takeTurn(turns: Turns, begin: (reason?: unknown) => void): void {
    const onTurn = (end: () => void): void => {
      this.#endTurn = end;
      begin();
    };
    const { response } = this;
    const { socket } = this.request; // the response lets go of it at its end
    const reader = {
      taken: () =>
        response.writableLength > 0 ? socket.bytesWritten - socket.writableLength : undefined,
      cut: () => void response.destroy(),
    };
    const cancel = turns.take(this.party, onTurn, begin, reader);
    if (!cancel) return;
    const { gone } = this;
    gone.addEventListener("abort", () => {
      cancel();
      if (!this.#endTurn) begin(gone.reason);
    });
  }

  /** Lets the next large body be worked on. */
  releaseBudget(): void {
    this.freeBudget?.();
    this.freeBudget = undefined;
  }

  /** Ends the turn, if there is one. */
  endTurn(): void {
    this.#endTurn?.();
  }

  /**
   * Frees what the request holds, and reports what happened: once for each request.
   *
   * @param error why the request was refused or failed; a reader that disconnects is not a failure
   */
  finish(error: unknown): void {
    this.releaseBudget();
    this.endTurn();
    const { match, request } = this;
    const { stopwatch, onAnswered } = this.parts;
    const startedAt = this.#startedAt;
    const row = match?.endpoint.row;
    onAnswered({
      method: request.method ?? "",
      route: match?.endpoint.path,
      status: this.#sentStatus(error),
      requestId: this.requestId,
      organization: this.caller?.organization,
      isChange: row !== undefined && row.method !== "GET" && !row.report,
      durationMs: stopwatch && startedAt !== undefined ? stopwatch() - startedAt : undefined,
      contentLength: request.headers["content-length"],
      bytesSent: this.bytesSent,
      error,
    });
  }

  /**
   * The status that was sent. Otherwise: that of the refusal that `server.ts` wrote past the response, 499
   * when the client disconnected, 500 when it was cut off.
   */
  #sentStatus(error: unknown): number {
    // The head of a stream goes out with its first bytes.
    const { headersSent, destroyed, statusCode } = this.response;
    const isSent = headersSent && !(destroyed && this.bytesSent === 0);
    if (isSent || statusCode >= 400) return statusCode;
    return error === undefined || error instanceof Refusal ? CLIENT_GONE : 500;
  }
}
