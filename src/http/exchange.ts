import type { IncomingMessage, ServerResponse } from "node:http";
import { networkOf } from "../core/address.ts";
import {
  isAccepted,
  whenReady,
  type Awaitable,
  type Caller,
  type Credentials,
} from "../core/caller.ts";
import { SECOND_MS } from "../core/clock.ts";
import { Refusal } from "../core/errors.ts";
import type { Party } from "../core/scheduling/fair-share.ts";
import type { ListenerParts } from "./listener-parts.ts";
import { onFollowed } from "./pipeline.ts";
import { callerAddress } from "./request.ts";
import { requestIdOf } from "./request-id.ts";
import type { Endpoint, RouteMatch } from "./router.ts";
import type { Turns } from "../core/scheduling/turns.ts";
import {
  CLIENT_GONE,
  ClientGone,
  type AcceptanceCheck,
  type WaitingClient,
} from "./waiting-client.ts";

const NO_HEADERS: readonly string[] = [];

/** One request and its response: the state that the steps of the listener share. */
export class Exchange<Needs = unknown> implements WaitingClient {
  readonly parts: ListenerParts<Needs>;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Cross-origin headers of an allowed origin; empty for all other requests. */
  originHeaders = NO_HEADERS;
  /** The query of the target, with its question mark. */
  search = "";
  /** Set when the row of the request is found. */
  match: RouteMatch<Needs> | undefined;
  /** Set when the credentials are accepted. */
  caller: Caller | undefined;
  /** When they were accepted, in milliseconds; 0 for an anonymous caller. */
  acceptedAt = 0;
  /** Whether the client waits for a 100 before it sends the body; HTTP/1.0 has no 100. */
  awaitsContinue: boolean;
  /** Frees the request's part of the budget of large bodies; set while it holds one. */
  freeBudget: (() => void) | undefined;
  isAnswered = false;
  /**
   * Set when a large body is left unread. The connection is closed only after this function has called
   * back: the client needs time to read the response before the connection is reset.
   */
  awaitBody: ((done: () => void) => void) | undefined;
  /** The bytes of the response body that were sent. */
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
    this.requestId = requestIdOf(request, parts.requestIds);
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

  /** Computed on first use: small requests with short responses never need it. */
  get party(): Party {
    const surface = this.match?.endpoint.surface ?? "";
    return [surface, this.caller?.organization ?? "", networkOf(this.address)];
  }

  /** Created on first use: most requests are answered at once. */
  get gone(): AbortSignal {
    if (!this.#gone) {
      const gone = (this.#gone = new AbortController());
      this.onGone((error) => gone.abort(error));
    }
    return this.#gone.signal;
  }

  onGone(listener: (error: ClientGone) => void): void {
    const onClose = (): void => {
      if (!this.response.writableFinished)
        listener(new ClientGone("The client left before it was answered"));
    };
    if (this.response.destroyed) onClose();
    else this.response.on("close", onClose); // it comes once; `once` would take more memory
  }

  onFollowed(listener: () => void): void {
    onFollowed(this.response, listener);
  }

  /** Whether the credentials must be checked again: for a change, or a second or longer after they were accepted. */
  get isToRecheck(): boolean {
    if (this.caller?.actor === undefined) return false;
    if (this.endpoint.row.change) return true;
    return Math.abs(this.parts.now() - this.acceptedAt) >= SECOND_MS; // the clock may be set back
  }

  recheck(): Awaitable<void> {
    if (this.isToRecheck) return whenReady(this.resolveCaller(), () => undefined);
  }

  resolveCaller(): Awaitable<Caller> {
    const { row, surface } = this.endpoint;
    return this.parts.resolveCaller(row, surface, this.credentials);
  }

  acceptance(): AcceptanceCheck {
    const { resolveCaller } = this.parts;
    const { row, surface } = this.endpoint;
    const { credentials } = this;
    const organization = this.caller?.organization;
    return () => isAccepted(() => resolveCaller(row, surface, credentials), organization);
  }

  /**
   * Waits for a turn to make a large answer.
   *
   * @param begin called when the turn comes, or with the reason if the turn is refused
   * @throws Unavailable when too many requests wait already
   */
  takeTurn(turns: Turns, begin: (reason?: unknown) => void): void {
    const onTurn = (end: () => void): void => {
      this.#endTurn = end;
      begin();
    };
    const { response } = this;
    const { socket } = this.request; // the response drops its socket when it ends
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

  /** Lets the next large body be processed. */
  releaseBudget(): void {
    this.freeBudget?.();
    this.freeBudget = undefined;
  }

  /** Ends the turn, if there is one. */
  endTurn(): void {
    this.#endTurn?.();
  }

  /**
   * Frees the request's resources, and reports its outcome. Runs once for each request.
   *
   * @param error why the request was refused or failed; a disconnected reader is not a failure
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
      isChange: row !== undefined && row.method !== "GET" && !row.report && !row.question,
      durationMs: stopwatch && startedAt !== undefined ? stopwatch() - startedAt : undefined,
      contentLength: request.headers["content-length"],
      bytesSent: this.bytesSent,
      error,
    });
  }

  /**
   * The status that was sent, or the status of the refusal that `server.ts` wrote directly to the
   * socket. Otherwise 499 if the client disconnected, and 500 if the response was cut off.
   */
  #sentStatus(error: unknown): number {
    // The headers of a stream are sent with its first bytes.
    const { headersSent, destroyed, statusCode } = this.response;
    const isSent = headersSent && !(destroyed && this.bytesSent === 0);
    if (isSent || statusCode >= 400) return statusCode;
    return error === undefined || error instanceof Refusal ? CLIENT_GONE : 500;
  }
}
