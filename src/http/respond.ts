/**
 * The only place that touches a response. Headers go out as one flat list, which Node writes without
 * looking each up; text that is pure ASCII goes out as latin1, which needs no encoder.
 */
import type { ServerResponse } from "node:http";
import type { Refusal } from "../core/errors.ts";
import { JsonReply, StreamReply, TextReply } from "./reply.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const NO_HEADERS: readonly string[] = [];
const NO_STORE = ["Cache-Control", "no-store"] as const;

/** What a response needs to know of its request. */
export interface Exchange {
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Cross-origin headers of an allowed origin; empty for everybody else. */
  readonly originHeaders: readonly string[];
  /**
   * Set where a large body was left unread: the connection is to be closed, but only after this has
   * called back, so that the client can read the answer before it is reset.
   */
  readonly awaitBody: ((done: () => void) => void) | undefined;
  /** Called when a stream is over, with what made it fail; a reader that leaves is no failure. */
  readonly streamEnded: (error: unknown) => void;
}

/** Sends what a handler answered: a reply, or a plain value as a 200. */
export function respond(exchange: Exchange, answer: unknown): void {
  if (answer instanceof TextReply) {
    const { status, contentType, body, headers } = answer;
    return send(exchange, status, contentType, headers, body);
  }
  if (answer instanceof StreamReply) return sendStream(exchange, answer);
  const status = answer instanceof JsonReply ? answer.status : 200;
  const value = answer instanceof JsonReply ? answer.value : answer;
  send(exchange, status, JSON_TYPE, NO_HEADERS, JSON.stringify(value));
}

/** Sends a refusal as `{ "error": message }`. */
export function refuse(exchange: Exchange, refusal: Refusal): void {
  const body = errorBody(refusal.message);
  send(exchange, refusal.status, JSON_TYPE, [...refusal.headers(), ...NO_STORE], body);
}

/** The body of every error. */
export function errorBody(message: string): string {
  return JSON.stringify({ error: message });
}

function send(
  exchange: Exchange,
  status: number,
  contentType: string | undefined,
  own: readonly string[],
  body: string | Buffer | undefined,
): void {
  const { response } = exchange;
  if (response.destroyed || response.headersSent) return;
  const headers = commonHeaders(exchange, own);
  if (contentType !== undefined) headers.push("Content-Type", contentType);
  if (body === undefined) {
    response.writeHead(status, headers);
    response.end();
    return;
  }
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  headers.push("Content-Length", String(length));
  response.writeHead(status, headers);
  if (exchange.awaitBody) {
    response.write(body);
    exchange.awaitBody(() => response.end());
  } else if (typeof body === "string" && body.length === length) response.end(body, "latin1");
  else response.end(body);
}

function sendStream(exchange: Exchange, reply: StreamReply): void {
  const { response } = exchange;
  if (response.destroyed) return exchange.streamEnded(undefined);
  const headers = commonHeaders(exchange, reply.headers);
  headers.push("Content-Type", reply.contentType);
  response.writeHead(reply.status, headers);
  if (response.req.method === "HEAD") {
    response.end();
    return exchange.streamEnded(undefined);
  }
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const start = async () => reply.start(response, gone.signal); // a throw at once is a failure too
  start().then(
    () => {
      response.end();
      exchange.streamEnded(undefined);
    },
    (error: unknown) => {
      const hasLeft = gone.signal.aborted;
      response.destroy(); // the status is sent: only a cut tells that this is not the whole
      exchange.streamEnded(hasLeft ? undefined : (error ?? new Error("A stream failed")));
    },
  );
}

function commonHeaders(exchange: Exchange, own: readonly string[]): string[] {
  const headers = ["X-Content-Type-Options", "nosniff", "X-Request-Id", exchange.requestId];
  let hasVary = false; // a row that varies by more still varies by origin
  let hasCaching = false;
  for (let i = 0; i < own.length; i += 2) {
    const name = own[i] ?? "";
    const value = own[i + 1] ?? "";
    headers.push(name, value);
    if (name === "Vary") hasVary = value.split(/, ?/).includes("Origin");
    else if (name === "Cache-Control") hasCaching = true;
  }
  if (!hasVary) headers.push("Vary", "Origin");
  if (!hasCaching) headers.push("Cache-Control", "no-store");
  if (exchange.originHeaders.length > 0) headers.push(...exchange.originHeaders);
  if (exchange.awaitBody) headers.push("Connection", "close");
  return headers;
}
