/**
 * Answers queries over one organization's events: pages and exports. `MergingCursor` finds the rows, and the
 * answer consists of their lines, byte for byte as in the log. Each query takes its views when it arrives, so
 * its answer shows one moment.
 */
import { RemovedPosition, type AuditExport, type AuditRows } from "../../../../audit/store.ts";
import type { Searcher } from "../../../../core/scheduling/fair-share.ts";
import type { SegmentedLog } from "../../../segmented-log.ts";
import { portionsOf, type Slice } from "../../../segment-reader.ts";
import type { AnswerInPieces } from "../leases.ts";
import { listPosition, type ListPlace } from "../../../../audit/positions.ts";
import { lengthOfLine } from "../write/lines.ts";
import { MergingCursor, type MatchingRow } from "./merging-cursor.ts";
import { Yielder } from "../../../../core/scheduling/yielder.ts";
import type { SegmentQuery } from "./segment-query.ts";
import { segmentViewOf } from "./select-rows.ts";
import { segmentOf, sliceOf, type GlobalRow, type SegmentIndex } from "../index/segment-index.ts";
import { lineParts, PIECE_BYTES, readShort, type Shortening } from "./short-lines.ts";

const COMMA = 0x2c;
const NEWLINE = 0x0a;
/** The rows that an export selects at once; each read is bounded in bytes, too: an event may be some MiB long. */
const EXPORT_ROWS = 256;
/** Enough for the slices of a piece and the gaps between most of them. */
const ROOM_BYTES = 4 * PIECE_BYTES;

/** The start of a page: after a number of rows, or after a place. */
export type PageStart = number | ListPlace<GlobalRow>;

/** The requested part of the matches, and the way to read it. */
export interface PageParts {
  readonly limit: number;
  readonly start: PageStart;
  readonly reader: Searcher | undefined;
  readonly answer: AnswerInPieces;
  /** If absent, texts are not shortened. */
  readonly shortening?: Shortening | undefined;
}

/** Answers a page. A long page is read piece by piece under a lease, like an export. */
export async function answerPage(
  log: SegmentedLog,
  indexes: readonly SegmentIndex[],
  query: SegmentQuery,
  { limit, start, reader, answer, shortening }: PageParts,
): Promise<AuditRows> {
  const { party, gone } = reader ?? {};
  const [offset, after] = typeof start === "number" ? [start, undefined] : [0, start];
  if (after !== undefined && isRemoved(after, indexes)) throw new RemovedPosition();
  const views = indexes.map(segmentViewOf);
  const cursor = await MergingCursor.of(views, query, new Yielder(gone, party), after);
  await cursor.skip(offset);
  const matches = await cursor.take(limit);
  const place = await cursor.positionAfter(matches);
  const next = place && listPosition(place);
  const slices = slicesOf(matches);
  const facts = { returned: matches.length, total: cursor.total, next };
  if (shortening) {
    const lines = await readShort(log, slices, shortening, gone);
    return { json: joined(lines, COMMA), ...facts };
  }
  const bytes = slices.reduce((sum, { length }) => sum + length, 0);
  if (bytes <= PIECE_BYTES) return { json: joined(await log.read(slices), COMMA), ...facts };
  const json = answer((lost) => pieces(readingOf(log, until(lost, reader)), slices, COMMA));
  return { json, ...facts };
}

/** Whether the event at a place was removed with its segment; older segments are always removed first. */
function isRemoved({ row }: ListPlace<GlobalRow>, [oldest]: readonly SegmentIndex[]): boolean {
  return oldest !== undefined && segmentOf(row) < oldest.segment;
}

/** Answers an export: all matches, read piece by piece under a lease. */
export async function answerExport(
  log: SegmentedLog,
  indexes: readonly SegmentIndex[],
  query: SegmentQuery,
  reader: Searcher | undefined,
  answer: AnswerInPieces,
): Promise<AuditExport> {
  const yielder = new Yielder(reader?.gone, reader?.party);
  const cursor = await MergingCursor.of(indexes.map(segmentViewOf), query, yielder);
  const rows = answer((lost) => exportPieces(log, cursor, until(lost, reader)));
  return { total: cursor.total, rows };
}

/** A reader whose reading ends when the answer is lost, too. */
function until(lost: AbortSignal, { party, gone }: Searcher = {}): Searcher {
  return { party, gone: gone ? AbortSignal.any([gone, lost]) : lost };
}

async function* exportPieces(
  log: SegmentedLog,
  cursor: MergingCursor,
  reader: Searcher | undefined,
): AsyncGenerator<Buffer> {
  const pieceRoom = Buffer.allocUnsafeSlow(2 * PIECE_BYTES);
  const reading = { ...readingOf(log, reader), pieceRoom };
  for (;;) {
    reader?.gone?.throwIfAborted();
    const slices = slicesOf(await cursor.take(EXPORT_ROWS));
    if (slices.length === 0) return;
    yield* pieces(reading, slices, NEWLINE, true);
  }
}

/** The log that an answer reads piece by piece, and the memory that it uses for one piece after another. */
interface Reading {
  readonly log: SegmentedLog;
  readonly reader: Searcher | undefined;
  readonly room: Buffer;
  /** For the pieces themselves; absent if the client may keep them. */
  readonly pieceRoom?: Buffer;
}

function readingOf(log: SegmentedLog, reader: Searcher | undefined): Reading {
  return { log, reader, room: Buffer.allocUnsafeSlow(ROOM_BYTES) };
}

/** Reads lines piece by piece; `isEnded` puts the separator after the last line, too. */
async function* pieces(
  { log, reader, room, pieceRoom }: Reading,
  slices: readonly Slice[],
  separator: number,
  isEnded = false,
): AsyncGenerator<Buffer> {
  const { party, gone } = reader ?? {};
  const yielder = new Yielder(gone, party);
  let left = slices.length;
  for (const portion of portionsOf(slices, PIECE_BYTES)) {
    gone?.throwIfAborted();
    left -= portion.length;
    const isSeparated = isEnded || left > 0;
    const [first] = portion;
    if (first !== undefined && first.length > PIECE_BYTES) {
      yield* lineParts(log, first, yielder);
      if (isSeparated) yield Buffer.of(separator);
    } else yield joined(await log.read(portion, room), separator, isSeparated, pieceRoom);
    await yielder.step(); // cached ranges would be read and sent without a turn of the loop
  }
}

/** Joins the first line of each slice with a separator, which also follows the last one if `isEnded`. */
function joined(
  slices: readonly Buffer[],
  separator: number,
  isEnded = false,
  room?: Buffer,
): Buffer {
  let length = 0;
  for (const slice of slices) length += slice.length + 1;
  const target = room && length <= room.length ? room : Buffer.allocUnsafe(length);
  let end = 0;
  for (const slice of slices) {
    if (end > 0) target[end++] = separator;
    target.set(slice, end); // the rest of the slice is overwritten
    end += lengthOfLine(slice);
  }
  if (isEnded) target[end++] = separator;
  return target.subarray(0, end);
}

function slicesOf(matches: readonly MatchingRow[]): readonly Slice[] {
  return matches.map(({ view, row }) => sliceOf(view.index, row));
}
