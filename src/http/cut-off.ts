import type { Duplex } from "node:stream";

type Parser = Record<string, unknown>;

/** The property by which Node's parser hands over the head of a request. */
const HEAD = "onIncoming";
/** The functions that the parser calls for headers, for a head that has ended, and for a piece of a body. */
const CALLED = new Set<unknown>(["parserOnHeaders", "parserOnHeadersComplete", "parserOnBody"]);

/** Closes a connection, and makes Node drop what it has read from it. */
export function cutOff(socket: Duplex): void {
  dropRest(socket);
  socket.destroy();
}

/**
 * Makes Node drop what it has read, and will read, from a connection that is being closed. It reads up to 64 KiB at a time,
 * over a thousand small requests or ten thousand chunks of a body, and makes the objects of each, although the connection
 * is closed: a hundred connections held up all others for seconds. Node has no other way to stop that than its parser's own
 * properties.
 */
export function dropRest(socket: Duplex): void {
  const { parser } = socket as { readonly parser?: Parser | null };
  if (typeof parser?.[HEAD] === "function") parser[HEAD] = () => 0; // 0: read on
  if (!parser) return;
  for (const [key, called] of Object.entries(parser)) {
    if (typeof called !== "function" || !CALLED.has(called.name)) continue;
    parser[key] = undefined; // without it the parser makes no objects
    // Node uses the parser again, and sets only `onIncoming` anew.
    socket.once("close", () => (parser[key] = called));
  }
}
