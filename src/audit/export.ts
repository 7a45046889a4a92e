import type { Writable } from "node:stream";
import type { Awaitable } from "../core/caller.ts";
import { SECOND_MS, type Clock } from "../core/clock.ts";
import type { Party } from "../core/fair-share.ts";
import type { Turns } from "../core/turns.ts";
import { Yielder } from "../core/yielder.ts";
import { BadInput, TooLarge, Unauthenticated } from "../core/errors.ts";
import { formatTimestamp } from "../core/time.ts";
import { validate } from "../core/validate.ts";
import { streamOf, type Reply } from "../http/reply.ts";
import { BYTE_ORDER_MARK, CSV_HEADER, csvLines, longCsvLine } from "./csv.ts";
import { EXPORT_TYPES, exportParameters, type ExportFormat } from "./export-schema.ts";
import { filterOf, type GivenFilter } from "./filter.ts";
import type { AuditFilter, AuditStore } from "./store.ts";

// As much as a request line can carry; parameters in a body are to be no more than those in a query.
const MAX_PARAMETERS_LENGTH = 16 * 1024;
/** As often as streams are looked at. */
const CHECK_EVERY_MS = 15 * SECOND_MS;
const NEWLINE = 0x0a;
/** A long line is written in parts, so that a reader that takes it slowly can be told from one that does not. */
const PART_BYTES = 64 << 10;

/** What is exported, and how. */
export interface ExportView {
  readonly format: ExportFormat;
  readonly filter: AuditFilter;
  /** Whether a CSV file begins with a byte order mark. */
  readonly bom?: boolean;
}

/** Who reads an export. */
export interface ExportReader {
  /** Whose share of the long CSV lines it is. */
  readonly party: Party;
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
  { now, longLines }: { readonly now: Clock; readonly longLines: Turns },
  { party, gone, isAllowed }: ExportReader,
): Promise<Reply> {
  const { total, rows } = await audit.export(organization, filter, gone);
  let checkedAt = now();
  let sent = 0;
  const moment = formatTimestamp(checkedAt).replaceAll(/[-:]|\.\d+/g, "");
  return streamOf(
    `${EXPORT_TYPES[format]}; charset=utf-8`,
    rows,
    async (output, signal) => {
      const send = async (piece: Buffer | string): Promise<void> => {
        signal.throwIfAborted();
        // The clock may be set back.
        if (Math.abs(now() - checkedAt) >= CHECK_EVERY_MS) {
          if (!(await isAllowed())) throw noLongerAllowed();
          checkedAt = now();
        }
        await write(output, piece, signal);
        sent += piece.length;
      };
      if (format === "ndjson") for await (const piece of rows) await send(piece);
      else {
        const taken = () => (output.writableLength > 0 ? sent : undefined);
        const reader = { taken, cut: () => void output.destroy() };
        const turn = () => longLines.wait(party, signal, reader);
        await send(bom === true ? BYTE_ORDER_MARK + CSV_HEADER : CSV_HEADER);
        await sendLines(rows, send, turn, signal);
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

/**
 * Sends rows as lines of CSV. A long row comes in several pieces and is in memory several times while
 * it becomes a line, so it takes a turn, until the reader has the whole line.
 */
async function sendLines(
  rows: AsyncIterable<Buffer>,
  send: (piece: Buffer | string) => Promise<void>,
  turn: () => Promise<() => void>,
  signal: AbortSignal,
): Promise<void> {
  const yielder = new Yielder(signal);
  let parts: Buffer[] = [];
  let endTurn: (() => void) | undefined;
  try {
    for await (const piece of rows) {
      const isEnded = piece.at(-1) === NEWLINE;
      if (isEnded && parts.length === 0) {
        await send(await yielder.run(csvLines(piece)));
        continue;
      }
      endTurn ??= await turn();
      parts.push(piece);
      if (!isEnded) continue;
      const row = Buffer.concat(parts);
      parts = [];
      const line = Buffer.from(await yielder.run(longCsvLine(row)));
      for (let at = 0; at < line.length; at += PART_BYTES) {
        await send(line.subarray(at, at + PART_BYTES));
      }
      endTurn();
      endTurn = undefined;
    }
  } finally {
    endTurn?.();
  }
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
