import { filterQuery } from "../audit/filter.ts";
import type { Schema } from "../core/schema.ts";
import { route } from "../http/route.ts";
import type { PortalFrame } from "./layout.ts";
import { auditSource, type AuditPageNeeds } from "./loaders/audit.ts";
import { makePage, sendPage } from "./page.ts";
import { auditPage } from "./pages/audit.ts";
import { readAudit } from "./pages/audit-source.ts";
import { readView } from "./pages/audit-view.ts";

const MOMENT = " Without an offset it means UTC.";

const parameters = {
  ...filterQuery,
  from: { type: "string", description: filterQuery.from.description + MOMENT },
  to: { type: "string", description: filterQuery.to.description + MOMENT },
  range: {
    type: "string",
    description: "`1h`, `24h` or `7d` up to now, where neither `from` nor `to` is given.",
  },
  event: { type: "string", description: "The id of an event to open beside the list." },
  cursor: { type: "string", description: "Where the list begins, as a page of it gave it." },
  live: { type: "string", description: "Any text: the page follows events as they arrive." },
} as const satisfies Readonly<Record<string, Schema>>;

/** The page of what runtimes were allowed and denied. */
export const auditPageRoutes = [
  route({
    method: "GET",
    path: "/portal/audit",
    surfaces: ["portal"],
    access: "open",
    tags: ["portal"],
    large: "made",
    summary: "The page that searches and follows audit events",
    description: "A parameter that the service does not take is said in the page, not by a status.",
    query: parameters,
    replies: { 200: "text/html" },
    refuses: [500],
    async handle({ query, client }, needs: PortalFrame & AuditPageNeeds) {
      const source = auditSource(needs, needs.description.now, client.gone);
      const page = await makePage(needs, {
        path: "/portal/audit",
        title: "Audit",
        module: "audit",
        load: (context) =>
          readAudit(
            source,
            context,
            readView((name) => query[name]),
          ),
        render: auditPage,
      });
      return sendPage(page);
    },
  }),
];
