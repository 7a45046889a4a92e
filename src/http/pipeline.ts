/**
 * Requests that come on one connection before the last one was answered (RFC 9112 §9.3.2). Node hands
 * all of them over at once: a few KiB could then ask for thousands of long answers, each of which would
 * be made and wait in memory for those before it. Here the next one begins when the one before has
 * been answered and sent.
 */
import type { RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Every connection, and the last response on it; `undefined` where nothing was asked yet. */
export type Latest = Map<Duplex, ServerResponse | undefined>;

/** A connection on which more requests wait is cut: browsers send none ahead, other clients a few. */
export const MAX_WAITING_REQUESTS = 64;

/** Makes a listener that is given the requests of each connection one after the other. */
export function inTurn(listener: RequestListener, latest: Latest): RequestListener {
  const waiting = new WeakMap<Duplex, number>();
  return (request, response) => {
    const { socket } = request;
    const before = latest.get(socket);
    latest.set(socket, response);
    if (!before || before.writableFinished) return listener(request, response);

    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count > MAX_WAITING_REQUESTS) return void socket.destroy();
    socket.pause(); // what it sends meanwhile stays with the client
    before.once("finish", () => {
      const left = (waiting.get(socket) ?? 1) - 1;
      waiting.set(socket, left);
      if (left === 0) socket.resume(); // its own body may not have arrived yet
      if (!socket.destroyed) listener(request, response);
    });
  };
}

/**
 * Whether a request that was received whole still waits for its answer, or has half of it. What is
 * written between would be taken for that answer, so garbage behind such a request gets none.
 */
export function isAnswering(response: ServerResponse | undefined): boolean {
  if (!response || response.writableFinished) return false;
  return response.headersSent || response.req.complete;
}
