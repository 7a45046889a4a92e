/**
 * The life of a request: find its row, resolve its caller, read its body, call the handler, answer.
 * A step whose result is ready calls the next one directly; only a step that must wait returns to
 * the event loop. A promise for each step would cost a tenth of the hot path.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { DEFAULT_ORGANIZATION, type Awaitable, type Caller } from "../core/caller.ts";
import { Forbidden, NotFound, refusalOf } from "../core/errors.ts";
import { abandonBody } from "./bodies/abandon-body.ts";
import { bodyRefusal, checkBody, readJsonBody } from "./bodies/body.ts";
import { originHeaders } from "./cors.ts";
import { Exchange } from "./exchange.ts";
import type { ListenerParts } from "./listener-parts.ts";
import { optionsHeaders } from "./options.ts";
import { readQuery } from "./query.ts";
import { checkAuthorization, checkHead, dropBody, pickHeaders, splitTarget } from "./request.ts";
import { discard, empty, StreamReply } from "./reply.ts";
import { refuse, respond } from "./respond.ts";
import type { Route } from "./route.ts";
import { ClientGone } from "./waiting-client.ts";

type AnyInput = Parameters<Route<unknown>["handle"]>[0];

const NOT_RECORDED = (): void => {};
/**
 * One for all: a connection that is cut may have 64 waiting requests, and a stack trace of each takes longer than the
 * rest.
 */
const GONE_BEFORE_ITS_TURN = new ClientGone("The client left before its turn");
/** A longer path is not read for a client that has left; the paths of routes with their parameters are shorter. */
const PATH_OF_A_ROUTE = 1_024;

/** Creates the listener for `node:http`. */
export function createListener<Needs>(
  parts: ListenerParts<Needs>,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (request.socket.destroyed) response.destroy(); // Node destroys only the response that it was sending
    begin(new Exchange(parts, request, response));
  };
}

function begin<Needs>(exchange: Exchange<Needs>): void {
  const { parts, request } = exchange;
  try {
    const { method = "", headers } = request;
    const { origin } = headers;
    if (origin !== undefined && parts.isAllowedOrigin(origin)) {
      exchange.originHeaders = originHeaders(origin);
    }
    checkHead(request, parts.isAllowedHost);
    const { path, search } = splitTarget(request.url ?? "");
    exchange.search = search;
    if (method === "OPTIONS") return answerOptions(exchange, path);

    const isGone = exchange.response.destroyed;
    if (isGone && path.length > PATH_OF_A_ROUTE) throw GONE_BEFORE_ITS_TURN;
    exchange.match = parts.router.find(method, path); // for the log, too
    if (isGone) throw GONE_BEFORE_ITS_TURN;
    const { row, surface } = exchange.match.endpoint;
    parts.admit?.(row, surface, exchange.address);
    const caller = resolveCaller(exchange);
    if (!(caller instanceof Promise)) return withCaller(exchange, caller);
    caller
      .then((known) => withCaller(exchange, known))
      .catch((error: unknown) => fail(exchange, error));
  } catch (error) {
    const isUnknownPath = error instanceof NotFound && request.method !== "OPTIONS";
    const page = isUnknownPath ? parts.missingPage?.(request) : undefined;
    if (page) answer(exchange, page);
    else fail(exchange, error);
  }
}

function answerOptions<Needs>(exchange: Exchange<Needs>, path: string): void {
  const { "access-control-request-method": wanted } = exchange.request.headers;
  const isPreflight = wanted !== undefined && exchange.originHeaders.length > 0;
  answer(exchange, empty(204, optionsHeaders(exchange.parts.router, path, isPreflight)));
}

function resolveCaller<Needs>(exchange: Exchange<Needs>): Awaitable<Caller> {
  const { authorization } = exchange.credentials;
  if (authorization !== undefined && exchange.endpoint.surface === "v1") {
    checkAuthorization(exchange.request);
  }
  return exchange.resolveCaller();
}

function withCaller<Needs>(exchange: Exchange<Needs>, caller: Caller): void {
  const { request, endpoint, parts } = exchange;
  const { row } = endpoint;
  exchange.caller = caller;
  if (caller.actor !== undefined) exchange.acceptedAt = parts.now();
  if (row.defaultOnly !== undefined && caller.organization !== DEFAULT_ORGANIZATION) {
    throw new Forbidden(row.defaultOnly);
  }
  if (row.body === undefined) {
    dropBody(request); // before the answer, which may come late
    return handle(exchange, undefined);
  }
  const { maxBodyBytes, bodyBudget } = parts;
  const refusal = bodyRefusal(request, maxBodyBytes);
  if (refusal) return fail(exchange, refusal);
  if (exchange.awaitsContinue) {
    exchange.awaitsContinue = false;
    exchange.response.writeContinue();
  }
  const limits = {
    maxBytes: maxBodyBytes,
    budget: bodyBudget,
    sender: exchange,
    mendsTexts: row.report === true,
  };
  readJsonBody(request, limits, (error, value, release) => {
    exchange.freeBudget = release;
    if (error) fail(exchange, error);
    else handle(exchange, value);
  });
}

function handle<Needs>(exchange: Exchange<Needs>, value: unknown): void {
  try {
    const { request, caller, parts } = exchange;
    const { row, surface } = exchange.endpoint;
    const input = {
      organization: caller?.organization,
      actor: caller?.actor,
      token: caller?.token,
      surface,
      isHead: request.method === "HEAD",
      params: exchange.match?.params,
      query: row.query ? readQuery(row.query, exchange.search) : undefined,
      headers: row.headers ? pickHeaders(request, row.headers) : undefined,
      body: row.body && checkBody(row.body, value),
      address: exchange.address,
      requestId: exchange.requestId,
      client: exchange,
      note: NOT_RECORDED,
    } as unknown as AnyInput;
    const turn = row.turn ? row.turn(input) : row.large;
    if (turn === undefined) return callHandler(exchange, input);
    exchange.takeTurn(parts.turns[turn], (reason) => {
      if (reason) fail(exchange, reason);
      else callHandler(exchange, input);
    });
  } catch (error) {
    fail(exchange, error);
  }
}

/**
 * Calls the handler. For a change by a user or a key, the credentials are looked up again first: they may have ended while
 * the client sent its body slowly, or while the request waited for its turn. So are those of any request that took a
 * second until here.
 */
function callHandler<Needs>(exchange: Exchange<Needs>, input: AnyInput): void {
  if (!exchange.isToRecheck) return runHandler(exchange, input);
  try {
    const caller = exchange.resolveCaller();
    if (!(caller instanceof Promise)) return runHandler(exchange, input);
    caller.then(
      () => runHandler(exchange, input),
      (error: unknown) => fail(exchange, error),
    );
  } catch (error) {
    fail(exchange, error);
  }
}

function runHandler<Needs>(exchange: Exchange<Needs>, input: AnyInput): void {
  try {
    const { row } = exchange.endpoint;
    const answered = row.handle(input, exchange.parts.services);
    if (!(answered instanceof Promise)) return answer(exchange, answered);
    if (!row.holdsBody) exchange.releaseBudget();
    answered.then(
      (value) => answer(exchange, value),
      (error: unknown) => fail(exchange, error),
    );
  } catch (error) {
    fail(exchange, error);
  }
}

function answer<Needs>(exchange: Exchange<Needs>, value: unknown): void {
  if (exchange.isAnswered) return discard(value); // the first answer stands
  if (!exchange.match) dropBody(exchange.request); // of a page or of OPTIONS
  try {
    respond(exchange, value);
  } catch (error) {
    discard(value);
    return fail(exchange, error);
  }
  exchange.isAnswered = true;
  if (!(value instanceof StreamReply)) exchange.finish(undefined);
  else if (exchange.endpoint.row.large !== "sent") exchange.endTurn();
}

function fail<Needs>(exchange: Exchange<Needs>, error: unknown): void {
  if (exchange.isAnswered) return;
  exchange.isAnswered = true;
  exchange.awaitBody = abandonBody(exchange.request, exchange.awaitsContinue);
  refuse(exchange, refusalOf(error));
  exchange.finish(error);
}
