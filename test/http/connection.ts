import { connect, type Socket } from "node:net";

/** A response as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  /** By lower-case name; the values of a repeated header are joined by `, `. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A client that sends bytes unchanged, and parses the responses. */
export class Connection {
  readonly socket: Socket;
  readonly #ended: Promise<void>;
  #received = Buffer.alloc(0);
  #isOver = false;
  #wake: () => void = () => {};

  /**
   * @param localAddress the client's address: each address in 127.0.0.0/8 is another client
   */
  constructor(port: number, localAddress = "127.0.0.1") {
    this.socket = connect({ port, host: "127.0.0.1", localAddress });
    this.socket.on("data", (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.socket.on("error", () => {}); // a reset counts as an end
    this.#ended = new Promise((resolve) => {
      this.socket.on("close", () => {
        this.#isOver = true;
        this.#wake();
        resolve();
      });
    });
  }

  /** Sends lines joined by CRLF; empty lines must be given too. */
  send(...lines: readonly string[]): void {
    this.socket.write(lines.join("\r\n"));
  }

  /** Sends a body in one write with the headers of a JSON POST. */
  post(path: string, body: string | Buffer, ...headers: readonly string[]): void {
    this.send(
      `POST ${path} HTTP/1.1`,
      "Host: test",
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...headers,
      "",
      "",
    );
    this.socket.write(body);
  }

  /** Resolves with the next response; rejects if the connection ends before it is whole. */
  async next(method = "GET"): Promise<WireAnswer> {
    for (;;) {
      const taken = takeAnswer(this.#received, method, this.#isOver);
      if (taken) {
        this.#received = this.#received.subarray(taken.length);
        return taken.answer;
      }
      if (this.#isOver) throw new Error(`Ended after ${JSON.stringify(this.rest)}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The received bytes that were not taken yet. */
  get rest(): string {
    return this.#received.toString("utf8");
  }

  /** Resolves when the connection has ended. */
  ended(): Promise<void> {
    return this.#ended;
  }
}

function takeAnswer(
  received: Buffer,
  method: string,
  isOver: boolean,
): { readonly answer: WireAnswer; readonly length: number } | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const [statusLine = "", ...lines] = received.toString("latin1", 0, headEnd).split("\r\n");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
  }
  const status = Number(statusLine.split(" ")[1]);
  const rest = received.subarray(headEnd + 4);
  const taken = takeBody(rest, status, method, headers, isOver);
  if (!taken) return undefined;
  return { answer: { status, headers, body: taken.body }, length: headEnd + 4 + taken.length };
}

function takeBody(
  rest: Buffer,
  status: number,
  method: string,
  headers: ReadonlyMap<string, string>,
  isOver: boolean,
): { readonly body: string; readonly length: number } | undefined {
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) {
    return { body: "", length: 0 };
  }
  if (headers.get("transfer-encoding") === "chunked") return takeChunks(rest);
  const declared = headers.get("content-length");
  if (declared === undefined && !isOver) return undefined;
  const length = declared === undefined ? rest.length : Number(declared);
  if (rest.length < length) return undefined;
  return { body: rest.toString("utf8", 0, length), length };
}

function takeChunks(rest: Buffer): { readonly body: string; readonly length: number } | undefined {
  let body = "";
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(rest.toString("latin1", at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (rest.length < end) return undefined;
    if (size === 0) return { body, length: end };
    body += rest.toString("utf8", lineEnd + 2, end - 2);
    at = end;
  }
}
