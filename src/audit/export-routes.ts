import { string } from "../core/schema-parts.ts";
import { NotFound } from "../core/errors.ts";
import { formatTimestamp } from "../core/time.ts";
import { reply } from "../http/reply.ts";
import { PREFIXES, route } from "../http/route.ts";
import {
  answerExport,
  exportFacts,
  exportTicketBody,
  exportView,
  type ExportNeeds,
} from "./export.ts";
import { bomParameter, EXPORT_TYPES, exportTicket, formatParameter } from "./export-schema.ts";
import { filterQuery, SEARCH } from "./filter.ts";
import type { TicketOffice } from "./tickets.ts";

interface Needs extends ExportNeeds {
  readonly exportTickets: TicketOffice;
}

/** The credentials that making a ticket requires. They are checked again when the ticket is used. */
export const TICKET_DEMAND = { access: "user", keys: "audit.read", role: "viewer" } as const;

const downloads = { 200: [EXPORT_TYPES.ndjson, EXPORT_TYPES.csv] } as const;
const downloadHeaders = {
  "Content-Disposition": "Names a file to save the rows in.",
  "X-Total-Count": "How many events follow; a connection that ends before them was cut.",
  "X-Checkpoint":
    "How many events of the log the last signed checkpoint had when the export began; absent if there was none.",
};

/** The routes that export all matching events as a file. */
export const auditExportRoutes = [
  route({
    method: "GET",
    path: "/audit/export",
    ...SEARCH,
    surfaces: ["public", "v1"],
    access: "user",
    keys: "audit.read",
    summary: "Export every audit event that matches, newest first",
    description:
      "The export has all events that match at the time of the request. A CSV (RFC 4180) has a header line and an apostrophe before characters that a spreadsheet would run as a formula.",
    tags: ["audit"],
    query: {
      ...filterQuery,
      format: formatParameter,
      bom: bomParameter,
    },
    replies: downloads,
    replyHeaders: downloadHeaders,
    refuses: [400, 500],
    change: {
      action: "audit.export",
      isReading: true,
      target: () => ({ type: "audit" }),
      after: ({ query }) => query,
    },
    handle({ organization, query, client }, needs: Needs) {
      const view = exportView(query.format, query.bom === "true", query);
      const { party, gone } = client;
      const reader = { party, gone, isAllowed: client.acceptance() };
      return answerExport(needs, organization, view, reader);
    },
  }),
  route({
    method: "POST",
    path: "/audit/export-tickets",
    surfaces: ["public", "v1"],
    ...TICKET_DEMAND,
    summary: "Create a download address for an export",
    description:
      "The address works once within 60 seconds and needs no credentials. It works only while the credentials of this request are accepted.",
    tags: ["audit"],
    body: exportTicketBody,
    replies: { 201: exportTicket },
    refuses: [400, 429, 500],
    change: {
      action: "audit.ticket",
      isReading: true,
      target: () => ({ type: "audit" }),
      after: ({ body }) => exportFacts(body),
    },
    async handle({ organization, actor, surface, body: view, client }, { exportTickets }: Needs) {
      const isAllowed = client.acceptance();
      const grant = { organization, actor, surface, view, isAllowed };
      const { party, credentials } = client;
      const { ticket, expiresAt } = await exportTickets.issue(grant, party, credentials);
      const url = `${PREFIXES[surface]}/audit/export-tickets/${ticket}/file`;
      return reply(201, { url, expires_at: formatTimestamp(expiresAt) });
    },
  }),
  route({
    method: "GET",
    path: "/audit/export-tickets/{ticket}/file",
    large: "searched",
    surfaces: ["public", "v1"],
    access: "open",
    summary: "Download an export by its ticket",
    description: "The ticket is the credential. A GET uses it up, and a HEAD does not.",
    tags: ["audit"],
    params: {
      ticket: string("The ticket from the download address.", {
        ruled: { minLength: 1 },
        examples: ["nZ0sK0g3cV0o5jv0b6o1Kp2pQJ3x5mV7rY9tB1dF4hE"],
      }),
    },
    replies: downloads,
    replyHeaders: downloadHeaders,
    refuses: [404, 500],
    change: { action: "audit.export", isReading: true, target: () => ({ type: "audit" }) },
    async handle({ params, surface, isHead, client, note }, needs: Needs) {
      const { ticket } = params;
      const { exportTickets } = needs;
      const grant = await (isHead
        ? exportTickets.find(ticket, surface)
        : exportTickets.take(ticket, surface));
      if (!grant || !(await grant.isAllowed())) {
        throw new NotFound("The ticket is unknown, used or expired; request another");
      }
      const { organization, actor, view, isAllowed } = grant;
      note({ caller: { organization, actor }, after: exportFacts(view) });
      const { party, gone } = client;
      return answerExport(needs, organization, view, { party, gone, isAllowed });
    },
  }),
];
