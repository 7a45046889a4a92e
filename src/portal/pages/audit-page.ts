import { filterQuery } from "../../audit/filter.ts";
import { string } from "../../core/schema-parts.ts";
import type { QueryParameters } from "../../http/query.ts";
import { auditTitle, renderAudit } from "./audit.ts";
import { readAudit, type AuditModel } from "./audit-source.ts";
import { readView } from "./audit-view.ts";
import type { DataPage } from "./source.ts";

const MOMENT = " Without an offset it means UTC.";

const parameters = {
  ...filterQuery,
  from: string(filterQuery.from.description + MOMENT),
  to: string(filterQuery.to.description + MOMENT),
  range: string("`1h`, `24h`, `7d` or `30d` up to now, if neither `from` nor `to` is given."),
  event: string("The id of the event that is shown beside the list."),
  cursor: string("The `cursor` of the page."),
  live: string("Any text makes the page follow events as they arrive."),
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
  titleOf: auditTitle,
  render: renderAudit,
};
