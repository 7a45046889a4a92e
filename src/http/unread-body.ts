import type { IncomingMessage } from "node:http";
import { clearTimeout, setTimeout } from "../core/timers.ts";

// Unread bodies up to this size are read on and forgotten, so that the connection stays in use.
const MAX_DRAINED_BYTES = 64 * 1024;
const LINGER_MS = 2_000;

/**
 * Decides what becomes of a body that nobody will read. A small one is read away by Node. A large
 * one ends the connection, as does one that is held back, since nobody can tell whether the next
 * bytes will be it or a request. But not before the client had time to read the answer: a socket
 * that is closed over unread bytes is reset, and the answer would be lost with it.
 *
 * @returns what calls back when the connection may be closed; `undefined` where it stays
 */
export function leaveBody(
  request: IncomingMessage,
  isHeldBack: boolean,
): ((done: () => void) => void) | undefined {
  const { "content-length": length, "transfer-encoding": transfer } = request.headers;
  const isSmall = transfer === undefined && Number(length ?? 0) <= MAX_DRAINED_BYTES;
  if (request.complete || (isSmall && !isHeldBack)) return undefined;
  request.resume();
  return (done) => {
    const timer = setTimeout(done, LINGER_MS);
    request.once("close", () => {
      clearTimeout(timer);
      done();
    });
  };
}
