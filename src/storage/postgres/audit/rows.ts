/**
 * Reads rows in the order of lists, in portions of bounded size. Rows never change and row numbers only grow. So
 * portions that are limited to the same last row show the same moment without an open transaction.
 */
import { LONG_READS, withinASecond } from "../../../audit/long-reads.ts";
import { removedMeanwhile } from "../../../audit/removed-meanwhile.ts";
import type { AuditFilter } from "../../../audit/store.ts";
import type { ListPlace } from "../../../audit/positions.ts";
import type { Searcher } from "../../../core/scheduling/fair-share.ts";
import { Turns } from "../../../core/scheduling/turns.ts";
import type { Database } from "../database.ts";
import { byOrganization } from "../searches.ts";
import { Values } from "../values.ts";
import { conditionsOf, isCounted } from "./conditions.ts";
import { windowsOf, type Moment, type Window } from "./days.ts";
import { ALL_HOURS, hoursAt, type Hours } from "./totals.ts";

/** The most rows of one portion, and the most text that is read at once. */
const PORTION_ROWS = 1_000;
const PORTION_BYTES = 512 << 10;
/**
 * Portions of exports wait for each other, and begin seldom while connections arrive: hundreds of exports would take
 * every connection to the database, and their rows make each turn of the event loop long.
 */
const portions = new Turns({
  atOnce: 4,
  atOnceOfOne: 2,
  atOnceOfGroups: [2],
  waiting: Infinity,
});
/** The lines that are longer than a portion. Each export would have one in memory, and cuts come after a second. */
const longLines = new Turns(LONG_READS);
/** A search with at most this many matches sorts all of them; a larger search scans from the newest row on. */
const FEW = 5_000;

/** A row, and its line unless the portion was too long already, or the line was taken. */
export interface Row {
  readonly row: number;
  readonly day: string;
  readonly timestamp: number;
  readonly line: string | null;
}

/** The rows to read: the matches of a filter at one moment. */
export interface Selection {
  readonly database: Database;
  readonly organization: string;
  readonly filter: AuditFilter;
  readonly moment: Moment & { readonly total: number };
  readonly searcher: Searcher | undefined;
}

/** Reads rows, newest first, after an offset or a place, with the lines that fit into the portion. */
export async function readRows(
  selection: Selection,
  start: number | ListPlace,
  limit: number,
): Promise<Row[]> {
  const { filter, moment } = selection;
  const isAfter = typeof start !== "number";
  const to = isAfter ? Math.min(filter.to ?? Infinity, start.timestamp + 1) : filter.to;
  if (start !== 0 && !isAfter) return readAt(selection, start, limit);
  const windows = [...windowsOf(moment.days, { from: filter.from, to })];
  const rows: Row[] = [];
  for (const window of windows) {
    selection.searcher?.gone?.throwIfAborted();
    rows.push(...(await readWindow(selection, start, limit - rows.length, window)));
    if (rows.length === limit) break;
  }
  return rows;
}

/**
 * Reads rows after an offset. Skips whole hours if the counters have the number of their matches. The counters also have
 * events that were stored after the moment, so the hours may lack some of the rows: then no hours are skipped.
 */
async function readAt(selection: Selection, offset: number, limit: number): Promise<Row[]> {
  const { database, organization, filter, moment } = selection;
  const readIn = ({ oldest, newest, before }: Hours): Promise<readonly Row[]> => {
    const days = moment.days.filter((day) => day.newest >= oldest && day.oldest <= newest);
    const window = { oldest, newest, days: days.map(({ day }) => day) };
    return readWindow(selection, offset - before, limit, window);
  };
  if (isCounted(filter)) {
    const rows = await readIn(await hoursAt(database, organization, filter, { offset, limit }));
    if (rows.length >= Math.min(limit, moment.total - offset)) return [...rows];
  }
  return [...(await readIn(ALL_HOURS))];
}

function readWindow(
  { database, organization, filter, moment, searcher }: Selection,
  start: number | ListPlace,
  limit: number,
  { oldest, newest, days }: Window,
): Promise<readonly Row[]> {
  const values = new Values(organization, moment.last_seq, days);
  const conditions = conditionsOf(filter, values);
  const bounds =
    (oldest === -Infinity ? "" : ` AND time_ms >= ${values.add(oldest)}`) +
    (newest === Infinity ? "" : ` AND time_ms <= ${values.add(newest)}`);
  const after =
    typeof start === "number"
      ? ""
      : ` AND (time_ms, seq) < (${values.add(start.timestamp)}, ${values.add(start.row)})`;
  const skipped = typeof start === "number" && start > 0 ? ` OFFSET ${values.add(start)}` : "";
  // `+ 0` keeps the planner from scanning all rows in the order of time to find a few matches.
  const time = !isCounted(filter) && moment.total <= FEW ? "time_ms + 0" : "time_ms";
  const text = `
    SELECT seq AS row, day::text AS day, time_ms AS timestamp,
           CASE WHEN sum(bytes) OVER (ORDER BY time_ms DESC, seq DESC) <= ${PORTION_BYTES} THEN line END AS line
      FROM (SELECT seq, day, time_ms, bytes, line FROM audit_events
             WHERE organization_id = $1 AND seq <= $2 AND day = ANY ($3)${conditions}${bounds}${after}
             ORDER BY ${time} DESC, seq DESC LIMIT ${values.add(limit)}${skipped}) AS page
     ORDER BY time_ms DESC, seq DESC`;
  return isCounted(filter)
    ? database.query<Row>(text, values.all)
    : database.search<Row>(text, values.all, searcher);
}

/**
 * Reads the lines of rows, joined to pieces, and then those of the rows after them. A reader may be slow, and there may
 * be thousands of readers: between two pieces only a place stays in memory. So this is not an async generator, which
 * would keep its last piece. A long line has a turn until the next piece is asked for, or for a second.
 *
 * @param read the rows whose lines are wanted; if absent, all rows are read, the first ones when they are asked for
 * @param joined makes a piece of lines
 * @throws Unavailable at the end if some of the rows were missing
 */
export function piecesOf(
  selection: Selection,
  read: readonly Row[] | undefined,
  joined: (lines: readonly string[]) => Buffer,
): AsyncIterable<Buffer> {
  let first = read;
  let place: number | ListPlace = 0;
  const expected = read?.length ?? selection.moment.total;
  let left = read?.length ?? Infinity;
  let sent = 0;
  // The rows of an answer that is being sent are read when its organization's turn has come.
  const asker = byOrganization(selection.organization, selection.searcher);
  const readOn = () =>
    portions.run(asker, () => readRows(selection, place, Math.min(left, PORTION_ROWS)));
  const { party = ["", selection.organization], gone } = selection.searcher ?? {};
  let endTurn = (): void => {};
  const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
    endTurn();
    gone?.throwIfAborted();
    if (left <= 0) return { done: true, value: undefined };
    const rows = first ?? (await readOn());
    first = undefined;
    const count = countRead(rows, left) || 1;
    const last = rows[count - 1];
    if (last === undefined) {
      if (sent < expected) throw removedMeanwhile(`${sent} of ${expected} events were there`);
      return { done: true, value: undefined };
    }
    place = { row: last.row, timestamp: last.timestamp };
    left -= count;
    sent += count;
    const lines = rows.slice(0, count).flatMap(({ line }) => line ?? []);
    if (lines.length > 0) return { value: joined(lines) };
    endTurn = withinASecond(await longLines.wait(party, gone));
    return { value: joined([await readLine(selection, last)]) };
  };
  const end = async (): Promise<IteratorResult<Buffer, undefined>> => {
    endTurn();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

/** The number of first rows whose lines were read; 0 if the first line is too long for a portion. */
function countRead(rows: readonly Row[], most: number): number {
  const unread = rows.findIndex(({ line }) => line === null);
  return Math.min(unread === -1 ? rows.length : unread, most);
}

/** Reads a line that is too long for a portion. */
async function readLine(
  { database, organization, searcher }: Selection,
  { row, day }: Row,
): Promise<string> {
  const [found] = await database.search<{ line: string }>(
    "SELECT line FROM audit_events WHERE organization_id = $1 AND day = $2 AND seq = $3",
    [organization, day, row],
    searcher,
  );
  if (found === undefined) throw removedMeanwhile(`Row ${row} of ${day} was not there any more`);
  return found.line;
}
