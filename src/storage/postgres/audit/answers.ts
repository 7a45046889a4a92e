/** Answers pages and exports with the stored lines, byte for byte. */
import type { AuditExport, AuditFilter, AuditRows } from "../../../audit/store.ts";
import { listPosition, type ListPlace } from "../../../audit/positions.ts";
import { closing } from "../../../core/pieces.ts";
import { TextCutter } from "../../../core/json/text-cutter.ts";
import type { Searcher } from "../../../core/scheduling/fair-share.ts";
import type { Database } from "../database.ts";
import type { Readers } from "./readers.ts";
import { piecesOf, readRows, type Selection } from "./rows.ts";
import { totalOf } from "./totals.ts";

const COMMA = Buffer.from(",");

/** The part of the matches that a page shows. */
export interface PageParts {
  readonly limit: number;
  readonly start: number | ListPlace;
  readonly searcher: Searcher | undefined;
  readonly characters: number | undefined;
}

/** Answers a page; see `AuditStore.page`. */
export async function answerPage(
  database: Database,
  organization: string,
  filter: AuditFilter,
  { limit, start, searcher, characters }: PageParts,
): Promise<AuditRows> {
  const moment = await totalOf(database, organization, filter, searcher);
  const total = moment?.total ?? 0;
  if (moment === undefined || total === 0 || (typeof start === "number" && start >= total)) {
    return { json: Buffer.alloc(0), returned: 0, total, next: undefined };
  }
  const selection: Selection = { database, organization, filter, moment, searcher };
  const found = await readRows(selection, start, limit + 1);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const next = found.length > limit && last ? listPosition(last) : undefined;
  const answer = { returned: rows.length, total, next };
  if (characters !== undefined) {
    const cut = withinPage((lines) => shortened(lines, characters));
    const read: Buffer[] = [];
    for await (const piece of piecesOf(selection, rows, cut)) read.push(piece);
    return { ...answer, json: Buffer.concat(read) };
  }
  const lines = rows.flatMap(({ line }) => line ?? []);
  const joined = withinPage((some) => Buffer.from(some.join(",")));
  if (lines.length === rows.length) return { ...answer, json: joined(lines) };
  const pieces = piecesOf(selection, rows, joined);
  return { ...answer, json: closing(pieces, () => {}) };
}

/** Puts a comma before every piece of a page but the first. */
function withinPage(
  joined: (lines: readonly string[]) => Buffer,
): (lines: readonly string[]) => Buffer {
  let isFirst = true;
  return (lines) => {
    const piece = joined(lines);
    if (!isFirst) return Buffer.concat([COMMA, piece]);
    isFirst = false;
    return piece;
  };
}

function shortened(lines: readonly string[], characters: number): Buffer {
  const parts = lines.flatMap((line) => {
    const bytes = Buffer.from(line);
    // A line within the limit of a text cannot contain a longer text.
    return [COMMA, bytes.length <= characters ? bytes : new TextCutter(characters).cut(bytes)];
  });
  return Buffer.concat(parts.slice(1));
}

/**
 * Answers an export; see `AuditStore.export`. Its rows are kept until it is closed, or a day after their removal. If its lease
 * was lost meanwhile, or rows are missing, reading them throws.
 */
export async function answerExport(
  database: Database,
  organization: string,
  filter: AuditFilter,
  searcher: Searcher | undefined,
  readers: Readers,
): Promise<AuditExport> {
  const moment = await totalOf(database, organization, filter, searcher);
  if (moment === undefined) return { total: 0, rows: closing(nothing(), () => {}) };
  const { lost, end } = await readers.keep(moment.days);
  const gone = searcher?.gone ? AbortSignal.any([searcher.gone, lost]) : lost;
  const reader = { ...searcher, gone };
  const selection: Selection = { database, organization, filter, moment, searcher: reader };
  const pieces = piecesOf(selection, undefined, withinExport);
  return { total: moment.total, rows: closing(pieces, end) };
}

function withinExport(lines: readonly string[]): Buffer {
  return Buffer.from(`${lines.join("\n")}\n`);
}

async function* nothing(): AsyncGenerator<Buffer> {}
