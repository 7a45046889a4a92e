import type { IncomingMessage } from "node:http";
import { clearTimeout, setTimeout } from "../core/timers.ts";

// Unread bodies up to this size are read on and forgotten, so that the connection stays in use.
const MAX_DRAINED_BYTES = 64 * 1024;
const LINGER_MS = 2_000;

/**
 * Decides what happens to a body that will not be read. Node reads a small one and drops it. A large
 * one ends the connection, and so does one whose client waits for a 100: the next bytes could be that
 * body or another request. The connection is closed only after the client had time to read the answer:
 * a socket that is closed over unread bytes is reset, and the answer would be lost with it.
 *
 * @returns calls back when the connection may be closed; `undefined` where the connection stays open
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
