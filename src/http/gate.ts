/**
 * A gate before the listener, for a service that is replaced while the server runs (the demo's
 * reset). New requests wait until the requests in flight are answered. A connection is closed only
 * if its response takes too long.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { SECOND_MS } from "../core/clock.ts";
import type { IdSource } from "../core/ids.ts";
import { clearTimeout, setTimeout } from "../core/timers.ts";
import { errorBody } from "./respond.ts";
import { requestIdOf } from "./request-id.ts";
import type { RequestSummary } from "./request-summary.ts";
import { errorHeaders, refusalSummary } from "./server.ts";

/** The functions of the service behind the gate. */
export interface GateParts {
  /** Whether the service must be replaced before the next request. */
  readonly isDue: () => boolean;
  /** Ends the streams, which do not end by themselves. */
  readonly endStreams: () => void;
  /** Closes the service and starts a new one; called again later if it fails. */
  readonly renew: () => Promise<RequestListener>;
  readonly onFailure: (error: unknown) => void;
  readonly requestIds: IdSource;
  /** Called for each request that the gate refuses. */
  readonly onAnswered: (summary: RequestSummary) => void;
}

const LAST_ANSWERS_MS = 2 * SECOND_MS;
const RETRY_SECONDS = 5;

/** Passes requests on, or makes them wait. */
export class Gate {
  readonly #parts: GateParts;
  #listener: RequestListener;
  #waiting: [IncomingMessage, ServerResponse][] = [];
  readonly #inFlight = new Set<ServerResponse>();
  #whenEmpty: (() => void) | undefined;
  #renewing: Promise<void> | undefined;
  #isBroken = false;

  constructor(parts: GateParts, listener: RequestListener) {
    this.#parts = parts;
    this.#listener = listener;
  }

  /** The listener for `node:http`. */
  readonly listener: RequestListener = (request, response) => {
    this.#renewIfDue(false);
    if (this.#renewing) this.#waiting.push([request, response]);
    else if (this.#isBroken) this.#refuse(request, response);
    else this.#let(request, response);
  };

  /** Replaces the service if this is due or has failed before. Call it at intervals. */
  check(): void {
    this.#renewIfDue(true);
  }

  /** Resolves when no replacement is under way. */
  async idle(): Promise<void> {
    await this.#renewing;
  }

  #renewIfDue(again: boolean): void {
    if (this.#renewing || !(this.#isBroken ? again : this.#parts.isDue())) return;
    this.#renewing = this.#renew().finally(() => {
      this.#renewing = undefined;
      for (const [request, response] of this.#waiting.splice(0)) this.listener(request, response);
    });
  }

  async #renew(): Promise<void> {
    try {
      this.#parts.endStreams();
      await this.#lastAnswers();
      this.#listener = await this.#parts.renew();
      this.#isBroken = false;
    } catch (error) {
      this.#isBroken = true;
      this.#parts.onFailure(error);
    }
  }

  async #lastAnswers(): Promise<void> {
    if (this.#inFlight.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LAST_ANSWERS_MS);
      this.#whenEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#whenEmpty = undefined;
    for (const response of this.#inFlight) response.destroy();
  }

  #let(request: IncomingMessage, response: ServerResponse): void {
    // The listener records the request of a client that has disconnected meanwhile.
    if (request.socket.destroyed) return this.#listener(request, response);
    this.#inFlight.add(response);
    response.once("close", () => {
      this.#inFlight.delete(response);
      if (this.#inFlight.size === 0) this.#whenEmpty?.();
    });
    this.#listener(request, response);
  }

  #refuse(request: IncomingMessage, response: ServerResponse): void {
    request.resume();
    const body = errorBody("The demo is being reset: try again in a moment");
    const requestId = requestIdOf(request, this.#parts.requestIds);
    const headers = errorHeaders(body, requestId);
    response.writeHead(503, [...headers, "Retry-After", String(RETRY_SECONDS)]);
    response.end(body);
    this.#parts.onAnswered(refusalSummary(503, requestId, body, request.method));
  }
}
