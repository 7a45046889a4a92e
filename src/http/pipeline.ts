/**
 * HTTP pipelining: a client may send requests before the last one was answered (RFC 9112 §9.3.2).
 * Node emits all of them at once. A few KiB could then request thousands of long answers, which would all
 * be made and wait in memory for their turn. Here a request begins only when the response to the previous
 * request was sent.
 */
import type { RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** The last response of every connection; `undefined` before its first request. */
export type Latest = Map<Duplex, ServerResponse | undefined>;

/** A connection with more waiting requests is closed. Browsers do not pipeline; other clients send a few. */
export const MAX_WAITING_REQUESTS = 64;

/** The responses behind which another request waits on the same connection. */
const followed = new WeakSet<ServerResponse>();
const FOLLOWED = "followed";

/**
 * Wraps a listener so that it gets the requests of each connection one after the other. When a connection is
 * cut, the listener also gets the waiting requests: it counts and logs them, but does not carry them out.
 */
export function inTurn(listener: RequestListener, latest: Latest): RequestListener {
  const lines = new WeakMap<Duplex, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const before = latest.get(socket);
    latest.set(socket, response);
    if (!before || before.writableFinished) return listener(request, response);

    const line = lines.get(socket) ?? lineOf(socket);
    lines.set(socket, line);
    line.push(() => listener(request, response));
    if (line.length > MAX_WAITING_REQUESTS) return void socket.destroy();
    followed.add(before);
    before.emit(FOLLOWED);
    socket.pause(); // back-pressure: the client must wait before it sends more
    before.once("finish", () => {
      const begin = line.shift();
      if (line.length === 0) socket.resume(); // the body of the waiting request may not have arrived yet
      begin?.();
    });
  };
}

/**
 * Calls a listener once another request waits behind a response. An answer that can come early then should: its wait
 * would keep the requests behind it, up to 64 with 16 KiB of headers each, in memory on every connection.
 */
export function onFollowed(response: ServerResponse, listener: () => void): void {
  if (followed.has(response)) listener();
  else response.once(FOLLOWED, listener);
}

/** The requests that wait on a connection. */
function lineOf(socket: Duplex): (() => void)[] {
  const line: (() => void)[] = [];
  socket.once("close", () => {
    for (const begin of line.splice(0)) begin();
  });
  return line;
}

/**
 * Whether a response on this connection is due or partly sent. The client would read any bytes written now
 * as part of that response, so invalid bytes after such a request are not answered.
 */
export function isAnswering(response: ServerResponse | undefined): boolean {
  if (!response || response.writableFinished) return false;
  return response.headersSent || response.req.complete;
}
