/**
 * Reads request bodies: bounded each by itself and all together, inflated where they are gzip, and
 * given on by call-back, since a promise here would cost a tenth of what ingest can do.
 */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import {
  BadInput,
  TooLarge,
  Unavailable,
  UnsupportedMediaType,
  type Refusal,
} from "../core/errors.ts";
import { parseJson } from "../core/json.ts";
import type { BodyBudget } from "./body-budget.ts";
import { Pieces } from "./pieces.ts";

/** Takes the parsed body, or the refusal. */
export type BodyDone = (error: unknown, value?: unknown) => void;

/**
 * Judges a body by its headers alone, before any of it is asked for: `UnsupportedMediaType` (not
 * JSON, or an encoding other than gzip), `TooLarge` (as declared), or `BadInput` where there is none.
 */
export function bodyRefusal(request: IncomingMessage, maxBytes: number): Refusal | undefined {
  const { headers } = request;
  const type = headers["content-type"];
  const length = declaredLength(request);
  if (headers["transfer-encoding"] === undefined && (length === undefined || length === 0)) {
    return type === undefined || isJson(type) ? new BadInput("A JSON body is required") : notJson();
  }
  if (!isJson(type)) return notJson();
  if (length !== undefined && length > maxBytes) return tooLarge(maxBytes);
  const encoding = encodingOf(request);
  if (encoding === "gzip" || encoding === "identity") return undefined;
  return new UnsupportedMediaType("Content-Encoding: expected gzip, or none");
}

/**
 * Reads a JSON body that `bodyRefusal` has let pass. Calls `done` once, or never when the client
 * goes away before the end. The errors are `TooLarge` (received or inflated), `Unavailable` (the
 * budget is used up) and `BadInput`.
 */
export function readJsonBody(
  request: IncomingMessage,
  maxBytes: number,
  budget: BodyBudget,
  done: BodyDone,
): void {
  if (encodingOf(request) === "gzip") collectInflated(request, maxBytes, budget, done);
  else collect(request, declaredLength(request), maxBytes, budget, done);
}

function declaredLength(request: IncomingMessage): number | undefined {
  const declared = request.headers["content-length"];
  return declared === undefined ? undefined : Number(declared);
}

function encodingOf(request: IncomingMessage): string {
  return request.headers["content-encoding"]?.trim().toLowerCase() || "identity";
}

function collect(
  source: Readable,
  length: number | undefined,
  maxBytes: number,
  budget: BodyBudget,
  done: BodyDone,
): void {
  const pieces = new Pieces(budget);
  let ended = false;
  const finish = (error: unknown, bytes?: Buffer): void => {
    if (ended) return;
    ended = true;
    pieces.free();
    if (bytes) parse(bytes, done);
    else if (error) done(error);
  };
  source.on("data", (chunk: Buffer) => {
    if (ended) return; // what follows a refusal is read and thrown away
    // Most bodies come whole in one piece, and are never held while others arrive.
    if (pieces.length === 0 && chunk.length === length) return finish(undefined, chunk);
    if (pieces.length === 0) source.on("close", () => finish(undefined)); // gone: free what it held
    if (pieces.length + chunk.length > maxBytes) return finish(tooLarge(maxBytes));
    if (!pieces.add(chunk)) finish(tooBusy());
  });
  source.on("end", () => finish(undefined, pieces.join()));
}

function collectInflated(
  request: IncomingMessage,
  maxBytes: number,
  budget: BodyBudget,
  done: BodyDone,
): void {
  const inflate = createGunzip();
  let ended = false;
  const once: BodyDone = (error, value) => {
    if (ended) return;
    ended = true;
    if (error) {
      request.unpipe(inflate);
      request.resume();
      inflate.destroy();
    }
    done(error, value);
  };
  inflate.on("error", () => once(new BadInput("The body is not valid gzip")));
  request.on("close", () => {
    if (!request.complete) inflate.destroy(); // the client has gone: free what it held
  });
  collect(inflate, undefined, maxBytes, budget, once);
  request.pipe(inflate);
}

function parse(bytes: Buffer, done: BodyDone): void {
  let value: unknown;
  try {
    if (!isUtf8(bytes)) throw new BadInput("The body is not valid UTF-8");
    if (bytes.length === 0) throw new BadInput("A JSON body is required");
    value = parseJson(bytes.toString("utf8"));
  } catch (error) {
    return done(error);
  }
  done(undefined, value);
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
}

function notJson(): UnsupportedMediaType {
  return new UnsupportedMediaType("Content-Type: expected application/json");
}

function tooLarge(maxBytes: number): TooLarge {
  return new TooLarge(`The body is larger than ${maxBytes} bytes, the most accepted here`);
}

function tooBusy(): Unavailable {
  return new Unavailable("Too many large bodies are being received at once: try again shortly", 1);
}
