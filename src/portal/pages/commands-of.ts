/** The commands of a runtime, of a person or agent, or of a provider: the common part of their pages. */
import type { AuditEvent } from "../../audit/schema.ts";
import { DAY_MS } from "../../core/clock.ts";
import { ago, count, counted, percent, shortDay, shorten } from "../format.ts";
import { html, type Html } from "../html.ts";
import { AUDIT_PATH } from "../page-link.ts";
import { unbroken } from "../unbroken.ts";
import { zoneWords } from "../zone.ts";
import { readChart, type AuditSlice } from "./audit-source.ts";
import { AHEAD_MS, searchesFrom, valueWords, viewHref, type AuditView } from "./audit-view.ts";
import { barChart, barTable, chartLegend } from "./bar-chart.ts";
import { chartBars } from "./chart-labels.ts";
import { denialList } from "./denial-list.ts";
import {
  card,
  decisionBadge,
  emptyState,
  subjectOf,
  table,
  timeAgo,
  type PageContext,
} from "./parts.ts";
import type { PageSource } from "./source.ts";
import { barsOf, planChart, totalOf, type TimeChart } from "./time-chart.ts";

/** The filter that selects the commands. */
export type CommandsFilter = Pick<AuditView, "runtime" | "executor" | "provider">;

/** The commands that a filter selects. */
export interface CommandsOf {
  readonly filter: CommandsFilter;
  /** The newest commands of all time, newest first. */
  readonly newest: AuditSlice;
  /** The newest denied commands. */
  readonly denied: AuditSlice;
  /** The commands of the last seven days. */
  readonly week: TimeChart;
  /** The first command in the log; absent without commands. */
  readonly first?: FirstCommand | undefined;
}

/** The time of a first command: its moment in RFC 3339, or where that would be slow to find, the start of its day. */
export interface FirstCommand {
  readonly at: string;
  readonly isDay: boolean;
}

/** How many of the newest commands are read; the names beside them are of these. */
const NEWEST = 50;
const SHOWN = 15;
const MOST_DENIED = 6;
const MOST_NAMES = 12;
const CHART_HEIGHT = 120;
const COMMAND_LENGTH = 160;
const NAME_LENGTH = 60;

/**
 * Reads the commands that a filter selects; without a name there are none. Those that a wrong clock dated
 * after now are left out.
 */
export async function readCommandsOf(
  source: PageSource,
  { now }: PageContext,
  filter: CommandsFilter,
): Promise<CommandsOf> {
  const from = new Date(now - 7 * DAY_MS).toISOString();
  if (Object.values(filter).every((name) => name === "")) {
    const none = { events: [], total: 0 };
    const week = { plan: planChart({ from }, now), buckets: [] };
    return { filter, newest: none, denied: none, week };
  }
  const until = { ...filter, to: new Date(now + AHEAD_MS).toISOString() };
  const [newest, denied] = await Promise.all([
    source.page(until, NEWEST, undefined),
    source.page({ ...until, decision: "DENIED" }, MOST_DENIED, undefined),
  ]);
  const [week, first] = await Promise.all([
    readChart(source, { ...filter, from }, newest, now),
    readFirst(source, filter, newest, now),
  ]);
  return { filter, newest, denied, week, first };
}

/**
 * Reads when the first command was. Lists have the newest first, so that the oldest of many is far away: counts by
 * day find its day at once.
 */
async function readFirst(
  source: PageSource,
  filter: CommandsFilter,
  newest: AuditSlice,
  now: number,
): Promise<FirstCommand | undefined> {
  const oldest = newest.events.at(-1);
  if (!oldest) return undefined;
  if (newest.next_cursor === undefined) return { at: oldest.timestamp, isDay: false };
  const { from, to, interval } = planChart({}, now);
  const moments = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  const [first] = await source.histogram({ ...filter, ...moments }, interval);
  return first && { at: new Date(first.start).toISOString(), isDay: true };
}

/** The facts about the commands: the first and the last, how many events, and how many denied. */
export function commandFacts({ filter, newest, week, first }: CommandsOf, now: number) {
  const bars = barsOf(week);
  const total = bars.reduce((sum, bar) => sum + totalOf(bar), 0);
  const denied = bars.reduce((sum, bar) => sum + bar.denied, 0);
  const decided = bars.reduce((sum, bar) => sum + bar.allowed, denied);
  const last = newest.events[0];
  return [
    ["First in the log", first && firstTime(first, now)],
    ["Last command", last && timeAgo(last.timestamp, now)],
    [
      "Last 7 days",
      html`${auditLink(filter, { range: "7d" }, counted(total, "event"))},
        ${auditLink(filter, { range: "7d", decision: "DENIED" }, `${count(denied)} denied`)}
        <span class="faint">(${percent(denied, decided)} of decisions)</span>`,
    ],
    ["All time", auditLink(filter, {}, counted(newest.total, "event"))],
  ] as const;
}

function firstTime({ at, isDay }: FirstCommand, now: number): Html {
  if (!isDay) return timeAgo(at, now);
  const start = Date.parse(at);
  const day = `${shortDay(start)} ${at.slice(0, 4)}`;
  return html`<time datetime="${at.slice(0, 10)}" title="${day}, UTC"
    >${now - start < DAY_MS ? "today" : ago(start, now)}</time
  >`;
}

/** The different values of a field of events, most frequent first, as links. */
export function namesIn(
  events: readonly AuditEvent[],
  field: "executor" | "runtime_name" | "provider" | "consumer",
  linkTo: (name: string) => string,
): Html | undefined {
  const numbers = new Map<string, number>();
  for (const { [field]: name } of events) {
    if (name !== undefined) numbers.set(name, (numbers.get(name) ?? 0) + 1);
  }
  if (numbers.size === 0) return undefined;
  const names = [...numbers].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const rest = names.length - MOST_NAMES;
  return html`<span class="names"
    >${names.slice(0, MOST_NAMES).map((name) => html`<a href="${linkTo(name)}">${shorten(valueWords(field, name), NAME_LENGTH)}</a> `)}${rest > 0 ? html`<span class="faint">and ${count(rest)} more</span>` : undefined}</span
  >`;
}

/** Renders the card of a thing, its week as a chart, the denials, and the newest commands. */
export function commandCards(thing: Html, commands: CommandsOf, now: number): Html {
  const { filter, newest, denied, week } = commands;
  const found = barsOf(week);
  const searchOf = searchesFrom(filter);
  const bars = chartBars(found, (span) => AUDIT_PATH + searchOf(span), week.plan.from);
  const chart = html`<div class="inside">
    ${barChart(bars, CHART_HEIGHT, "week")}
    ${barTable(bars, "week-table", "Events of the last 7 days", `From (${zoneWords()})`)}
  </div>`;
  const denials =
    denied.events.length === 0
      ? emptyState("Nothing was denied", "No command in the log was denied.")
      : denialList(denied.events, now, filter);
  return html`<div class="grid">
    ${thing}
    ${card("week-title", `Events of the last 7 days, ${zoneWords()}`, chart, chartLegend(found))}
    <div class="grid thing">
      ${card("newest-title", "Newest commands", newestTable(newest.events, filter, now), auditLink(filter, {}, "All commands"))}
      ${card("denials-title", "Newest denials", denials, auditLink(filter, { decision: "DENIED" }, "All denials"))}
    </div>
  </div>`;
}

/** A link to these commands in the audit, narrowed by a view. */
function auditLink(filter: CommandsFilter, view: AuditView, words: string): Html {
  return html`<a href="${viewHref({ ...filter, ...view })}">${words}</a>`;
}

/**
 * Renders the newest of some commands; each leads to itself in a view of the audit.
 *
 * @param advice stands in for an empty list
 */
export function newestTable(
  events: readonly AuditEvent[],
  view: AuditView,
  now: number,
  advice = "None in the log has this name.",
): Html {
  if (events.length === 0) return emptyState("No commands", advice);
  const searchOf = searchesFrom(view);
  const rows = events.slice(0, SHOWN).map(
    (event) =>
      html`<tr>
        <td class="nowrap">${timeAgo(event.timestamp, now)}</td>
        <td>${decisionBadge(event)}</td>
        <td>
          <a class="mono" href="${AUDIT_PATH + searchOf({ event: event.id })}"
            >${unbroken(shorten(subjectOf(event), COMMAND_LENGTH))}</a
          >
        </td>
      </tr>`,
  );
  const headings = ["When", "Decision", "Command"];
  return table("Table of the newest commands", "rows stacked", headings, rows);
}
