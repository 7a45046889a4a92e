import type { IncomingMessage } from "node:http";
import type { IdSource } from "../core/ids.ts";

const SANE = /^[\w.:/+=-]{1,128}$/;

/** A request that keeps its id. */
export interface Identified {
  requestId: string | undefined;
}

/**
 * The id of a request in its answer and in the logs: the client's own if it is short and plain, otherwise a new one.
 * Every call returns the same, since `server.ts` may answer a request that the listener logs.
 */
export function requestIdOf(request: IncomingMessage, requestIds: IdSource): string {
  const kept = request as IncomingMessage & Partial<Identified>;
  if (kept.requestId !== undefined) return kept.requestId;
  const given = request.headers["x-request-id"];
  return (kept.requestId = typeof given === "string" && SANE.test(given) ? given : requestIds());
}
