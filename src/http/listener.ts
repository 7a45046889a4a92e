/**
 * The life of a request: find its row, learn its caller, read its body, call the handler, answer.
 * What needs no waiting happens in one go: a step that has its result at once goes straight on, and
 * only a store that must wait gives control back to the event loop.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { networkOf } from "../core/address.ts";
import { DEFAULT_ORGANIZATION, type Awaitable, type Caller } from "../core/caller.ts";
import { Forbidden, InternalError, Refusal } from "../core/errors.ts";
import type { Party } from "../core/fair-share.ts";
import { Client, type AcceptanceCheck, sentStatus } from "./client.ts";
import { bodyRefusal, checkBody, readJsonBody } from "./body.ts";
import { originHeaders } from "./cors.ts";
import type { Credentials, ListenerParts } from "./listener-parts.ts";
import { optionsHeaders } from "./options.ts";
import { readQuery } from "./query.ts";
import { leaveBody } from "./unread-body.ts";
import {
  callerAddress,
  checkAuthorization,
  checkHost,
  pickHeaders,
  splitTarget,
} from "./request.ts";
import { DeferredReply, discard, empty, StreamReply } from "./reply.ts";
import { refuse, respond, type Exchange } from "./respond.ts";
import type { Route } from "./route.ts";
import type { UnreadAnswers } from "./unread-answers.ts";
import type { Endpoint, Match } from "./router.ts";

type AnyInput = Parameters<Route<unknown>["handle"]>[0];

const NO_HEADERS: readonly string[] = [];
const NOT_RECORDED = (): void => {};
const SANE_REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

/** Creates the function that `node:http` calls for each request. */
export function createListener<Needs>(
  parts: ListenerParts<Needs>,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => new Conversation(parts, request, response).run();
}

/** One request and its answer. */
class Conversation<Needs> extends Client implements Exchange {
  readonly requestId: string;
  readonly unreadAnswers: UnreadAnswers;
  originHeaders = NO_HEADERS;
  awaitBody: Exchange["awaitBody"] = undefined;
  bytesSent = 0;
  readonly #parts: ListenerParts<Needs>;
  readonly #request: IncomingMessage;
  readonly #startedAt: number | undefined;
  /** Whether the client waits for a 100 before it sends the body; HTTP/1.0 knows no such thing. */
  #isHeldBack: boolean;
  #search = "";
  #match: Match<Needs> | undefined;
  #caller: Caller | undefined;
  #error: unknown;
  #isAnswered = false;
  /** Set while a large body is worked on, which others wait for. */
  #leaveWork: (() => void) | undefined;

  constructor(parts: ListenerParts<Needs>, request: IncomingMessage, response: ServerResponse) {
    super(response);
    this.#parts = parts;
    this.#request = request;
    this.#startedAt = parts.stopwatch?.();
    this.unreadAnswers = parts.unreadAnswers;
    this.#isHeldBack = request.headers.expect !== undefined && request.httpVersion === "1.1";
    const given = request.headers["x-request-id"];
    this.requestId =
      typeof given === "string" && SANE_REQUEST_ID.test(given) ? given : parts.requestIds();
  }

  run(): void {
    try {
      const { method = "", headers } = this.#request;
      const { origin } = headers;
      if (origin !== undefined && this.#parts.isAllowedOrigin(origin)) {
        this.originHeaders = originHeaders(origin);
      }
      checkHost(this.#request, this.#parts.isAllowedHost);
      const { path, search } = splitTarget(this.#request.url ?? "");
      this.#search = search;
      if (method === "OPTIONS") return this.#answerOptions(path);

      this.#match = this.#parts.router.find(method, path);
      const { row, surface } = this.#match.endpoint;
      this.#parts.admit?.(row, surface, this.#address());
      const caller = this.#resolveCaller();
      if (!(caller instanceof Promise)) return this.#withCaller(caller);
      caller.then((known) => this.#withCaller(known)).catch((error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
  }

  #resolveCaller(): Awaitable<Caller> {
    const { row, surface } = this.#endpoint();
    const credentials = this.#credentials();
    if (credentials.authorization !== undefined && surface === "v1") {
      checkAuthorization(this.#request);
    }
    return this.#parts.resolveCaller(row, surface, credentials);
  }

  #credentials(): Credentials {
    const { authorization, "x-api-key": apiKey } = this.#request.headers;
    return { authorization, apiKey: apiKey as string | undefined };
  }

  acceptance(): AcceptanceCheck {
    const { resolveCaller } = this.#parts;
    const { row, surface } = this.#endpoint();
    const credentials = this.#credentials();
    const organization = this.#caller?.organization;
    return async () => {
      try {
        return (await resolveCaller(row, surface, credentials)).organization === organization;
      } catch (error) {
        if (error instanceof Refusal) return false;
        throw error;
      }
    };
  }

  #withCaller(caller: Caller): void {
    this.#caller = caller;
    const { row } = this.#endpoint();
    if (row.defaultOnly !== undefined && caller.organization !== DEFAULT_ORGANIZATION) {
      throw new Forbidden(row.defaultOnly);
    }
    if (row.body === undefined) return this.#handle(undefined);
    const { maxBodyBytes, bodyBudget } = this.#parts;
    const refusal = bodyRefusal(this.#request, maxBodyBytes);
    if (refusal) return this.#fail(refusal);
    if (this.#isHeldBack) {
      this.#isHeldBack = false;
      this.response.writeContinue();
    }
    const limits = {
      maxBytes: maxBodyBytes,
      budget: bodyBudget,
      sender: this,
      mendsTexts: row.report === true,
    };
    readJsonBody(this.#request, limits, (error, value, leave) => {
      this.#leaveWork = leave;
      if (error) this.#fail(error);
      else this.#handle(value);
    });
  }

  #handle(value: unknown): void {
    try {
      const { row, surface } = this.#endpoint();
      const input = {
        organization: this.#caller?.organization,
        actor: this.#caller?.actor,
        token: this.#caller?.token,
        surface,
        isHead: this.#request.method === "HEAD",
        params: this.#match?.params,
        query: row.query ? readQuery(row.query, this.#search) : undefined,
        headers: row.headers ? pickHeaders(this.#request, row.headers) : undefined,
        body: row.body && checkBody(row.body, value),
        address: this.#address(),
        requestId: this.requestId,
        client: this,
        note: NOT_RECORDED,
      } as unknown as AnyInput;
      if (row.large === undefined || row.isSmall?.(input)) return this.#callHandler(input);
      this.takeTurn(this.#parts.turns[row.large], (reason) => {
        if (reason) this.#fail(reason);
        else this.#callHandler(input);
      });
    } catch (error) {
      this.#fail(error);
    }
  }

  #callHandler(input: AnyInput): void {
    try {
      const answer = this.#endpoint().row.handle(input, this.#parts.services);
      if (answer instanceof Promise) this.#await(answer);
      else this.#answer(answer);
    } catch (error) {
      this.#fail(error);
    }
  }

  #await(answer: Promise<unknown>): void {
    this.#endWork(); // who makes others wait with a promise bounds how many do
    answer.then(
      (value) => this.#answer(value),
      (error: unknown) => this.#fail(error),
    );
  }

  #defer(answer: DeferredReply): void {
    answer.start((error, value) => {
      if (error) this.#fail(error);
      else this.#answer(value);
    });
  }

  #answer(answer: unknown): void {
    if (this.#isAnswered) return discard(answer); // the first answer stands
    try {
      if (answer instanceof DeferredReply) return this.#defer(answer);
      respond(this, answer);
    } catch (error) {
      discard(answer);
      return this.#fail(error);
    }
    this.#isAnswered = true;
    if (!(answer instanceof StreamReply)) this.#report();
    else if (this.#endpoint().row.large === "made") this.leaveTurn();
  }

  streamEnded(error: unknown): void {
    this.#error = error;
    this.#report();
  }

  #fail(error: unknown): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#error = error;
    this.awaitBody = leaveBody(this.#request, this.#isHeldBack);
    refuse(this, error instanceof Refusal ? error : new InternalError());
    this.#report();
  }

  /** Lets the next large body be worked on. */
  #endWork(): void {
    this.#leaveWork?.();
    this.#leaveWork = undefined;
  }

  /** Tells what happened, once per request. */
  #report(): void {
    this.#endWork();
    this.leaveTurn();
    const endpoint = this.#match?.endpoint;
    const { stopwatch, onAnswered } = this.#parts;
    const startedAt = this.#startedAt;
    onAnswered({
      method: this.#request.method ?? "",
      route: endpoint?.path,
      status: sentStatus(this.response, this.bytesSent, this.#error),
      requestId: this.requestId,
      organization: this.#caller?.organization,
      isChange: endpoint !== undefined && endpoint.row.method !== "GET" && !endpoint.row.report,
      durationMs: stopwatch && startedAt !== undefined ? stopwatch() - startedAt : undefined,
      contentLength: this.#request.headers["content-length"],
      bytesSent: this.bytesSent,
      error: this.#error,
    });
  }

  #answerOptions(path: string): void {
    const { "access-control-request-method": wanted } = this.#request.headers;
    const isPreflight = wanted !== undefined && this.originHeaders.length > 0;
    this.#answer(empty(204, optionsHeaders(this.#parts.router, path, isPreflight)));
  }

  /** Made when it is asked for: requests that are small, and answered briefly, never need it. */
  get party(): Party {
    const surface = this.#match?.endpoint.surface ?? "";
    return [surface, this.#caller?.organization ?? "", networkOf(this.#address())];
  }

  #address(): string {
    return callerAddress(this.#request, this.#parts.trustedProxies);
  }

  #endpoint(): Endpoint<Needs> {
    if (!this.#match) throw new Error("The request has no row yet");
    return this.#match.endpoint;
  }
}
