/** The route of one event, by its id. */
import { NotFound } from "../core/errors.ts";
import { string } from "../core/schema-parts.ts";
import { json } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { auditEvent, EVENT_ID } from "./schema.ts";
import type { AuditStore } from "./store.ts";

interface Needs {
  readonly audit: Pick<AuditStore, "withId">;
}

export const eventRoutes = [
  route({
    method: "GET",
    path: "/audit/{id}",
    surfaces: ["public", "v1"],
    access: "user",
    keys: "audit.read",
    summary: "Get one audit event",
    description:
      "An unknown event and an event of another organization are 404. If several reporters used the id, the response is the event that was stored first, unless `reported_by` names another.",
    tags: ["audit"],
    large: "made",
    params: {
      id: string("The event's id.", { ruled: EVENT_ID, examples: ["01m81jf1ew0001pcmmak1ve7xq"] }),
    },
    query: {
      reported_by: string("The API key or user that reported the event."),
    },
    replies: { 200: auditEvent },
    refuses: [404, 500],
    async handle({ organization, params, query }, { audit }: Needs) {
      const reporter = query.reported_by;
      const events = await audit.withId(organization, params.id.trim());
      const found = events.find(
        (event) => reporter === undefined || reporterOf(event) === reporter,
      );
      if (!found) throw new NotFound(`There is no audit event "${params.id}"`);
      return json(200, found);
    },
  }),
];

/** The last field of a stored event, which may be too long to be parsed here. */
const REPORTER = /,"reported_by":"([^"\\]*)"\}$/;
const REPORTER_BYTES = 256;

/** The reporter of a stored event; empty for a report without credentials. */
function reporterOf(event: Buffer): string {
  return REPORTER.exec(event.subarray(-REPORTER_BYTES).toString())?.[1] ?? "";
}
