/**
 * The only code that writes to a response. Headers are passed as one flat list, which Node writes without
 * looking up each header. ASCII text is written as latin1, which needs no encoder.
 */
import type { ServerResponse } from "node:http";
import { SECOND_MS } from "../core/clock.ts";
import type { Refusal } from "../core/errors.ts";
import type { Exchange } from "./exchange.ts";
import { beginLong } from "./long-answers.ts";
import { type Body, JsonReply, type PreparedHead, StreamReply, TextReply } from "./reply.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const NO_HEADERS: readonly string[] = [];
/** A reader that reads no bytes of a long response for this time is disconnected. */
export const STALLED_MS = 120 * SECOND_MS;
/** Shorter responses fit into the buffers of the operating system and hold no memory here. */
const LONG_BYTES = 64 * 1024;
const NO_STORE = ["Cache-Control", "no-store"] as const;

/** Sends the answer of a handler: a reply, or a plain value as a 200. */
export function respond(exchange: Exchange, answer: unknown): void {
  if (answer instanceof TextReply) return send(exchange, answer);
  if (answer instanceof StreamReply) return sendStream(exchange, answer);
  const status = answer instanceof JsonReply ? answer.status : 200;
  const value = answer instanceof JsonReply ? answer.value : answer;
  send(exchange, new TextReply(status, JSON_TYPE, JSON.stringify(value), NO_HEADERS));
}

/** Sends a refusal as `{ "error": message }`, with its detail if it has one. */
export function refuse(exchange: Exchange, refusal: Refusal): void {
  const headers = [...refusal.headers(), ...NO_STORE];
  const error = errorBody(refusal.message);
  const [name, json] = refusal.detail() ?? [];
  const body = json
    ? [Buffer.from(`${error.slice(0, -1)},"${name}":`), Buffer.from(json), Buffer.from("}")]
    : error;
  send(exchange, new TextReply(refusal.status, JSON_TYPE, body, headers));
}

/** The body of every error. */
export function errorBody(message: string): string {
  return JSON.stringify({ error: message });
}

function send(exchange: Exchange, reply: TextReply): void {
  const { response } = exchange;
  if (response.destroyed || response.headersSent) return;
  const { headers, length } = (reply.prepared ??= prepare(reply));
  response.writeHead(reply.status, withExchange(headers, exchange));
  if (reply.body === undefined) {
    response.end();
    return;
  }
  if (response.req.method !== "HEAD") exchange.bytesSent = length;
  const { body } = reply;
  if (length > LONG_BYTES) return beginLong(length, () => sendLong(exchange, body));
  if (exchange.awaitBody) {
    writeParts(response, body);
    exchange.awaitBody(() => response.end());
  } else if (typeof body === "string" && body.length === length) response.end(body, "latin1");
  else if (typeof body === "string" || Buffer.isBuffer(body)) response.end(body);
  else {
    writeParts(response, body);
    response.end();
  }
}

/** Sends bytes instead of text: Node would copy a text again if the socket's buffer is full. */
function sendLong(exchange: Exchange, body: Body): void {
  const { response, awaitBody } = exchange;
  if (response.destroyed) return;
  response.setTimeout(STALLED_MS);
  writeParts(response, body);
  if (awaitBody) awaitBody(() => response.end());
  else response.end();
  if (response.writableLength > 0) exchange.parts.unreadAnswers.add(response, exchange.party);
}

/** Writes all parts in one system call: joining them would copy them. */
function writeParts(response: ServerResponse, body: Body): void {
  response.cork();
  for (const part of partsOf(body)) response.write(part);
  response.uncork();
}

function partsOf(body: Body): readonly Buffer[] {
  if (typeof body === "string") return [Buffer.from(body, "utf8")];
  return Buffer.isBuffer(body) ? [body] : body;
}

function byteLength(body: Body | undefined): number {
  if (body === undefined) return 0;
  if (typeof body === "string" || Buffer.isBuffer(body)) return Buffer.byteLength(body);
  return body.reduce((sum, { length }) => sum + length, 0);
}

function prepare({ contentType, body, headers: own }: TextReply): PreparedHead {
  const length = byteLength(body);
  const headers = completeHeaders(own);
  if (contentType !== undefined) headers.push("Content-Type", contentType);
  if (body !== undefined) headers.push("Content-Length", String(length));
  return { headers, length };
}

function sendStream(exchange: Exchange, reply: StreamReply): void {
  const { response } = exchange;
  if (response.destroyed) {
    reply.discard();
    return exchange.finish(undefined);
  }
  const headers = [...completeHeaders(reply.headers), "Content-Type", reply.contentType];
  response.writeHead(reply.status, withExchange(headers, exchange));
  if (response.req.method === "HEAD") {
    reply.discard();
    response.end();
    return exchange.finish(undefined);
  }
  response.setTimeout(STALLED_MS);
  exchange.parts.unreadAnswers.add(response, exchange.party);
  const { socket } = response.req; // the response drops its socket when it ends
  const sentBefore = socket.bytesWritten;
  const end = (error: unknown): void => {
    exchange.bytesSent = socket.bytesWritten - sentBefore;
    exchange.finish(error);
  };
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const start = async () => reply.start(response, gone.signal); // async: a thrown error becomes a rejection
  start().then(
    () => {
      response.end();
      end(undefined);
    },
    (error: unknown) => {
      // A pending write fails before the connection's close event (ECANCELED from Node 22 on).
      const hasLeft = gone.signal.aborted || socket.destroyed;
      response.destroy(); // the status is sent: only a cut connection shows that the body is incomplete
      end(hasLeft ? undefined : (error ?? new Error("A stream failed")));
    },
  );
}

/** A reply's own headers, and those of every response. */
function completeHeaders(own: readonly string[]): string[] {
  const headers = ["X-Content-Type-Options", "nosniff", ...own];
  let hasVary = false; // a row with its own Vary still varies by origin
  let hasCaching = false;
  for (let i = 0; i < own.length; i += 2) {
    if (own[i] === "Vary") hasVary = (own[i + 1] ?? "").split(/, ?/).includes("Origin");
    else if (own[i] === "Cache-Control") hasCaching = true;
  }
  if (!hasVary) headers.push("Vary", "Origin");
  if (!hasCaching) headers.push("Cache-Control", "no-store");
  return headers;
}

/** Adds the headers that depend on the request, to a copy: a reply that is sent again reuses its list. */
function withExchange(headers: readonly string[], exchange: Exchange): string[] {
  const all = [...headers, "X-Request-Id", exchange.requestId];
  if (exchange.originHeaders.length > 0) all.push(...exchange.originHeaders);
  if (exchange.awaitBody) all.push("Connection", "close");
  return all;
}
