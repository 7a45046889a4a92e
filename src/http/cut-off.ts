import type { Duplex } from "node:stream";

type Parser = Record<string, unknown>;

/** The functions of Node's parser that it calls for the head of a request, and for a piece of a body. */
const HEAD = "onIncoming";
const BODY = "parserOnBody";

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
  const name = Object.keys(parser ?? {}).find((key) => nameOf(parser?.[key]) === BODY);
  if (parser && name !== undefined) {
    const body = parser[name];
    parser[name] = undefined;
    // Node uses the parser again, and sets only the other function anew.
    socket.once("close", () => (parser[name] = body));
  }
}

function nameOf(value: unknown): string | undefined {
  return typeof value === "function" ? value.name : undefined;
}
