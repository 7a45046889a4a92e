import type { Writable } from "node:stream";
import { regularCheck, type Awaitable } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import type { Party } from "../core/scheduling/fair-share.ts";
import { eachPiece } from "../core/pieces.ts";
import type { Turns } from "../core/scheduling/turns.ts";
import { Yielder } from "../core/scheduling/yielder.ts";
import { BadInput, TooLarge } from "../core/errors.ts";
import { formatTimestamp } from "../core/time.ts";
import { bodyOf } from "../core/validate.ts";
import { streamOf, type Reply } from "../http/reply.ts";
import { BYTE_ORDER_MARK, CSV_HEADER, csvLines, longCsvLine } from "./csv.ts";
import { EXPORT_TYPES, exportParameters, type ExportFormat } from "./export-schema.ts";
import { recordOf } from "./event-fields.ts";
import { filterOf, type GivenFilter } from "./filter.ts";
import type { AuditFilter, AuditStore } from "./store.ts";

// The longest request line, so that a body accepts no more parameters than a query.
const MAX_PARAMETERS_LENGTH = 16 * 1024;
const NO_LONGER_ALLOWED = "The credentials of a running export are no longer accepted";
const NEWLINE = 0x0a;
/** Longer lines are written in parts, so that a slow reader can be told from a stalled one. */
const PART_BYTES = 64 << 10;
/** A row of more bytes keeps its turn until its reader has it. */
const LONG_ROW_BYTES = 256 << 10;

/** The events and the format of an export. */
export interface ExportView {
  readonly format: ExportFormat;
  readonly filter: AuditFilter;
  /** Whether a CSV file begins with a byte order mark. */
  readonly bom?: boolean;
}

interface SignedSizes {
  signedSize(log: { organization: string; log: "audit" }): Promise<number | undefined>;
}

/** The parts of the service that an export uses. */
export interface ExportNeeds {
  readonly audit: Pick<AuditStore, "export">;
  /** Tells how much of the log is signed; `undefined` while nothing is signed. */
  readonly proofs?: SignedSizes | undefined;
  /** Bounds how many pieces of all exports are read and turned into CSV at a time. */
  readonly csvTurns: Turns;
  /** Bounds how many rows that arrive in several pieces are in memory at a time. */
  readonly longRowTurns: Turns;
  readonly now: Clock;
}

/** The client that reads an export. */
export interface ExportReader {
  /** The party whose share of turns the pieces of a CSV file count against. */
  readonly party: Party;
  /** Ends the search and the reading. */
  readonly gone: AbortSignal;
  /** Whether the reader's credentials are still accepted. */
  readonly isAllowed: () => Awaitable<boolean>;
}

/** The body of a request for a ticket: the parameters of an export. */
export const exportTicketBody = bodyOf(exportParameters, (given): ExportView => {
  if (JSON.stringify(given).length > MAX_PARAMETERS_LENGTH) {
    throw new TooLarge(`The body: expected at most ${MAX_PARAMETERS_LENGTH / 1024} KiB`);
  }
  return exportView(given.format ?? "ndjson", given.bom ?? false, given);
});

/**
 * Builds the view that the parameters describe.
 *
 * @throws BadInput for a byte order mark in another format than CSV, and for invalid filters
 */
export function exportView(format: ExportFormat, bom: boolean, given: GivenFilter): ExportView {
  if (bom && format !== "csv") {
    throw new BadInput(`bom: was true with format=${format}, expected it only with format=csv`);
  }
  return { format, filter: filterOf(given), ...(bom && { bom }) };
}

/** An export as the activity log shows it: the parameters that would request it again. */
export function exportFacts({
  format,
  bom,
  filter,
}: ExportView): Readonly<Record<string, unknown>> {
  const { from, to, wildcards = [], ...texts } = filter;
  const momentOf = (ms: number | undefined) => (ms === undefined ? undefined : formatTimestamp(ms));
  const inPart = recordOf(wildcards.map(({ parameter, text }) => [parameter, text] as const));
  const names = wildcards.map(({ parameter }) => parameter).join(",") || undefined;
  const facts = { ...texts, ...inPart, wildcards: names };
  return { format, bom, ...facts, from: momentOf(from), to: momentOf(to) };
}

/**
 * Answers with all events that match at this moment, as a download. The rows are read while they
 * are sent, at the reader's pace; the reading ends when the reader disconnects.
 *
 * The reader's credentials are checked again every 15 seconds; the export is cut when they are no
 * longer accepted.
 */
export async function answerExport(
  { audit, proofs, now, csvTurns, longRowTurns }: ExportNeeds,
  organization: string,
  { format, bom, filter }: ExportView,
  { party, gone, isAllowed }: ExportReader,
): Promise<Reply> {
  // Read before the rows, so that the export has all events of it that match. Damage there does not stop an export.
  const signed = await proofs?.signedSize({ organization, log: "audit" }).catch(() => undefined);
  const { total, rows } = await audit.export(organization, filter, { party, gone });
  const check = regularCheck(isAllowed, now, NO_LONGER_ALLOWED);
  let sent = 0;
  const moment = formatTimestamp(now()).replaceAll(/[-:]|\.\d+/g, "");
  return streamOf(
    `${EXPORT_TYPES[format]}; charset=utf-8`,
    rows,
    async (output, signal) => {
      const send = async (piece: Buffer | string): Promise<void> => {
        signal.throwIfAborted();
        await check();
        await write(output, piece, signal);
        sent += piece.length;
      };
      if (format === "ndjson") await eachPiece(rows, send);
      else {
        const taken = () => (output.writableLength > 0 ? sent : undefined);
        const reader = { taken, cut: () => void output.destroy() };
        const turns = {
          piece: () => csvTurns.wait(party, signal, reader),
          longRow: () => longRowTurns.wait(party, signal, reader),
        };
        await send(bom === true ? BYTE_ORDER_MARK + CSV_HEADER : CSV_HEADER);
        await sendLines(rows[Symbol.asyncIterator](), send, turns, new Yielder(signal, party));
      }
    },
    [
      ...["Content-Disposition", `attachment; filename="audit-${moment}.${format}"`],
      ...["X-Total-Count", String(total)],
      ...(signed === undefined ? [] : ["X-Checkpoint", String(signed)]),
    ],
  );
}

/** The turns of the pieces of a CSV file. */
type CsvTurns = Readonly<Record<"piece" | "longRow", () => Promise<() => void>>>;

/** Sends rows as lines of CSV. */
async function sendLines(
  rows: AsyncIterator<Buffer>,
  send: (piece: Buffer | string) => Promise<void>,
  turns: CsvTurns,
  yielder: Yielder,
): Promise<void> {
  for (;;) {
    const endTurn = await turns.piece();
    if (!(await sendPiece(rows, send, turns, yielder, endTurn))) return;
  }
}

/**
 * Sends the next piece as lines of CSV; `false` after the last one. Reading a piece and turning it into lines takes a turn,
 * since there may be hundreds of exports: while they wait they keep nothing, as the loop itself would. Of a long row
 * several copies are in memory while it becomes a line, so its turn ends when the reader has the whole line. A row that
 * arrives in several pieces has a turn of the other kind from the second on: short pieces do not wait for readers of long
 * rows.
 */
async function sendPiece(
  rows: AsyncIterator<Buffer>,
  send: (piece: Buffer | string) => Promise<void>,
  turns: CsvTurns,
  yielder: Yielder,
  pieceTurn: () => void,
): Promise<boolean> {
  let endTurn = pieceTurn;
  try {
    const { done, value: piece } = await rows.next();
    if (done === true) return false;
    const isWhole = piece.at(-1) === NEWLINE;
    if (isWhole && !isLongRow(piece)) {
      const lines = await yielder.run(csvLines(piece));
      endTurn();
      await send(lines);
      return true;
    }
    const parts = [Buffer.from(piece)]; // the store may use the memory of a piece again
    if (!isWhole) {
      endTurn();
      endTurn = await turns.longRow();
      await readRest(rows, parts);
    }
    const line = await yielder.run(longCsvLine(Buffer.concat(parts)));
    for (let at = 0; at < line.length; at += PART_BYTES) {
      await send(line.subarray(at, at + PART_BYTES));
    }
    return true;
  } finally {
    endTurn();
  }
}

/** Reads the other pieces of a row. */
async function readRest(rows: AsyncIterator<Buffer>, parts: Buffer[]): Promise<void> {
  for (let isEnded = false; !isEnded;) {
    const { done, value: piece } = await rows.next();
    if (done === true) return;
    parts.push(Buffer.from(piece));
    isEnded = piece.at(-1) === NEWLINE;
  }
}

/** Whether a piece is one row, of which several copies would take much memory. */
function isLongRow(piece: Buffer): boolean {
  return piece.length > LONG_ROW_BYTES && piece.indexOf(NEWLINE) === piece.length - 1;
}

/** Writes, and waits until the operating system has taken the piece: only one piece at a time is in memory. */
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
