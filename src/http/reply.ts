/**
 * Replies: the results of handlers for which a plain value (a 200 with JSON) is not enough. Replies
 * are data; only `respond.ts` writes to the response.
 */
import { once } from "node:events";
import type { Writable } from "node:stream";
import { eachPiece, type Pieces } from "../core/pieces.ts";
import type { Party } from "../core/scheduling/fair-share.ts";
import { Yielder } from "../core/scheduling/yielder.ts";

/** A flat list of header names and values, for `writeHead`. */
export type HeaderList = readonly string[];

const NO_HEADERS: HeaderList = [];
/** Longer JSON lists are written in parts of as many rows. */
const ROWS_AT_ONCE = 100;

/** A response with its own status: one of the kinds below. */
export type Reply = JsonReply | TextReply | StreamReply;

/** A value that is sent as JSON. */
export class JsonReply {
  readonly status: number;
  readonly value: unknown;

  constructor(status: number, value: unknown) {
    this.status = status;
    this.value = value;
  }
}

/** The part of a response's headers that is the same for every request. */
export interface PreparedHead {
  readonly headers: HeaderList;
  /** The length of the body in bytes. */
  readonly length: number;
}

/** Text or bytes. A list of buffers saves the copy that joining them would need. */
export type Body = string | Buffer | readonly Buffer[];

/** Text or bytes that are ready to be sent; `undefined` for a response without a body. */
export class TextReply {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: Body | undefined;
  readonly headers: HeaderList;
  /** Computed by `respond.ts` when it first sends the reply; a reply that is sent again reuses it. */
  prepared: PreparedHead | undefined = undefined;

  constructor(
    status: number,
    contentType: string | undefined,
    body: Body | undefined,
    headers: HeaderList,
  ) {
    this.status = status;
    this.contentType = contentType;
    this.body = body;
    this.headers = headers;
  }
}

/** A body that is written piece by piece; `start` is not called for a HEAD request. */
export class StreamReply {
  readonly status = 200;
  readonly contentType: string;
  readonly headers: HeaderList;
  /** Writes the body; an error ends the connection. `signal` fires when the client has disconnected. */
  readonly start: (output: Writable, signal: AbortSignal) => Promise<void>;
  /** Frees the resources of `start`. Called in place of `start` when the body is not sent. */
  readonly discard: () => void;

  constructor(
    contentType: string,
    headers: HeaderList,
    start: (output: Writable, signal: AbortSignal) => Promise<void>,
    discard: () => void,
  ) {
    this.contentType = contentType;
    this.headers = headers;
    this.start = start;
    this.discard = discard;
  }
}

/** Frees the resources of an answer that will not be sent. */
export function discard(answer: unknown): void {
  if (answer instanceof StreamReply) answer.discard();
}

/** Receives the answer or an error. Call it once. */
export type Settle = (error: unknown, answer?: unknown) => void;

/** Sends a value as JSON with a status. */
export function reply(status: number, value: unknown): Reply {
  return new JsonReply(status, value);
}

/** Sends a text that is already JSON; `headers` replace `Cache-Control: no-store`. */
export function json(status: number, body: Body, headers: HeaderList = NO_HEADERS): Reply {
  return new TextReply(status, "application/json; charset=utf-8", body, headers);
}

/** Sends JSON around a middle that is already JSON: at once if the middle is one buffer, otherwise piece by piece. */
export function jsonAround(before: string, middle: Buffer | Pieces, after: string): Reply {
  if (Buffer.isBuffer(middle)) {
    return json(200, [Buffer.from(before), middle, Buffer.from(after)]);
  }
  const send = async (output: Writable, signal: AbortSignal): Promise<void> => {
    output.write(before);
    await sendPieces(middle, output, signal);
    output.write(after);
  };
  return streamOf("application/json; charset=utf-8", middle, send);
}

/** Writes pieces at the reader's pace; rejects when the client has disconnected. */
function sendPieces(
  pieces: AsyncIterable<Buffer | string>,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  return eachPiece(pieces, async (piece) => {
    signal.throwIfAborted();
    if (!output.write(piece)) await once(output, "drain", { signal });
  });
}

/**
 * Sends JSON that is generated while it is sent, at the reader's pace.
 *
 * @param close frees what the pieces are made of; called when they were sent, or if they will not be sent
 */
export function jsonPieces(
  pieces: () => AsyncIterable<string>,
  headers: HeaderList,
  close = (): void => {},
): Reply {
  const send: StreamReply["start"] = (output, signal) => sendPieces(pieces(), output, signal);
  return streamOf("application/json; charset=utf-8", { close }, send, headers);
}

/**
 * Answers `{ "<name>": [row, …] }`. A long list is written in slices of work, while it is sent.
 *
 * @param party the client whose turns the slices take
 */
export function jsonList<T>(
  name: string,
  rows: readonly T[],
  shown: (row: T) => object,
  party: Party,
): Reply {
  const parts = (): AsyncGenerator<string> => partsOf(name, rows, shown, party);
  if (rows.length > ROWS_AT_ONCE) return jsonPieces(parts, NO_HEADERS);
  return json(200, JSON.stringify({ [name]: rows.map(shown) }));
}

async function* partsOf<T>(
  name: string,
  rows: readonly T[],
  shown: (row: T) => object,
  party: Party,
): AsyncGenerator<string> {
  const yielder = new Yielder(undefined, party);
  let lead = `{"${name}":[`;
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    await yielder.step();
    const part = rows.slice(at, at + ROWS_AT_ONCE);
    yield lead + part.map((row) => JSON.stringify(shown(row))).join(",");
    lead = ",";
  }
  yield "]}";
}

/** Sends text of any media type. */
export function text(
  status: number,
  contentType: string,
  body: string | Buffer,
  headers: HeaderList = NO_HEADERS,
): Reply {
  return new TextReply(status, contentType, body, headers);
}

/** Sends a response without a body: 204, or 304 with the headers that the 200 would have. */
export function empty(status: number, headers: HeaderList = NO_HEADERS): Reply {
  return new TextReply(status, undefined, undefined, headers);
}

/** Sends a body that is written while it is computed. */
export function stream(
  contentType: string,
  start: StreamReply["start"],
  headers: HeaderList = NO_HEADERS,
): Reply {
  return new StreamReply(contentType, headers, start, () => {});
}

/**
 * Sends a body that consists of pieces. Closes the pieces when they were sent, or if they will not be sent. The response is
 * cut as soon as the pieces are lost, even if its reader takes nothing.
 */
export function streamOf(
  contentType: string,
  pieces: Pick<Pieces, "close" | "lost">,
  send: StreamReply["start"],
  headers: HeaderList = NO_HEADERS,
): Reply {
  const { lost } = pieces;
  const start: StreamReply["start"] = async (output, signal) => {
    try {
      await send(output, lost ? AbortSignal.any([signal, lost]) : signal);
    } catch (error) {
      lost?.throwIfAborted();
      throw error;
    } finally {
      pieces.close();
    }
  };
  return new StreamReply(contentType, headers, start, () => pieces.close());
}

/** Sends an answer that a store delivers through a call-back. */
export function later(start: (settle: Settle) => void): Promise<Reply> {
  return new Promise((resolve, reject) => {
    start((error, answer) => {
      if (error) reject(error as Error);
      else resolve(answer as Reply);
    });
  });
}
