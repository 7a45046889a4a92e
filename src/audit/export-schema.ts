import { dateTime, object, string } from "../core/schema-parts.ts";
import type { Schema } from "../core/schema.ts";
import { filterBody } from "./filter.ts";

const exportFormats = ["ndjson", "csv"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** The media type of each format. */
export const EXPORT_TYPES = {
  ndjson: "application/x-ndjson",
  csv: "text/csv",
} as const satisfies Readonly<Record<ExportFormat, string>>;

/** The parameter that chooses the format of an export. */
export const formatParameter = string("`ndjson` for one JSON object a line, or `csv`.", {
  enum: exportFormats,
  default: "ndjson",
});

const BOM =
  "With `csv`: begin with a byte order mark, which tells spreadsheets that the text is UTF-8.";

/** The parameter that adds a byte order mark to a CSV file. */
export const bomParameter = string(BOM, { enum: ["true", "false"], default: "false" });

/** The parameters of an export in the body of a request for a ticket. */
export const exportParameters = {
  title: "AuditExportParameters",
  type: "object",
  description: "The parameters of the export. All are optional.",
  examples: [
    { format: "csv", bom: true, decision: "denied" },
    { consumer: "ai", from: "2026-11-20T00:00:00Z", to: "2026-11-21T00:00:00Z" },
  ],
  properties: {
    format: formatParameter,
    bom: { type: "boolean", default: false, description: BOM },
    ...filterBody,
  },
  ruled: {
    not: { required: ["bom"], properties: { bom: { const: true }, format: { const: "ndjson" } } },
  },
} as const satisfies Schema;

/** The response to a request for a ticket. */
export const exportTicket = object({
  title: "AuditExportTicket",
  description: "An address that works once and without credentials.",
  properties: {
    url: string("The path of the export on this server."),
    expires_at: dateTime("The time from which the address no longer works."),
  },
});
