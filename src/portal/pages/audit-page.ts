import { filterQuery } from "../../audit/filter.ts";
import type { QueryParameters } from "../../http/query.ts";
import { renderAudit } from "./audit.ts";
import { readAudit, type AuditModel } from "./audit-source.ts";
import { readView } from "./audit-view.ts";
import type { DataPage } from "./source.ts";

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
  cursor: {
    type: "string",
    description: "The start of the list, from the link of another page of it.",
  },
  live: { type: "string", description: "Any text: the page follows events as they arrive." },
} as const satisfies QueryParameters;

/** The audit page; its module assembles the same model in `browser/audit-screen.ts`. */
export const audit: DataPage<AuditModel, typeof parameters> = {
  path: "/portal/audit",
  title: "Audit",
  module: "audit",
  parameters,
  read: (source, context, query) =>
    readAudit(
      source,
      context,
      readView((name) => query[name]),
    ),
  render: renderAudit,
};
