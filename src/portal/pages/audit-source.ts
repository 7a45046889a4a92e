/**
 * Reads the model of the audit page: the same steps over the stores on the server and over the API in a
 * browser. It asks for one page of events and for one histogram, however many events there are.
 */
import type { AuditEvent, Interval } from "../../audit/schema.ts";
import {
  barsOf,
  planChart,
  refineChart,
  totalOf,
  type ChartPlan,
  type Counted,
  type TimeChart,
} from "./time-chart.ts";
import {
  AHEAD_MS,
  ALL_TIME,
  filtersOf,
  partOf,
  queryOf,
  type AuditQuery,
  type AuditView,
} from "./audit-view.ts";
import type { AuditColumn } from "./audit-columns.ts";
import type { Html } from "../html.ts";
import type { PageContext } from "./parts.ts";

/** A page of a list. */
export interface AuditSlice {
  readonly events: readonly AuditEvent[];
  /** The number of matching events. */
  readonly total: number;
  readonly next_cursor?: string | undefined;
}

/** The data of the audit page. Errors with a text from `problemOf` are shown to the reader. */
export interface AuditSource {
  page(query: AuditQuery, limit: number, cursor: string | undefined): Promise<AuditSlice>;
  /** The buckets with matching events, oldest first. */
  histogram(query: AuditQuery, interval: Interval): Promise<readonly Counted[]>;
  event(id: string): Promise<FoundEvent>;
  /** The providers to filter by: those of the catalog and those of events. */
  providers(): Promise<readonly string[]>;
  /** The message of a refusal; `undefined` for any other error. */
  problemOf(error: unknown): string | undefined;
}

/** A filter whose removal shows events where the list is empty, or its value as a part of a name. */
export interface WayOut {
  /** The filter to drop; `range` for the time range. */
  readonly drop: ReturnType<typeof filtersOf>[number][0] | "range";
  /** The changes that find names that contain the value; the filter is not dropped then. */
  readonly inPart?: AuditView;
  /** The number of events that match then. */
  readonly total: number;
}

/** An event; `isCut` means that long texts are cut. */
export interface FoundEvent {
  readonly event: AuditEvent;
  readonly isCut?: boolean;
  /** The download of its proof. Browsers add it by a module of their own, `browser/entries/audit-proof.ts`. */
  readonly proof?: Html | undefined;
}

/** The event that a reader opened, or why it cannot be shown; `isLost` when there was no answer. */
export type OpenEvent =
  | FoundEvent
  | { readonly id: string; readonly problem: string; readonly isLost?: boolean };

/** The state of a live tail, with a note for the reader. */
export interface TailState {
  readonly state: "off" | "connecting" | "live" | "waiting" | "stopped";
  readonly note?: string;
}

/** The model of the audit page. */
export interface AuditModel extends PageContext {
  readonly view: AuditView;
  /** The columns of the list that the reader chose; the usual ones when absent. */
  readonly columns?: readonly AuditColumn[];
  /** The query of the list. Its next pages and its export use the same query. */
  readonly query: AuditQuery;
  /** The suggestions of the provider filter. */
  readonly providers?: readonly string[] | undefined;
  readonly list?: AuditSlice;
  /** The service's time when the list was read, in milliseconds. */
  readonly readAt?: number;
  /** The number of events that a wrong clock dated after now; the list leaves them out. */
  readonly ahead?: number;
  readonly chart?: TimeChart | undefined;
  /** The chart is not read yet: the shown chart stays until then. */
  readonly keepsChart?: true | undefined;
  readonly waysOut?: readonly WayOut[] | undefined;
  readonly open?: OpenEvent | undefined;
  /** The service's message when the list cannot be read. */
  readonly problem?: string;
  readonly tail?: TailState;
  /** The number of arrived events that are not in the list yet. */
  readonly arrived?: number;
}

/** The number of events that a list begins with. They fill a window; more would delay its first paint. */
const FIRST_EVENTS = 30;
/** The number of older events that are added to a list. */
export const PAGE_EVENTS = 50;

const MOST_WAYS_OUT = 6;

/** Reads the model of a view; `onList` gets it as soon as the list is read, unless the list is empty. */
export async function readAudit(
  source: AuditSource,
  context: PageContext,
  view: AuditView,
  onList?: (model: AuditModel) => void,
): Promise<AuditModel> {
  const asked = queryOf(view, context.now);
  const opening = view.event === undefined ? undefined : readEvent(source, view.event);
  opening?.catch(() => {}); // awaited below, which would be too late if it failed before the list
  try {
    const { query, list, ahead } = await readList(source, asked, view.cursor, context.now);
    const base = { ...context, view, query, list, readAt: context.now, ahead };
    if (list.total > 0) onList?.(base);
    // A time range without events has a chart, too, so that the reader can zoom out again.
    const hasTime = query.from !== undefined || query.to !== undefined;
    const [chart, waysOut, providers] = await Promise.all([
      hasTime || list.total > 0 ? readChart(source, query, list, context.now) : undefined,
      list.total > 0 ? undefined : findWaysOut(source, view, context.now),
      source.providers(),
    ]);
    return { ...base, chart, waysOut, providers, open: await opening };
  } catch (error) {
    const open = await opening;
    return { ...context, view, query: asked, open, problem: wordsFor(source, error) };
  }
}

/**
 * Reads the first page of a list. Events that are dated after now would stand above all others until
 * their time comes: where there are some, the list ends now, and they are only counted.
 */
async function readList(
  source: AuditSource,
  query: AuditQuery,
  cursor: string | undefined,
  now: number,
): Promise<{ readonly query: AuditQuery; readonly list: AuditSlice; readonly ahead: number }> {
  const isFirst = cursor === undefined;
  const list = await source.page(query, isFirst ? FIRST_EVENTS : PAGE_EVENTS, cursor);
  const whole = { query, list, ahead: 0 };
  const [newest] = list.events;
  if (!isFirst || !newest || !isAhead(newest, query, now)) return whole;
  const latest = Math.max(now, Date.parse(newest.ingested_at));
  const untilNow = { ...query, to: new Date(latest + AHEAD_MS).toISOString() };
  const present = await source.page(untilNow, FIRST_EVENTS, undefined);
  if (present.total === 0) return whole;
  return { query: untilNow, list: present, ahead: Math.max(0, list.total - present.total) };
}

/**
 * Whether an event is dated after now, in a view that does not ask for such times. Its arrival counts
 * where it is later: the clock of a page may stand still while the machine sleeps.
 */
export function isAhead(
  { timestamp, ingested_at: arrived }: Pick<AuditEvent, "timestamp" | "ingested_at">,
  { from, to }: AuditQuery,
  now: number,
): boolean {
  if (to !== undefined || Date.parse(from ?? "") > now) return false;
  return Date.parse(timestamp) > Math.max(now, Date.parse(arrived)) + AHEAD_MS;
}

/** Reads the event that a reader opened; the page is shown even if the event is missing. */
export async function readEvent(source: AuditSource, id: string): Promise<OpenEvent> {
  try {
    return await source.event(id);
  } catch (error) {
    return { id, problem: wordsFor(source, error) };
  }
}

/** Counts the events of a list over time. */
export async function readChart(
  source: AuditSource,
  query: AuditQuery,
  { events, next_cursor, total }: AuditSlice,
  now: number,
): Promise<TimeChart> {
  const newest = events[0]?.timestamp;
  const oldest = next_cursor === undefined ? events.at(-1)?.timestamp : undefined;
  const first = await readBuckets(source, query, planChart({ ...query, newest, oldest }, now));
  const finer = refineChart(first);
  const chart = finer ? await readBuckets(source, query, finer) : first;
  const shown = barsOf(chart).reduce((sum, bar) => sum + totalOf(bar), 0);
  return { ...chart, earlier: Math.max(0, total - shown) };
}

async function readBuckets(
  source: AuditSource,
  query: AuditQuery,
  plan: ChartPlan,
): Promise<TimeChart> {
  const { interval, from, to } = plan;
  const moments = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  return { plan, buckets: await source.histogram({ ...query, ...moments }, interval) };
}

/** The numbers of events that would match without each of the filters. */
async function findWaysOut(
  source: AuditSource,
  view: AuditView,
  now: number,
): Promise<readonly WayOut[]> {
  const names = filtersOf(view).map(([name]) => name);
  const isTimed = view.range !== undefined || view.from !== undefined || view.to !== undefined;
  const drops = [...(isTimed ? (["range"] as const) : []), ...names].slice(0, MOST_WAYS_OUT);
  const ways: Omit<WayOut, "total">[] = drops.flatMap((drop) => {
    const inPart = drop === "range" ? undefined : partOf(view, drop);
    return inPart ? [{ drop, inPart }, { drop }] : [{ drop }];
  });
  const found = await Promise.all(
    ways.map(async (way) => {
      const { drop, inPart = drop === "range" ? ALL_TIME : { [drop]: undefined } } = way;
      const wider = { ...view, ...inPart } as AuditView;
      const { total } = await source.page(queryOf(wider, now), 1, undefined);
      return { ...way, total };
    }),
  );
  const isInPart = ({ inPart }: WayOut): number => Number(inPart !== undefined);
  return found
    .filter(({ total }) => total > 0)
    .sort((a, b) => isInPart(b) - isInPart(a) || b.total - a.total);
}

function wordsFor(source: AuditSource, error: unknown): string {
  const words = source.problemOf(error);
  if (words === undefined) throw error;
  return words;
}
