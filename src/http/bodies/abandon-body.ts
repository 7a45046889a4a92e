import type { IncomingMessage } from "node:http";
import { clearTimeout, setTimeout } from "../../core/timers.ts";

// Unread bodies up to this size are read and dropped, so that the connection can be reused.
const MAX_DRAINED_BYTES = 64 * 1024;
const LINGER_MS = 2_000;

/**
 * Decides what happens to a body that will not be read. Node reads a small body and drops it. A large
 * body ends the connection. So does a body whose client waits for a 100: the next bytes could be that
 * body or another request. The connection is closed only after the client had time to read the response:
 * closing a socket with unread bytes resets the connection, and the client would lose the response.
 *
 * @returns calls back when the connection may be closed; `undefined` if the connection stays open
 */
export function abandonBody(
  request: IncomingMessage,
  awaitsContinue: boolean,
): ((done: () => void) => void) | undefined {
  const { "content-length": length, "transfer-encoding": transfer } = request.headers;
  const isSmall = transfer === undefined && Number(length ?? 0) <= MAX_DRAINED_BYTES;
  if (request.complete || (isSmall && !awaitsContinue)) return undefined;
  request.resume();
  return (done) => {
    const timer = setTimeout(done, LINGER_MS);
    request.once("close", () => {
      clearTimeout(timer);
      done();
    });
  };
}
