/**
 * HTTP pipelining: a client may send requests before the last one was answered (RFC 9112 §9.3.2).
 * Node emits all of them at once. A few KiB could then request thousands of long answers, which would all
 * be made and wait in memory for their turn. Here a request begins only when the response to the previous
 * request was sent. Waiting requests are in memory, so their number and their size are limited: pausing the
 * socket would not hold them back, since Node resumes it at the end of every request.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { networkOf } from "../core/address.ts";
import { FairShare, type Holding } from "../core/scheduling/fair-share.ts";
import { cutOff, dropRest } from "./cut-off.ts";
import { hasTooManyHeaders } from "./request.ts";
import type { RequestInPieces } from "./request-in-pieces.ts";
import { beginAhead, beginInTurn } from "./turns-of-the-loop.ts";

/** The last response of every connection; `undefined` before its first request. */
export type Latest = Map<Duplex, ServerResponse | undefined>;

/** A connection with more waiting requests is closed. Browsers do not pipeline; other clients send a few. */
export const MAX_WAITING_REQUESTS = 64;
/**
 * The same while many new connections wait to be read. To read 50 requests takes most of a millisecond, and where 1,500
 * connections a second sent as many from 200 addresses, those of other addresses waited for over six seconds.
 */
export const MAX_WAITING_IN_CROWD = 8;
/** The same for their headers and trailers together: Node makes an entry of each, which takes longer than the rest. */
export const MAX_WAITING_HEADERS = 1_000;
/** The same for the characters of their targets and headers: reading them takes longer than the rest. */
export const MAX_WAITING_LENGTH = 256 * 1024;
/** The size of the waiting requests of all connections together. */
export const MAX_WAITING_SIZE = 16 << 20;
/** The memory of a request without its headers and its body. */
const REQUEST_BYTES = 4 * 1024;
/** The most bytes of a body that Node reads before anyone asks for them. */
const MOST_READ_AHEAD = 64 * 1024;

/** The requests that wait on a connection. */
interface Line {
  readonly begins: (() => void)[];
  readonly holding: Holding<Duplex>;
  headers: number;
  length: number;
}

/** The responses behind which another request waits on the same connection. */
const followed = new WeakSet<ServerResponse>();
const FOLLOWED = "followed";

/**
 * Makes a function that wraps the listeners of a server, so that they get the requests of each connection one after the
 * other. When a connection is cut, the listeners also get the waiting requests: they count and log them, but do not carry
 * them out. When all waiting requests are too large together, the newest connection of the address with the most is cut.
 * A request with too many headers is the last one of its connection; where it would have to wait, the connection is cut.
 *
 * @param isByAddress whether the peer is the client; see `Connections`
 */
export function inTurn(
  connections: { readonly latest: Latest; readonly isCrowded: boolean },
  isByAddress: boolean,
): (listener: RequestListener) => RequestListener<typeof RequestInPieces> {
  const { latest } = connections;
  const lines = new WeakMap<Duplex, Line>();
  const shares = new FairShare<Duplex>();
  const lineOf = (socket: Duplex, address = ""): Line => {
    const holding = shares.hold([isByAddress ? networkOf(address) : ""], socket);
    const line: Line = { begins: [], holding, headers: 0, length: 0 };
    lines.set(socket, line);
    socket.once("close", () => {
      holding.close();
      for (const begin of line.begins.splice(0)) begin();
    });
    return line;
  };
  return (listener) => (request, response) => {
    const { socket } = request;
    const before = latest.get(socket);
    if (before?.shouldKeepAlive === false) return dropRest(socket); // its answer is the last one of the connection
    latest.set(socket, response);
    // Node reads all headers of a request, and thousands of them take as long as fifty requests.
    const isExcessive = hasTooManyHeaders(request.rawHeaders);
    if (isExcessive) response.shouldKeepAlive = false;
    const begin = (): void => listener(request, response);
    if (!before || before.writableFinished) {
      return beginInTurn(request, begin, () => sizeOf(request, lengthOf(request)));
    }

    const line = lines.get(socket) ?? lineOf(socket, socket.remoteAddress);
    const { begins, holding } = line;
    const length = lengthOf(request);
    const size = sizeOf(request, length);
    const headers = (request.rawHeaders.length + before.req.rawTrailers.length) / 2;
    begins.push(begin);
    line.headers += headers;
    line.length += length;
    if (
      isExcessive ||
      begins.length > (connections.isCrowded ? MAX_WAITING_IN_CROWD : MAX_WAITING_REQUESTS) ||
      line.headers > MAX_WAITING_HEADERS ||
      line.length > MAX_WAITING_LENGTH ||
      !shares.makeRoom(holding, size, MAX_WAITING_SIZE, cutOff)
    ) {
      return cutOff(socket);
    }
    holding.set(holding.amount + size);
    followed.add(before);
    before.emit(FOLLOWED);
    before.once("finish", () => {
      const next = (): void => {
        holding.set(holding.amount - size);
        line.headers -= headers;
        line.length -= length;
        begins.shift()?.();
      };
      beginAhead(socket, next);
    });
  };
}

/** The bytes that a request takes while it waits. */
function sizeOf(request: IncomingMessage, length: number): number {
  return REQUEST_BYTES + length + readAheadOf(request);
}

/** The characters of a request's target and headers. Reading `headers` would make Node sort all of them. */
function lengthOf({ rawHeaders, url = "" }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length);
}

/** The bytes of a request's body that Node may hold before they are asked for. */
function readAheadOf({ rawHeaders }: IncomingMessage): number {
  let body = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (/^transfer-encoding$/i.test(name)) return MOST_READ_AHEAD;
    if (/^content-length$/i.test(name)) body ||= Number(rawHeaders[i + 1]);
  }
  return Math.min(body, MOST_READ_AHEAD);
}

/**
 * Calls a listener once another request waits behind a response. An answer that can come early then should: its wait
 * would keep the requests behind it, up to 64 with 16 KiB of headers each, in memory on every connection.
 */
export function onFollowed(response: ServerResponse, listener: () => void): void {
  if (followed.has(response)) listener();
  else response.on(FOLLOWED, listener); // it comes once; `once` would take more memory
}

/**
 * Whether a response is due or partly sent on a connection, of which this is the last one. The client would read any
 * bytes written now as part of that response, so invalid bytes after such a request are not answered.
 */
export function isAnswering(response: ServerResponse | undefined): boolean {
  if (!response || response.writableFinished) return false;
  const isBehindAnother = response.socket === null; // Node gives it the socket when its turn comes
  return isBehindAnother || response.headersSent || response.req.complete;
}
