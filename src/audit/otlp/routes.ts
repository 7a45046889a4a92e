import { BadInput, TooLarge } from "../../core/errors.ts";
import type { Work } from "../../core/scheduling/work.ts";
import { isObject } from "../../core/validate.ts";
import { later, reply, type Reply } from "../../http/reply.ts";
import { route, type CustomBody } from "../../http/route.ts";
import { draftBatch, type DraftContext, type Drafted } from "../drafting.ts";
import type { RawEvent } from "../ingest.ts";
import { type IngestNeeds, LARGE_BATCH_EVENTS } from "../routes.ts";
import { logRecordsOf, sizeOf } from "./records.ts";
import { otlpLogs, otlpLogsResult } from "./schema.ts";
import { toolEvent } from "./tool-events.ts";

/** The events of a request, and the number of records that were rejected for each reason. */
interface Taken {
  readonly drafted: Drafted;
  readonly rejected: ReadonlyMap<string, number>;
}

type Body = Readonly<Record<string, unknown>>;

/** The records are found later, in parts: the longest body that is parsed at once may have very many. */
const logs: CustomBody<Body> = {
  schema: otlpLogs,
  read(body) {
    if (!isObject(body)) throw new BadInput("The body: expected a JSON object");
    return body;
  },
};

function* draftRecords(body: Body, context: DraftContext): Work<Taken> {
  const records = yield* logRecordsOf(body);
  const events: RawEvent[] = [];
  const rejected = new Map<string, number>();
  for (const record of records) {
    const event = toolEvent(record);
    if (typeof event !== "string") events.push(event);
    else rejected.set(event, (rejected.get(event) ?? 0) + 1);
    yield; // a record may be long
  }
  return { drafted: yield* draftBatch(events, context), rejected };
}

function answer(rejected: Taken["rejected"]): Reply {
  if (rejected.size === 0) return reply(200, {});
  const count = [...rejected.values()].reduce((sum, one) => sum + one, 0);
  const reasons = [...rejected].map(([reason, one]) => `${one} ${reason}`).join(", ");
  const errorMessage = `Records that are not stored: ${reasons}`;
  return reply(200, { partialSuccess: { rejectedLogRecords: String(count), errorMessage } });
}

/** The route that takes the telemetry of agents. */
export const otlpRoutes = [
  route({
    method: "POST",
    path: "/otlp/v1/logs",
    surfaces: ["public", "v1"],
    access: "user",
    keys: "audit.report",
    role: "operator",
    summary: "Report the tools of AI agents by OTLP",
    description:
      "Takes OTLP/HTTP logs in JSON. Records about tools of Claude Code, Codex and Gemini CLI become audit events, once even if they are sent again. Other records are counted in `partialSuccess`.",
    tags: ["audit"],
    body: logs,
    report: true,
    holdsBody: true,
    replies: { 200: otlpLogsResult },
    refuses: [400, 413, 500],
    async handle(
      { organization, actor, surface, body, client },
      needs: IngestNeeds,
    ): Promise<Reply> {
      const { audit, now, ids, maxBatchEvents, quotas, largeBatches, batches, redaction } = needs;
      const { records, parts } = sizeOf(body);
      const isLarge = parts > LARGE_BATCH_EVENTS;
      if (records > maxBatchEvents) {
        throw new TooLarge(`resourceLogs: expected at most ${maxBatchEvents} records in one body`);
      }
      const redactor = await redaction.redactorFor(organization);
      const { count } = redaction;
      const context = { organization, now: now(), ids, reporter: actor?.id, redactor, count };
      const work = draftRecords(body, context);
      const turns = isLarge ? largeBatches : batches;
      const { drafted, rejected } = await turns.runInParts(client, work);
      const { drafts, named } = drafted;
      if (drafts.length === 0) return answer(rejected);
      const store = () =>
        later((settle) => {
          const done = (error: unknown) => settle(error, answer(rejected));
          audit.append(organization, drafts, done, named, quotas.auditBytes(surface), client);
        });
      return isLarge ? largeBatches.run(client, store) : store();
    },
  }),
];
