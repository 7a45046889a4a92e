import "../frame.ts";
import type { ActivityEntry } from "../../../activity/schema.ts";
import {
  activityLink,
  ACTIVITY_FILTERS,
  ACTIVITY_ROWS,
  activityViewOf,
} from "../../activity-view.ts";
import { activityPage, type ActivityModel } from "../../pages/access-activity.ts";
import type { PageContext } from "../../pages/parts.ts";
import { read } from "../api.ts";
import { isModified } from "../clicks.ts";
import { contentElement, keepFresh } from "../live.ts";

const EVERY_MS = 15_000;

interface Answer {
  readonly entries: readonly ActivityEntry[];
  readonly total: number;
}

async function load(context: PageContext, signal: AbortSignal): Promise<ActivityModel> {
  const view = activityViewOf(location.search);
  const query = { ...view, limit: ACTIVITY_ROWS };
  const { entries, total } = await read<Answer>("/activity", { query, signal });
  return { ...context, view, entries, total };
}

const page = keepFresh({ load, render: activityPage, everyMs: EVERY_MS });

async function goTo(link: string): Promise<void> {
  history.pushState(null, "", link);
  await page.refresh();
}

function filterBy(form: HTMLFormElement): void {
  const data = new FormData(form);
  const filter = Object.fromEntries(
    ACTIVITY_FILTERS.map((name) => [name, String(data.get(name) ?? "").trim()]),
  );
  void goTo(activityLink(filter));
}

contentElement().addEventListener("submit", (event) => {
  if (!(event.target instanceof HTMLFormElement) || !event.target.matches("[data-filters]")) return;
  event.preventDefault();
  filterBy(event.target);
});
contentElement().addEventListener("change", (event) => {
  if (!(event.target instanceof HTMLSelectElement)) return;
  const form = event.target.closest<HTMLFormElement>("[data-filters]");
  if (form) filterBy(form);
});
contentElement().addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const link = event.target.closest<HTMLAnchorElement>(".pages a");
  if (!link || isModified(event)) return;
  event.preventDefault();
  void goTo(link.pathname + link.search).then(() => window.scrollTo(0, 0));
});
window.addEventListener("popstate", () => void page.refresh());
