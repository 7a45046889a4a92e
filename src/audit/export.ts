import type { Writable } from "node:stream";
import type { Awaitable } from "../core/caller.ts";
import { SECOND_MS, type Clock } from "../core/clock.ts";
import { BadInput, Unauthenticated } from "../core/errors.ts";
import { formatTimestamp } from "../core/time.ts";
import { validate } from "../core/validate.ts";
import { streamOf, type Reply } from "../http/reply.ts";
import { CSV_HEADER, csvLines } from "./csv.ts";
import { EXPORT_TYPES, exportParameters, type ExportFormat } from "./export-schema.ts";
import { filterOf } from "./filter.ts";
import type { AuditFilter, AuditStore } from "./store.ts";

// As much as a request line can carry; parameters in a body are to be no more than those in a query.
const MAX_PARAMETERS_LENGTH = 16 * 1024;
/** As often as streams are looked at. */
const CHECK_EVERY_MS = 15 * SECOND_MS;

/** What is exported, and how. */
export interface ExportView {
  readonly format: ExportFormat;
  readonly filter: AuditFilter;
}

/** Who reads an export. */
export interface ExportReader {
  /** Ends the search for what matches, and the reading. */
  readonly gone: AbortSignal;
  /** Whether the reader may still have it. */
  readonly isAllowed: () => Awaitable<boolean>;
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
 * The reader's credentials are looked at again every 15 seconds; the export is cut when they are no
 * longer accepted.
 */
export async function answerExport(
  audit: Pick<AuditStore, "export">,
  organization: string,
  { format, filter }: ExportView,
  now: Clock,
  { gone, isAllowed }: ExportReader,
): Promise<Reply> {
  const { total, rows } = await audit.export(organization, filter, gone);
  let checkedAt = now();
  const moment = formatTimestamp(checkedAt).replaceAll(/[-:]|\.\d+/g, "");
  return streamOf(
    `${EXPORT_TYPES[format]}; charset=utf-8`,
    rows,
    async (output, signal) => {
      const pieces = format === "csv" ? linesOf(rows) : rows;
      for await (const piece of pieces) {
        signal.throwIfAborted();
        if (Math.abs(now() - checkedAt) >= CHECK_EVERY_MS) {
          // a clock may be set back
          if (!(await isAllowed())) throw noLongerAllowed();
          checkedAt = now();
        }
        await write(output, piece, signal);
      }
    },
    [
      ...["Content-Disposition", `attachment; filename="audit-${moment}.${format}"`],
      ...["X-Total-Count", String(total)],
    ],
  );
}

function noLongerAllowed(): Unauthenticated {
  const message = "The credentials of a running export are no longer accepted";
  return new Unauthenticated(message, { tokenRefused: true });
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
