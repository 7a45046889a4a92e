/** Clients that misbehave on purpose: they send half of their request, or read nothing back. */
import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";

/**
 * Opens a connection and sends these bytes; a reset counts as an end.
 *
 * @param localAddress another address in 127.0.0.0/8 is another client
 */
export async function open(url: string, bytes = "", localAddress = "127.0.0.1"): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  socket.on("error", () => {});
  await once(socket, "connect");
  if (bytes !== "") socket.write(bytes);
  return socket;
}

/** A GET whose response is never read, beyond the system's buffers. */
export async function openUnread(
  url: string,
  path: string,
  localAddress?: string,
): Promise<Socket> {
  const ask = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const socket = await open(url, ask, localAddress);
  socket.pause();
  return socket;
}

/** How a body is announced. */
export type Framing = "declared" | "chunked";

/**
 * Sends a JSON body of several pieces as fast as the server takes it, and reads the response
 * without keeping it.
 *
 * @returns the status, or 0 if the server closed without a response
 */
export async function post(
  url: string,
  pieces: readonly Buffer[],
  framing: Framing,
): Promise<number> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const framed = framing === "chunked" ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
  const head = ["POST /api/public/audit HTTP/1.1", "Host: localhost", "Connection: close"];
  const socket = await open(
    url,
    [...head, "Content-Type: application/json", framed, "", ""].join("\r\n"),
  );
  let start = "";
  socket.on("data", (chunk: Buffer) => {
    if (start.length < 12) start += chunk.toString("latin1");
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  for (const piece of pieces) {
    if (socket.destroyed || start !== "") break; // answered already: the rest is not needed
    const sent =
      framing === "declared"
        ? socket.write(piece)
        : (socket.write(`${piece.length.toString(16)}\r\n`),
          socket.write(piece),
          socket.write("\r\n"));
    if (!sent) await Promise.race([once(socket, "drain").catch(() => {}), closed]);
  }
  if (framing === "chunked" && start === "") socket.write("0\r\n\r\n");
  await closed;
  return Number(start.slice(9, 12)) || 0;
}

/** The response to a request on its own connection, and its time including the connect. */
export function timed(
  url: string,
  { method = "GET", body, headers = {}, localAddress = "127.0.0.1", longestMs }: TimedRequest = {},
): Promise<TimedAnswer> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const cut = (): void => resolve({ status: 0, ms: performance.now() - start });
    const failed = longestMs === undefined ? reject : cut;
    const sent = request(
      url,
      {
        method,
        localAddress,
        agent: false,
        headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
      },
      (response) => {
        response.resume();
        response.once("error", failed);
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, ms: performance.now() - start }),
        );
      },
    );
    sent.once("error", failed);
    if (longestMs !== undefined)
      setTimeout(() => sent.destroy(new Error("Gave up")), longestMs).unref();
    sent.end(body);
  });
}

interface TimedRequest {
  readonly method?: string;
  readonly body?: string | Buffer;
  /** A time limit; the status is then 0, as when the server cuts the connection. */
  readonly longestMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly localAddress?: string;
}

interface TimedAnswer {
  readonly status: number;
  readonly ms: number;
}
