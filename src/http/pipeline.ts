/**
 * HTTP pipelining: a client may send requests before the last one was answered (RFC 9112 §9.3.2).
 * Node emits all of them at once. A few KiB could then request thousands of long answers, and each
 * of them would be made and wait in memory for those before it. Here a request begins when the
 * response to the previous one was sent.
 */
import type { RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** The last response of every connection; `undefined` before its first request. */
export type Latest = Map<Duplex, ServerResponse | undefined>;

/** A connection with more waiting requests is closed. Browsers do not pipeline; other clients send a few. */
export const MAX_WAITING_REQUESTS = 64;

/**
 * Makes a listener that gets the requests of each connection one after the other. When the connection is cut,
 * it gets those that wait as well: they are counted and logged, and not carried out.
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
    socket.pause(); // back-pressure: the client keeps what it would send
    before.once("finish", () => {
      const begin = line.shift();
      if (line.length === 0) socket.resume(); // the body of the waiting request may not have arrived yet
      begin?.();
    });
  };
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
 * Whether a response on this connection is due or half sent. The client would take any bytes
 * written now for that response, so invalid bytes behind such a request are not answered.
 */
export function isAnswering(response: ServerResponse | undefined): boolean {
  if (!response || response.writableFinished) return false;
  return response.headersSent || response.req.complete;
}
