import { string } from "../core/schema-parts.ts";
import type { Writable } from "node:stream";
import { stream } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { positionFault, readStreamId } from "./cursor.ts";
import { filterOf, filterQuery } from "./filter.ts";
import type { AuditStore, AuditTail } from "./store.ts";
import { STREAM_TYPE, type AuditStreams } from "./stream.ts";

interface Needs {
  readonly audit: AuditStore;
  readonly auditStreams: AuditStreams;
}

/** The route that streams events as they arrive. */
export const auditStreamRoutes = [
  route({
    method: "GET",
    path: "/audit/stream",
    surfaces: ["public", "v1"],
    access: "user",
    keys: "audit.read",
    summary: "Follow audit events as they arrive",
    description:
      "Server-Sent Events in the order of ingest: `data` is the event as JSON, and `id` its position. The server may close a stream at any time; the client resumes it with `Last-Event-ID`.",
    tags: ["audit"],
    query: filterQuery,
    headers: {
      "Last-Event-ID": string(
        "The last `id` that the client received. The stream continues after it.",
      ),
    },
    replies: { 200: STREAM_TYPE },
    replyHeaders: { "X-Accel-Buffering": "`no`: tells proxies not to buffer events." },
    refuses: [400, 429, 500, 503],
    async handle({ organization, query, headers, client }, { audit, auditStreams }: Needs) {
      const filter = filterOf(query);
      const lastId = headers["Last-Event-ID"];
      const after = lastId ? readStreamId(lastId, organization) : undefined;
      const tail = await tailOf(audit, organization, filter, after, client);
      const caller = client.party;
      auditStreams.requireRoom(caller);
      const isAllowed = client.acceptance();
      const source = { tail, organization, caller, isAllowed };
      const run = (output: Writable, gone: AbortSignal): Promise<void> =>
        auditStreams.run(source, output, gone);
      return stream(STREAM_TYPE, run, ["X-Accel-Buffering", "no"]);
    },
  }),
];

async function tailOf(
  audit: AuditStore,
  ...wanted: Parameters<AuditStore["tail"]>
): Promise<AuditTail> {
  try {
    return await audit.tail(...wanted);
  } catch (error) {
    throw positionFault("Last-Event-ID", error);
  }
}
