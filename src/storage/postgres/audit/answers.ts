/** Answers pages and exports with the stored lines, byte for byte. */
import type { AuditExport, AuditFilter, AuditRows } from "../../../audit/store.ts";
import { listPosition, type ListPlace } from "../../../audit/positions.ts";
import { closing } from "../../../core/pieces.ts";
import { TextCutter } from "../../../core/text-cutter.ts";
import { Yielder } from "../../../core/yielder.ts";
import type { Database } from "../database.ts";
import type { Moment } from "./days.ts";
import type { Lease } from "./readers.ts";
import { piecesOf, PORTION_ROWS, readPortion, readRows, type Selection } from "./rows.ts";
import { totalOf } from "./totals.ts";

const COMMA = Buffer.from(",");

/** The part of the matches that a page shows. */
export interface PageParts {
  readonly limit: number;
  readonly start: number | ListPlace;
  readonly signal: AbortSignal | undefined;
  readonly characters: number | undefined;
}

/** Answers a page; see `AuditStore.page`. */
export async function answerPage(
  database: Database,
  organization: string,
  filter: AuditFilter,
  { limit, start, signal, characters }: PageParts,
): Promise<AuditRows> {
  const moment = await totalOf(database, organization, filter, signal);
  const total = moment?.total ?? 0;
  if (moment === undefined || total === 0 || (typeof start === "number" && start >= total)) {
    return { json: Buffer.alloc(0), returned: 0, total, next: undefined };
  }
  const selection: Selection = { organization, filter, moment, signal };
  const found = await readRows(database, selection, start, limit + 1);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last ? listPosition(last) : undefined;
  const answer = { returned: rows.length, total, next };
  if (characters !== undefined) {
    const cut = (lines: readonly string[]): Buffer => shortened(lines, characters);
    const pieces = withCommas(piecesOf(database, selection, rows, limit, cut));
    const read: Buffer[] = [];
    for await (const piece of pieces) read.push(piece);
    return { ...answer, json: Buffer.concat(read) };
  }
  const lines = rows.flatMap(({ line }) => line ?? []);
  if (lines.length === rows.length) return { ...answer, json: withinPage(lines) };
  const pieces = withCommas(piecesOf(database, selection, rows, rows.length, withinPage));
  return { ...answer, json: closing(pieces, () => {}) };
}

function withinPage(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join(","));
}

function shortened(lines: readonly string[], characters: number): Buffer {
  const parts = lines.flatMap((line) => {
    const bytes = Buffer.from(line);
    // A line within the limit of a text cannot contain a longer text.
    return [COMMA, bytes.length <= characters ? bytes : new TextCutter(characters).cut(bytes)];
  });
  return Buffer.concat(parts.slice(1));
}

async function* withCommas(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const piece of pieces) {
    if (!isFirst) yield COMMA;
    isFirst = false;
    yield piece;
  }
}

/** Answers an export; see `AuditStore.export`. Its rows are kept until it is closed. */
export async function answerExport(
  database: Database,
  organization: string,
  filter: AuditFilter,
  signal: AbortSignal | undefined,
  lease: (days: Moment["days"]) => Promise<Lease>,
): Promise<AuditExport> {
  const moment = await totalOf(database, organization, filter, signal);
  if (moment === undefined) return { total: 0, rows: closing(exportPieces([], signal), () => {}) };
  const selection: Selection = { organization, filter, moment, signal };
  const end = await lease(moment.days);
  const read = async function* (): AsyncGenerator<Buffer> {
    const rows = await readPortion(database, selection, 0, PORTION_ROWS);
    yield* piecesOf(database, selection, rows, Infinity, withinExport);
  };
  return { total: moment.total, rows: closing(exportPieces(read(), signal), end) };
}

function withinExport(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join("\n")}\n`);
}

async function* exportPieces(
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const yielder = new Yielder(signal);
  for await (const piece of pieces) {
    yield piece;
    await yielder.step();
    signal?.throwIfAborted();
  }
}
