import { list, object, string } from "../../core/schema-parts.ts";
import type { Schema } from "../../core/schema.ts";

const attributes = list("Names and values, as OTLP has them.", {
  type: "object",
  description: "`key`, and `value` with `stringValue`, `intValue` or another kind.",
  additionalProperties: true,
});

const logRecord = object({
  title: "OtlpLogRecord",
  description: "A log record. Unknown members are allowed.",
  properties: {
    timeUnixNano: string("Nanoseconds since 1970, as a text.", {
      examples: ["1795206600000000000"],
    }),
    attributes,
  },
  optional: ["timeUnixNano", "attributes"],
});

const scopeLogs = object({
  title: "OtlpScopeLogs",
  description: "The records of one part of a program.",
  properties: { logRecords: list("The records.", logRecord) },
  optional: ["logRecords"],
});

const resourceLogs = object({
  title: "OtlpResourceLogs",
  description: "The records of one program.",
  properties: {
    resource: {
      type: "object",
      description: "The program: its `attributes`, such as `service.name` and `host.name`.",
      additionalProperties: true,
    },
    scopeLogs: list("The records by part.", scopeLogs),
  },
  optional: ["resource", "scopeLogs"],
});

/** The parts of `ExportLogsServiceRequest` of OTLP in JSON that Signalbox reads. */
export const otlpLogs = object({
  title: "OtlpLogs",
  description: "A request of OTLP/HTTP for logs, in JSON.",
  properties: { resourceLogs: list("The records by program.", resourceLogs) },
  optional: ["resourceLogs"],
}) satisfies Schema;

/** `ExportLogsServiceResponse` of OTLP in JSON. */
export const otlpLogsResult = object({
  title: "OtlpLogsResult",
  description: "Empty if each record became an event.",
  properties: {
    partialSuccess: object({
      title: "OtlpPartialSuccess",
      description: "The records that were not stored. Sending them again does not help.",
      properties: {
        rejectedLogRecords: string("The number of records that were not stored, as a text.", {
          examples: ["2"],
        }),
        errorMessage: string("Why they were not stored."),
      },
    }),
  },
  optional: ["partialSuccess"],
}) satisfies Schema;
