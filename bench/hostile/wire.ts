/** Clients that misbehave on purpose: they send half of what they promised, or read nothing back. */
import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";

/**
 * Opens a connection and sends these bytes; a reset is an end like another.
 *
 * @param localAddress another one of 127.0.0.0/8 is another client
 */
export async function open(url: string, bytes = "", localAddress = "127.0.0.1"): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  socket.on("error", () => {});
  await once(socket, "connect");
  if (bytes !== "") socket.write(bytes);
  return socket;
}

/** A GET whose answer is never read, but for what the system takes by itself. */
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
 * Sends a JSON body of several pieces as fast as it is taken, and reads the answer without keeping it.
 *
 * @returns the status, or 0 where the server closed without an answer
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
    if (socket.destroyed || start !== "") break; // answered already: the rest is not wanted
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

/** The answer to a request on a connection of its own, and how long it took from dialling on. */
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
  readonly body?: string;
  /** Gives up after so long; the status is 0 then, as where the server cuts the connection. */
  readonly longestMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly localAddress?: string;
}

interface TimedAnswer {
  readonly status: number;
  readonly ms: number;
}
