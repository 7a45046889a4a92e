import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { SECOND_MS } from "../core/clock.ts";
import type { IdSource } from "../core/ids.ts";
import { Connections } from "./connections.ts";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "../core/timers.ts";
import { inTurn, isAnswering, type Latest } from "./pipeline.ts";
import { dropBody, MOST_HEADERS } from "./request.ts";
import {
  BUSY_WITH_PIECES,
  MOST_SMALL_PIECES,
  RequestInPieces,
  SMALL_PIECE_BYTES,
  SMALL_PIECES,
} from "./request-in-pieces.ts";
import { requestIdOf } from "./request-id.ts";
import type { RequestSummary } from "./request-summary.ts";
import { errorBody } from "./respond.ts";
import { EVERY_METHOD } from "./router.ts";

/** A listening socket. */
export interface Listening {
  /** The IP address and the port that the socket is bound to. */
  readonly bound: AddressInfo;
  /** Stops accepting connections, answers the requests in flight, and resolves when every connection has ended. */
  close(): Promise<void>;
}

/**
 * The new connections that the kernel keeps while the process is busy, as many as Linux allows by default. It drops
 * further ones, whose clients try again after seconds, and resets some of them.
 */
const BACKLOG = 4_096;

/** Limits on the time and the size of a request before it reaches the listener. */
export const LIMITS = {
  // Node checks the timeouts only at this interval, so the timeouts need a short interval.
  connectionsCheckingInterval: SECOND_MS,
  headersTimeout: 10 * SECOND_MS,
  requestTimeout: 60 * SECOND_MS,
  keepAliveTimeout: 65 * SECOND_MS, // above the 60 s of common proxies: the proxy must close first
  maxHeaderSize: 16 * 1024,
  requireHostHeader: false, // the listener checks it, and answers with a body
};
const LAST_ANSWERS_MS = 3 * SECOND_MS;
const IDLE_CHECK_MS = 50;

export interface Address {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The most connections at a time; unlimited if absent. */
  readonly maxConnections?: number;
  /** The number of proxies in front; behind proxies, connections are not counted by address. */
  readonly trustProxy?: number;
  /** Other limits, for tests. */
  readonly limits?: Partial<typeof LIMITS> | undefined;
}

/**
 * Listens on an address. Invalid HTTP is answered with an error in the service's own shape.
 *
 * @param requestIds makes ids for requests that never reach the listener
 * @param onAnswered called for each answer to such a request
 * @throws Error of Node when the address cannot be used (`EADDRINUSE`, `EACCES`, …)
 */
export async function listen(
  listener: RequestListener,
  { host, port, maxConnections = Infinity, trustProxy = 0, limits }: Address,
  requestIds: IdSource,
  onAnswered: (summary: RequestSummary) => void = () => {},
): Promise<Listening> {
  const isByAddress = trustProxy === 0;
  const connections = new Connections(maxConnections, isByAddress);
  const { latest } = connections;
  const begin = inTurn(connections, isByAddress);
  const answer = begin(listener);
  class Incoming extends RequestInPieces {
    override get trustedProxies(): number {
      return trustProxy;
    }
  }
  const server = createServer({ ...LIMITS, IncomingMessage: Incoming, ...limits }, answer);
  server.maxHeadersCount = MOST_HEADERS + 1; // with one more the request is refused: Node drops later headers
  // An option of `net.Server` that those of `http.Server` lack. `connections` reads each in its turn.
  Object.assign(server, { pauseOnConnect: true });
  server.on("connection", (socket) => connections.add(socket));
  server.on("checkContinue", answer); // a refusal is then sent before the client sends the body
  const refuseExpectation = (request: IncomingMessage, response: ServerResponse): void => {
    dropBody(request);
    const body = errorBody("Expect: only 100-continue can be met");
    const requestId = requestIdOf(request, requestIds);
    response.writeHead(417, [...errorHeaders(body, requestId)]);
    response.end(body);
    onAnswered(refusalSummary(417, requestId, body, request.method));
  };
  server.on("checkExpectation", begin(refuseExpectation)); // in its turn, too: thousands of them fit into 64 KiB
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable || isAnswering(latest.get(socket))) {
      socket.destroy();
      return;
    }
    const [status, reason, message] = faultOf(error.code);
    const last = latest.get(socket);
    const response = last?.writableFinished ? undefined : last;
    // For the record of a request with an invalid body, which the listener makes. At the end of the stream the client
    // has disconnected.
    if (response && error.code !== "HPE_INVALID_EOF_STATE") response.statusCode = status;
    const requestId = response ? requestIdOf(response.req, requestIds) : requestIds();
    const later = error.code === BUSY_WITH_PIECES ? ["Retry-After", "1"] : [];
    const body = errorBody(message);
    socket.end(rawResponse(status, reason, body, requestId, later), () => socket.destroy());
    // Not for a connection that is closed unused, such as one that a browser opens ahead.
    if (!response && (socket as Socket).bytesRead > 0) {
      onAnswered(refusalSummary(status, requestId, body));
    }
  });
  server.on("connect", (request: IncomingMessage, socket: Duplex) => {
    socket.on("error", () => {}); // Node has taken its own listener away: a reset would end the process
    if (isAnswering(latest.get(socket))) return void socket.destroy();
    const body = errorBody("This server is not a proxy");
    const requestId = requestIdOf(request, requestIds);
    const refusal = rawResponse(405, "Method Not Allowed", body, requestId, [
      "Allow",
      EVERY_METHOD,
    ]);
    socket.end(refusal, () => socket.destroy()); // Node's timeouts do not apply to it any more
    onAnswered(refusalSummary(405, requestId, body, "CONNECT"));
    // The client does not read its answers: the refusal would wait, and the socket keep 64 KiB of what follows.
    if (socket.writableLength > 0) socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { bound: server.address() as AddressInfo, close: () => closeGently(server, latest) };
}

function closeGently(server: Server, latest: Latest): Promise<void> {
  return new Promise((resolve) => {
    // Node counts a connection without a request as busy, but no response is due there.
    for (const [socket, response] of latest) if (!response) socket.destroy();
    // A connection that was busy when closing began becomes idle after its response.
    const sweep = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    const cut = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
  });
}

/** The headers of a refusal that is sent without `respond.ts`, as a flat list. */
export function errorHeaders(body: string, requestId: string): readonly string[] {
  return [
    ...["Content-Type", "application/json; charset=utf-8"],
    ...["Content-Length", String(Buffer.byteLength(body))],
    ...["X-Content-Type-Options", "nosniff"],
    ...["X-Request-Id", requestId],
    ...["Cache-Control", "no-store"],
    ...["Vary", "Origin"],
    ...["Connection", "close"],
  ];
}

/** The record of a refusal that is sent without `respond.ts`. */
export function refusalSummary(
  status: number,
  requestId: string,
  body: string,
  method = "unknown",
): RequestSummary {
  const bytesSent = Buffer.byteLength(body);
  const unknown = { route: undefined, organization: undefined, contentLength: undefined };
  return {
    ...{ ...unknown, method, status, requestId, bytesSent, isChange: false },
    ...{ durationMs: undefined, error: undefined },
  };
}

/** The whole response to invalid HTTP, for which there is no response object. */
function rawResponse(
  status: number,
  reason: string,
  body: string,
  requestId: string,
  own: readonly string[],
): string {
  const headers = [...errorHeaders(body, requestId), ...own];
  const lines = headers.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join("");
  return `HTTP/1.1 ${status} ${reason}\r\n${lines}\r\n${body}`;
}

function faultOf(code: string | undefined): [status: number, reason: string, message: string] {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return [
        431,
        "Request Header Fields Too Large",
        `The request line and headers are larger than ${LIMITS.maxHeaderSize} bytes`,
      ];
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, "Request Timeout", "The request did not arrive in time"];
    case SMALL_PIECES:
      return [
        400,
        "Bad Request",
        `A body may have at most ${MOST_SMALL_PIECES} chunks of under ${SMALL_PIECE_BYTES} bytes: send larger ones`,
      ];
    case BUSY_WITH_PIECES:
      return [
        503,
        "Service Unavailable",
        "Too many bodies arrive in small chunks at once: send it again later, or in larger chunks",
      ];
    default:
      return [400, "Bad Request", "This is not a well-formed HTTP request"];
  }
}
