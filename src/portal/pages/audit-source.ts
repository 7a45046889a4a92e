/**
 * How the audit page's model is read: the same steps over the stores on the server and over the API
 * in a browser. However many events there are, it asks for one page of them and for one histogram.
 */
import type { AuditEvent, Interval } from "../../audit/schema.ts";
import {
  planChart,
  refineChart,
  type ChartPlan,
  type Counted,
  type TimeChart,
} from "./time-chart.ts";
import { ALL_TIME, filtersOf, queryOf, type AuditQuery, type AuditView } from "./audit-view.ts";
import type { PageContext } from "./parts.ts";

/** A page of a list. */
export interface AuditSlice {
  readonly events: readonly AuditEvent[];
  /** How many events match. */
  readonly total: number;
  readonly next_cursor?: string | undefined;
}

/** Where events are read. What it throws is said to the reader where `problemOf` has words for it. */
export interface AuditSource {
  page(query: AuditQuery, limit: number, cursor: string | undefined): Promise<AuditSlice>;
  /** The buckets in which something matches, oldest first. */
  histogram(query: AuditQuery, interval: Interval): Promise<readonly Counted[]>;
  event(id: string): Promise<FoundEvent>;
  /** The names that a reader may narrow by: the catalog's providers and those of events. */
  providers(): Promise<readonly string[]>;
  /** The message of a refusal; `undefined` for any other error. */
  problemOf(error: unknown): string | undefined;
}

/** A way out of a list that is empty. */
export interface WayOut {
  /** The filter to drop; `range` for the time. */
  readonly drop: ReturnType<typeof filtersOf>[number][0] | "range";
  /** How many events match then. */
  readonly total: number;
}

/** An event; `isCut` says that its longest texts are not whole. */
export interface FoundEvent {
  readonly event: AuditEvent;
  readonly isCut?: boolean;
}

/** What a reader opened. */
export type OpenEvent = FoundEvent | { readonly id: string; readonly problem: string };

/** The state of a live tail, and what it says. */
export interface Tail {
  readonly state: "off" | "connecting" | "live" | "waiting" | "stopped";
  readonly note?: string;
}

/** What the audit page shows. */
export interface AuditModel extends PageContext {
  readonly view: AuditView;
  /** What was asked for: a list goes on, and is exported, by exactly this. */
  readonly query: AuditQuery;
  /** What the provider filter suggests. */
  readonly providers?: readonly string[];
  readonly list?: AuditSlice;
  readonly chart?: TimeChart;
  /** The chart is still to come: the one that is shown stays until then. */
  readonly keepsChart?: true;
  readonly waysOut?: readonly WayOut[];
  readonly open?: OpenEvent;
  /** Why there is no list, in the service's words. */
  readonly problem?: string;
  readonly tail?: Tail;
  /** How many events came since, and are not in the list yet. */
  readonly arrived?: number;
}

/** How many events a page of the list holds. */
export const PAGE_EVENTS = 50;

const MOST_WAYS_OUT = 6;

/** Reads everything that a view shows; `onList` hears of a list with events, before they are counted over time. */
export async function readAudit(
  source: AuditSource,
  context: PageContext,
  view: AuditView,
  onList?: (model: AuditModel) => void,
): Promise<AuditModel> {
  const query = queryOf(view, context.now);
  const base = { ...context, view, query };
  const opening = view.event === undefined ? undefined : readEvent(source, view.event);
  opening?.catch(() => {}); // awaited below, which is too late where it fails before the list is there
  try {
    const list = await source.page(query, PAGE_EVENTS, view.cursor);
    if (list.total > 0) onList?.({ ...base, list });
    // A time in which nothing happened is shown all the same: one zooms out of it again.
    const hasTime = query.from !== undefined || query.to !== undefined;
    const [chart, waysOut, providers] = await Promise.all([
      hasTime || list.total > 0 ? readChart(source, query, list, context.now) : undefined,
      list.total > 0 ? undefined : findWaysOut(source, view, context.now),
      source.providers(),
    ]);
    const open = await opening;
    return {
      ...base,
      list,
      providers,
      ...(chart && { chart }),
      ...(waysOut && { waysOut }),
      ...(open && { open }),
    };
  } catch (error) {
    const open = await opening;
    return { ...base, ...(open && { open }), problem: wordsFor(source, error) };
  }
}

/** Reads the event that a reader opened; one that is not there is no failure of the page. */
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
  { events, next_cursor }: AuditSlice,
  now: number,
): Promise<TimeChart> {
  const newest = events[0]?.timestamp;
  const oldest = next_cursor === undefined ? events.at(-1)?.timestamp : undefined;
  const first = await readBuckets(source, query, planChart({ ...query, newest, oldest }, now));
  const finer = refineChart(first);
  return finer ? readBuckets(source, query, finer) : first;
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

/** What would match without each of the filters. */
async function findWaysOut(
  source: AuditSource,
  view: AuditView,
  now: number,
): Promise<readonly WayOut[]> {
  const names = filtersOf(view).map(([name]) => name);
  const isTimed = view.range !== undefined || view.from !== undefined || view.to !== undefined;
  const drops = [...(isTimed ? (["range"] as const) : []), ...names].slice(0, MOST_WAYS_OUT);
  const found = await Promise.all(
    drops.map(async (drop) => {
      const wider = { ...view, ...(drop === "range" ? ALL_TIME : { [drop]: undefined }) };
      const { total } = await source.page(queryOf(wider as AuditView, now), 1, undefined);
      return { drop, total };
    }),
  );
  return found.filter(({ total }) => total > 0).sort((a, b) => b.total - a.total);
}

function wordsFor(source: AuditSource, error: unknown): string {
  const words = source.problemOf(error);
  if (words === undefined) throw error;
  return words;
}
