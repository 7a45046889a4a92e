import { DAY_MS } from "../../core/clock.ts";
import { shortDay } from "../format.ts";
import { html, type Html } from "../html.ts";
import { wallClock } from "../zone.ts";
import { shareRow, shareTable } from "./share-table.ts";
import { emptyState } from "./parts.ts";

const MOST_DAYS = 14;

/**
 * Renders the number of events on each of the last days, today first.
 *
 * @param times the `timestamp` of each event
 * @param since the start of the time that was looked at; days before it are left out
 */
export function dayTable(times: readonly string[], since: string | undefined, now: number): Html {
  if (times.length === 0)
    return emptyState("Not used", "None of these commands was decided by it.");
  const numbers = new Map<number, number>();
  for (const time of times) {
    const day = Math.floor(wallClock(Date.parse(time)) / DAY_MS);
    numbers.set(day, (numbers.get(day) ?? 0) + 1);
  }
  const today = Math.max(Math.floor(wallClock(now) / DAY_MS), ...numbers.keys());
  const first = Math.floor(wallClock(Date.parse(since ?? "")) / DAY_MS) || today;
  const length = Math.min(MOST_DAYS, today - first + 1);
  const days = Array.from({ length }, (_, i) => today - i);
  const most = Math.max(1, ...days.map((day) => numbers.get(day) ?? 0));
  const rows = days.map((day) =>
    shareRow(html`${shortDay(day * DAY_MS)}`, numbers.get(day) ?? 0, most),
  );
  return html`<div class="inside">${shareTable("Day", "Commands", rows)}</div>`;
}
