import { filterQuery } from "../../audit/filter.ts";
import { string } from "../../core/schema-parts.ts";
import type { QueryParameters } from "../../http/query.ts";
import { AUDIT_PATH } from "../page-link.ts";
import { auditTitle, renderAudit } from "./audit.ts";
import { readAudit, type AuditModel } from "./audit-source.ts";
import { readAddress } from "./audit-search.ts";
import type { DataPage } from "./source.ts";

const MOMENT = " Without an offset it means UTC.";

const parameters = {
  ...filterQuery,
  from: string(filterQuery.from.description + MOMENT),
  to: string(filterQuery.to.description + MOMENT),
  find: string("The text of the search box: words, and fields such as `executor:ada`."),
  range: string("`1h`, `24h`, `7d` or `30d` up to now, if neither `from` nor `to` is given."),
  event: string("The id of the event that is shown beside the list."),
  cursor: string("The `cursor` of the page."),
  live: string("Any text makes the page follow events as they arrive."),
} as const satisfies QueryParameters;

/** The audit page; its module assembles the same model in `browser/audit-screen.ts`. */
export const audit: DataPage<AuditModel, typeof parameters> = {
  path: AUDIT_PATH,
  title: "Audit",
  module: "audit",
  signedModule: "audit-proof",
  parameters,
  async read(source, context, query) {
    const { view, problem } = readAddress((name) => query[name]);
    if (problem !== undefined) return { ...context, view, query: {}, problem };
    return readAudit(source, context, view);
  },
  titleOf: auditTitle,
  render: renderAudit,
};
