/** Answers pages and exports with the stored lines, byte for byte. */
import type { AuditExport, AuditFilter, AuditRows } from "../../../audit/store.ts";
import { listPosition, type ListPlace } from "../../../audit/positions.ts";
import { closing } from "../../../core/pieces.ts";
import { TextCutter } from "../../../core/text-cutter.ts";
import { Yielder } from "../../../core/yielder.ts";
import type { Database } from "../database.ts";
import type { Moment } from "./days.ts";
import type { Lease } from "./readers.ts";
import { linesOf, PORTION_ROWS, readRows, type Selection } from "./rows.ts";
import { totalOf } from "./totals.ts";

const COMMA = Buffer.from(",");
const NEWLINE = Buffer.from("\n");
/** The most bytes of a piece. */
const PIECE_BYTES = 128 << 10;

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
    const json = await shortened(linesOf(database, selection, rows, limit), characters);
    return { ...answer, json };
  }
  if (rows.every(({ line }) => line !== null)) {
    return { ...answer, json: Buffer.from(rows.map(({ line }) => line).join(",")) };
  }
  const pieces = pagePieces(linesOf(database, selection, rows, rows.length));
  return { ...answer, json: closing(pieces, () => {}) };
}

async function shortened(
  portions: AsyncIterable<readonly Buffer[]>,
  characters: number,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const lines of portions) {
    for (const line of lines) {
      // A line within the limit of a text cannot contain a longer text.
      const isShort = line.length <= characters;
      parts.push(COMMA, isShort ? line : Buffer.from(new TextCutter(characters).cut(line)));
    }
  }
  return Buffer.concat(parts.slice(1));
}

async function* pagePieces(portions: AsyncIterable<readonly Buffer[]>): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const lines of portions) {
    for (const line of lines) {
      if (!isFirst) yield COMMA;
      isFirst = false;
      for (let at = 0; at < line.length; at += PIECE_BYTES) {
        yield line.subarray(at, at + PIECE_BYTES);
      }
    }
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
  const read = async function* (): AsyncGenerator<readonly Buffer[]> {
    const rows = await readRows(database, selection, 0, PORTION_ROWS);
    yield* linesOf(database, selection, rows, Infinity);
  };
  return { total: moment.total, rows: closing(exportPieces(read(), signal), end) };
}

async function* exportPieces(
  portions: AsyncIterable<readonly Buffer[]> | Iterable<readonly Buffer[]>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const yielder = new Yielder(signal);
  for await (const lines of portions) {
    let whole: Buffer[] = [];
    let bytes = 0;
    for (const line of lines) {
      if (bytes > 0 && bytes + line.length > PIECE_BYTES) {
        yield Buffer.concat(whole);
        [whole, bytes] = [[], 0];
        await yielder.step();
      }
      if (line.length < PIECE_BYTES) {
        whole.push(line, NEWLINE);
        bytes += line.length + 1;
        continue;
      }
      for (let at = 0; at < line.length; at += PIECE_BYTES) {
        yield line.subarray(at, at + PIECE_BYTES);
      }
      yield NEWLINE;
    }
    if (bytes > 0) yield Buffer.concat(whole);
    signal?.throwIfAborted();
  }
}
