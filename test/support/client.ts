import { Agent, request as send, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";

export type SentHeaders = Readonly<Record<string, string>>;

/** The response to a request. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or `undefined` if the response is not JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the contract check knows its shape
  readonly body: any;
  readonly text: string;
}

/** The body of a request: a value is sent as JSON, a text or bytes unchanged, `undefined` as no body. */
export type SentBody = unknown;

/**
 * A connection is not used again this long after its last request was sent: the server closes idle connections
 * after 65 seconds. The agent's own timeout would not do: while a test occupies the process for that long, its
 * timers do not run, and the next request goes out before them, on a connection that the server is about to close.
 */
const REUSED_MS = 30_000;

/** A small HTTP client that sends a path exactly as given: `fetch` would normalize it. */
export class Client {
  readonly #now: () => number;
  readonly #agent = new Agent({ keepAlive: true });
  /** The time at which the last request was sent on each connection. */
  readonly #usedAt = new WeakMap<Socket, number>();

  /** @param now the time in milliseconds, from any beginning */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Sends one request and reads the whole answer. */
  async request(
    url: string,
    method: string,
    path: string,
    body?: SentBody,
    headers: SentHeaders = {},
  ): Promise<Answer> {
    const bytes = bytesOf(body);
    const { hostname, port } = new URL(url);
    const sent: Record<string, string> = { ...lowerCased(headers) };
    if (bytes !== undefined) {
      sent["content-type"] ??= "application/json";
      if (sent["transfer-encoding"] === undefined) sent["content-length"] ??= String(bytes.length);
    }
    this.#closeIdle();
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = send({ hostname, port, method, path, headers: sent, agent: this.#agent });
      outgoing.once("response", resolve).once("error", reject);
      outgoing.once("socket", (socket) => this.#usedAt.set(socket, this.#now()));
      outgoing.end(bytes);
    });
    return answerOf(response, await buffer(response));
  }

  close(): void {
    this.#agent.destroy();
  }

  #closeIdle(): void {
    const oldest = this.#now() - REUSED_MS;
    for (const socket of Object.values(this.#agent.freeSockets).flat()) {
      if (socket && (this.#usedAt.get(socket) ?? 0) < oldest) socket.destroy();
    }
  }
}

function bytesOf(body: SentBody): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body), "utf8");
}

function lowerCased(headers: SentHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function answerOf(response: IncomingMessage, bytes: Buffer): Answer {
  const headers = new Headers();
  for (let i = 0; i < response.rawHeaders.length; i += 2) {
    headers.append(response.rawHeaders[i] ?? "", response.rawHeaders[i + 1] ?? "");
  }
  const text = bytes.toString("utf8");
  const isJson = /^application\/json\b/.test(headers.get("content-type") ?? "") && text !== "";
  const body: unknown = isJson ? JSON.parse(text) : undefined;
  return { status: response.statusCode ?? 0, headers, body, text };
}
