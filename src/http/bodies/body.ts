/**
 * Reads request bodies. The size of each body and of all bodies together is bounded; gzip is inflated.
 * Results are passed to call-backs, since a promise here would cost a tenth of the ingest rate.
 */
import { isAscii, isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { BadInput, TooLarge, UnsupportedMediaType, type Refusal } from "../../core/errors.ts";
import { parseJson } from "../../core/json/json.ts";
import { LONG_JSON_BYTES, parseLongJson } from "../../core/json/long-json.ts";
import {
  findLoneSurrogate,
  LONE_SURROGATE_FAULT,
  mendSurrogates,
} from "../../core/json/surrogates.ts";
import type { Schema } from "../../core/schema.ts";
import { readValue } from "../../core/validate.ts";
import { Yielder } from "../../core/scheduling/yielder.ts";
import { costOf } from "./body-cost.ts";
import { tooBusy, type BodyBudget, type Sender } from "./body-budget.ts";
import { ClientGone } from "../waiting-client.ts";
import { BodyPieces } from "./body-pieces.ts";
import { isCustomBody, type CustomBody } from "../route.ts";

/**
 * Receives the parsed body or the refusal. A large body comes with `release`, which frees its part of the
 * budget. Call it when the request is answered, since other bodies wait for it.
 */
export type BodyDone = (error: unknown, value?: unknown, release?: () => void) => void;

/**
 * Bodies that are larger, or cost more, are processed in turns: each takes some twenty times its size until it is answered,
 * and there may be one on each of 10,000 connections. Other bodies are single events or usual batches of runtimes.
 */
export const LARGE_BODY_BYTES = 16 * 1024;
/** The memory for inflating one body, in addition to its bytes: zlib's window, its state and a piece of output. */
const INFLATER_BYTES = 48 * 1024;
const NO_BODY = "A JSON body is required, {} at least";

/**
 * Checks the headers of a body before it is read. Returns `UnsupportedMediaType` (not JSON, or an
 * encoding other than gzip), `TooLarge` (by `Content-Length`), or `BadInput` if there is no body.
 */
export function bodyRefusal(request: IncomingMessage, maxBytes: number): Refusal | undefined {
  const { headers } = request;
  const type = headers["content-type"];
  const length = declaredLength(request);
  if (headers["transfer-encoding"] === undefined && (length === undefined || length === 0)) {
    return type === undefined || isJson(type) ? new BadInput(NO_BODY) : notJson(type);
  }
  if (!isJson(type)) return notJson(type);
  if (length !== undefined && length > maxBytes) return tooLarge(maxBytes);
  const encoding = encodingOf(request);
  if (encoding === "gzip" || encoding === "identity") return undefined;
  return new UnsupportedMediaType("Content-Encoding: expected gzip, or none");
}

/** The limits of a body, the budget that it uses, and its sender. */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly budget: BodyBudget;
  readonly sender: Sender;
  /**
   * Whether an unpaired surrogate in a text becomes U+FFFD, so that an odd command line does not cost the
   * whole report. Otherwise it is refused: a name must be stored exactly as it was sent.
   */
  readonly mendsTexts: boolean;
}

/**
 * Reads a JSON body that `bodyRefusal` accepted, and calls `done` once. The errors are `TooLarge`
 * (received or inflated), `Unavailable` (the budget is used up, and this sender holds the most of it),
 * `BadInput`, and `ClientGone` when the client disconnects before the end.
 */
export function readJsonBody(request: IncomingMessage, limits: BodyLimits, done: BodyDone): void {
  if (request.destroyed) done(clientGone());
  else if (encodingOf(request) === "gzip") collectInflated(request, limits, done);
  else collect(request, declaredLength(request), limits, done);
}

function clientGone(): ClientGone {
  return new ClientGone("The client left before its body was received");
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
  { maxBytes, budget, sender, mendsTexts }: BodyLimits,
  done: BodyDone,
): void {
  let ended = false;
  let cancelTurn: (() => void) | undefined;
  const finish = (error: unknown, bytes?: Buffer): void => {
    if (ended) return;
    ended = true;
    cancelTurn?.(); // another sender may take its room while it waits
    pieces.free();
    if (bytes) parse(bytes, bytes.length, mendsTexts, done);
    else done(error);
  };
  const pieces = new BodyPieces(budget, sender, finish);
  const finishWhole = (): void => {
    if (ended) return;
    const { cost } = pieces;
    if (cost <= LARGE_BODY_BYTES) {
      const bytes = pieces.join();
      finish(undefined, bytes);
      return pieces.giveBack(bytes);
    }
    cancelTurn = budget.work(sender, cost, (release) => {
      ended = true;
      const bytes = pieces.join();
      pieces.free();
      parse(bytes, cost, mendsTexts, (error, value) => {
        pieces.giveBack(bytes);
        if (error) release();
        done(error, value, error ? undefined : release);
      });
    });
    if (!ended) sender.onGone?.(finish);
  };
  source.on("data", (chunk: Buffer) => {
    if (ended) return; // after a refusal the remaining bytes are read and dropped
    // Most bodies arrive whole in one piece and are not copied.
    const isWhole = pieces.length === 0 && chunk.length === length;
    if (isWhole && length <= LARGE_BODY_BYTES && costOf([chunk]) <= LARGE_BODY_BYTES) {
      return finish(undefined, chunk);
    }
    if (pieces.length + chunk.length > maxBytes) return finish(tooLarge(maxBytes));
    if (!pieces.add(chunk)) finish(tooBusy());
  });
  source.on("end", finishWhole);
  source.on("close", () => {
    if (!ended && !source.readableEnded) finish(clientGone());
  });
}

function collectInflated(request: IncomingMessage, limits: BodyLimits, done: BodyDone): void {
  const { budget, sender } = limits;
  const room = budget.open(sender, () => once(tooBusy()));
  if (!budget.grow(room, INFLATER_BYTES)) {
    room.close();
    request.resume();
    return done(tooBusy());
  }
  const inflate = createGunzip();
  inflate.once("close", () => room.close());
  let ended = false;
  const once: BodyDone = (error, value, release) => {
    if (ended) return release?.();
    ended = true;
    if (error) {
      request.unpipe(inflate);
      request.resume();
      inflate.destroy();
    }
    done(error, value, release);
  };
  inflate.on("error", () => once(new BadInput("The body is not valid gzip")));
  request.on("close", () => {
    // Cut off before its end, even where all of it had arrived: free the inflater and its room in the budget.
    if (!request.readableEnded) inflate.destroy();
  });
  collect(inflate, undefined, limits, once);
  request.pipe(inflate);
}

/** Parses a body. One that takes long is parsed in parts; other requests are served between the parts. */
function parse(bytes: Buffer, cost: number, mendsTexts: boolean, done: BodyDone): void {
  let value: unknown;
  try {
    const isPlain = isAscii(bytes);
    if (!isPlain && !isUtf8(bytes)) throw new BadInput("The body is not valid UTF-8");
    if (bytes.length === 0) throw new BadInput(NO_BODY);
    if (cost > LONG_JSON_BYTES) return parseLong(bytes, mendsTexts, done);
    // Valid UTF-8 contains no surrogates, so an unpaired one can only come from an escape.
    const hasEscapes = bytes.includes("\\u");
    if (hasEscapes && mendsTexts) mendSurrogates(bytes);
    // An ASCII text decoded as latin1 is kept outside the heap, and is faster to make and to parse.
    value = parseJson(bytes.toString(isPlain ? "latin1" : "utf8"));
    if (hasEscapes && !mendsTexts) refuseLoneSurrogates(value);
  } catch (error) {
    return done(error);
  }
  done(undefined, value);
}

function parseLong(bytes: Buffer, mendsTexts: boolean, done: BodyDone): void {
  const parsing = async () => new Yielder().run(parseLongJson(bytes, mendsTexts));
  parsing().then((value) => done(undefined, value), done);
}

function refuseLoneSurrogates(value: unknown): void {
  const place = findLoneSurrogate(value);
  if (place !== undefined) throw new BadInput(`${place}: ${LONE_SURROGATE_FAULT}`);
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === "application/json";
}

/** The refusal for a body that is not JSON. Telemetry exporters send protobuf by default, so it names the setting. */
function notJson(type: string | undefined): UnsupportedMediaType {
  const way = type?.includes("protobuf") ? "; set the protocol of the exporter to http/json" : "";
  return new UnsupportedMediaType(`Content-Type: expected application/json${way}`);
}

function tooLarge(maxBytes: number): TooLarge {
  return new TooLarge(`The body is larger than ${maxBytes} bytes, the most accepted here`);
}

/** Validates a parsed body by its row: by a schema, or by a function. */
export function checkBody(body: Schema | CustomBody<unknown>, value: unknown): unknown {
  return isCustomBody(body) ? body.read(value) : readValue(body, value, "");
}
