import type { IncomingMessage } from "node:http";
import type { TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { BodyBudget } from "../../src/http/bodies/body-budget.ts";
import { originRule } from "../../src/http/cors.ts";
import type { ListenerParts } from "../../src/http/listener-parts.ts";
import { createListener } from "../../src/http/listener.ts";
import type { RequestSummary } from "../../src/http/request-summary.ts";
import type { Route } from "../../src/http/route.ts";
import { Router } from "../../src/http/router.ts";
import { listen, type Address } from "../../src/http/server.ts";
import { Turns } from "../../src/core/scheduling/turns.ts";
import { UnreadAnswers } from "../../src/http/unread-answers.ts";
import { Connection } from "./connection.ts";

/** The origin that the server under test allows. */
export const ORIGIN = "https://app.example.com";

const LIMITS = { atOnce: 2, atOnceOfOne: 2, waiting: 4 };

/** A server over a few rows. */
export interface Served {
  readonly url: string;
  readonly port: number;
  readonly budget: BodyBudget;
  /** The summaries of answered requests. */
  readonly summaries: readonly RequestSummary[];
  /** Every request that reached the listener. */
  readonly requests: readonly IncomingMessage[];
  /** Opens a connection that ends with the test, as a client of this address. */
  open(localAddress?: string): Connection;
  /** Closes the server before the test ends. */
  close(): Promise<void>;
}

/**
 * Serves rows on a free port until the test ends; `changes` replaces parts of the listener,
 * `address` parts of its address.
 */
export async function serve(
  t: TestContext,
  rows: readonly Route<unknown>[],
  changes: Partial<ListenerParts<unknown>> = {},
  address: Partial<Address> = {},
): Promise<Served> {
  const budget = changes.bodyBudget ?? new BodyBudget(8 << 20);
  const summaries: RequestSummary[] = [];
  const requests: IncomingMessage[] = [];
  const connections: Connection[] = [];
  let lastId = 0;
  const requestIds = () => `id-${++lastId}`;
  const listener = createListener<unknown>({
    router: new Router(rows, ["public", "v1", "portal"]),
    services: undefined,
    resolveCaller: () => ({ organization: "default", actor: undefined }),
    now: () => 0,
    isAllowedOrigin: originRule([ORIGIN], "on"),
    requestIds,
    maxBodyBytes: 1 << 20,
    trustedProxies: 0,
    unreadAnswers: new UnreadAnswers(64 << 20),
    turns: {
      ...{ made: new Turns(LIMITS), sent: new Turns(LIMITS) },
      ...{ searched: new Turns(LIMITS), listed: new Turns(LIMITS) },
    },
    onAnswered: (summary) => summaries.push(summary),
    ...changes,
    bodyBudget: budget,
  });
  const server = await listen(
    (request, response) => {
      requests.push(request);
      listener(request, response);
    },
    { host: "127.0.0.1", port: 0, ...address },
    requestIds,
  );
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= server.close());
  t.after(() => {
    for (const { socket } of connections) socket.destroy();
    return close();
  });
  const { port } = server.bound;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    budget,
    summaries,
    requests,
    close,
    open(localAddress) {
      const connection = new Connection(port, localAddress);
      connections.push(connection);
      return connection;
    },
  };
}

/** Lets the event loop turn until a condition holds; the test's own time limit ends it otherwise. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turn();
}
