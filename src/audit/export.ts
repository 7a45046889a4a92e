import type { Writable } from "node:stream";
import type { Awaitable } from "../core/caller.ts";
import { SECOND_MS, type Clock } from "../core/clock.ts";
import { BadInput, TooLarge, Unauthenticated } from "../core/errors.ts";
import { formatTimestamp } from "../core/time.ts";
import { validate } from "../core/validate.ts";
import { streamOf, type Reply } from "../http/reply.ts";
import { BYTE_ORDER_MARK, CSV_HEADER, csvLines } from "./csv.ts";
import { EXPORT_TYPES, exportParameters, type ExportFormat } from "./export-schema.ts";
import { filterOf, type GivenFilter } from "./filter.ts";
import type { AuditFilter, AuditStore } from "./store.ts";

// As much as a request line can carry; parameters in a body are to be no more than those in a query.
const MAX_PARAMETERS_LENGTH = 16 * 1024;
/** As often as streams are looked at. */
const CHECK_EVERY_MS = 15 * SECOND_MS;

/** What is exported, and how. */
export interface ExportView {
  readonly format: ExportFormat;
  readonly filter: AuditFilter;
  /** Whether a CSV file begins with a byte order mark. */
  readonly bom?: boolean;
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
      throw new TooLarge(`The body: expected at most ${MAX_PARAMETERS_LENGTH / 1024} KiB`);
    }
    return exportView(given.format ?? "ndjson", given.bom ?? false, given);
  },
};

/**
 * Puts together what is asked for.
 *
 * @throws BadInput for a byte order mark in another format than CSV, and for filters that are not understood
 */
export function exportView(format: ExportFormat, bom: boolean, given: GivenFilter): ExportView {
  if (bom && format !== "csv") {
    throw new BadInput(`bom: was true with format=${format}, expected it only with format=csv`);
  }
  return { format, filter: filterOf(given), ...(bom && { bom }) };
}

/** An export as the record of changes shows it: the parameters that would ask for it again. */
export function exportFacts({
  format,
  bom,
  filter,
}: ExportView): Readonly<Record<string, unknown>> {
  const { from, to, ...texts } = filter;
  const momentOf = (ms: number | undefined) => (ms === undefined ? undefined : formatTimestamp(ms));
  return { format, bom, ...texts, from: momentOf(from), to: momentOf(to) };
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
  { format, bom, filter }: ExportView,
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
      const pieces = format === "csv" ? linesOf(rows, bom === true) : rows;
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

async function* linesOf(rows: AsyncIterable<Buffer>, bom: boolean): AsyncGenerator<string> {
  yield bom ? BYTE_ORDER_MARK + CSV_HEADER : CSV_HEADER;
  for await (const piece of rows) yield csvLines(piece);
}

/** Writes, and waits until the system has taken all of it, so that one piece at a time is in memory. */
function write(output: Writable, piece: Buffer | string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    output.write(piece, (error) => {
      signal.removeEventListener("abort", onAbort);
      if (error) reject(error);
      else resolve();
    });
  });
}
