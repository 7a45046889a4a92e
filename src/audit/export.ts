import type { Writable } from "node:stream";
import { BadInput } from "../core/errors.ts";
import { formatTimestamp } from "../core/time.ts";
import { validate } from "../core/validate.ts";
import { streamOf, type Reply } from "../http/reply.ts";
import { CSV_HEADER, csvLines } from "./csv.ts";
import { EXPORT_TYPES, exportParameters, type ExportFormat } from "./export-schema.ts";
import { filterOf } from "./filter.ts";
import type { AuditFilter, AuditStore } from "./store.ts";

// As much as a request line can carry; parameters in a body are to be no more than those in a query.
const MAX_PARAMETERS_LENGTH = 16 * 1024;

/** What is exported, and how. */
export interface ExportView {
  readonly format: ExportFormat;
  readonly filter: AuditFilter;
}

/** The body that asks for a ticket: the parameters of an export. */
export const exportTicketBody = {
  schema: exportParameters,
  read(value: unknown): ExportView {
    const given = validate(exportParameters, value);
    if (JSON.stringify(given).length > MAX_PARAMETERS_LENGTH) {
      throw new BadInput(`The body: expected at most ${MAX_PARAMETERS_LENGTH / 1024} KiB`);
    }
    return { format: given.format ?? "ndjson", filter: filterOf(given) };
  },
};

/** An export as the record of changes shows it: the parameters that would ask for it again. */
export function exportFacts({ format, filter }: ExportView): Readonly<Record<string, unknown>> {
  const { from, to, ...texts } = filter;
  const momentOf = (ms: number | undefined) => (ms === undefined ? undefined : formatTimestamp(ms));
  return { format, ...texts, from: momentOf(from), to: momentOf(to) };
}

/**
 * Answers with everything that matches at this moment, as a download. The rows are read while they
 * are sent, as fast as the reader takes them; a reader that leaves ends the reading.
 *
 * @param now milliseconds, for the name of the file
 * @param gone ends the search for what matches, and the reading
 */
export async function answerExport(
  audit: Pick<AuditStore, "export">,
  organization: string,
  { format, filter }: ExportView,
  now: number,
  gone: AbortSignal,
): Promise<Reply> {
  const { total, rows } = await audit.export(organization, filter, gone);
  const moment = formatTimestamp(now).replaceAll(/[-:]|\.\d+/g, "");
  return streamOf(
    `${EXPORT_TYPES[format]}; charset=utf-8`,
    rows,
    async (output, signal) => {
      const pieces = format === "csv" ? linesOf(rows) : rows;
      for await (const piece of pieces) {
        signal.throwIfAborted();
        await write(output, piece, signal);
      }
    },
    [
      ...["Content-Disposition", `attachment; filename="audit-${moment}.${format}"`],
      ...["X-Total-Count", String(total)],
    ],
  );
}

async function* linesOf(rows: AsyncIterable<Buffer>): AsyncGenerator<string> {
  yield CSV_HEADER;
  for await (const piece of rows) yield csvLines(piece);
}

/** Writes, and waits until the system has taken all of it: then the piece may be written over. */
function write(output: Writable, piece: Buffer | string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", leave, { once: true });
    output.write(piece, (error) => {
      signal.removeEventListener("abort", leave);
      if (error) reject(error);
      else resolve();
    });
  });
}
