import "../frame.ts";
import type { FleetList, FleetSummary } from "../../../fleet/schema.ts";
import { fleetSearch, filterOf, type FleetQuery } from "../../fleet-query.ts";
import { html } from "../../html.ts";
import {
  FLEET_ROWS,
  fleetPage,
  MOST_FLEET_ROWS,
  type FleetModel,
  type FleetView,
} from "../../pages/fleet.ts";
import type { PageContext } from "../../pages/parts.ts";
import { call, callsV1, read } from "../api.ts";
import { isModified } from "../clicks.ts";
import { ask } from "../dialog.ts";
import { contentElement, keepFresh } from "../live.ts";
import { toast } from "../toast.ts";

const EVERY_MS = 15_000;
const TYPING_MS = 250;
const NAMES = ["q", "status", "policy", "drifted"] as const;

function view(): FleetView {
  const given = new URLSearchParams(location.search);
  const query = Object.fromEntries(
    NAMES.map((name) => [name, given.get(name) || undefined]),
  ) as FleetQuery;
  const limit = Math.trunc(Number(given.get("limit"))) || FLEET_ROWS;
  return {
    query,
    limit: Math.min(Math.max(limit, 1), MOST_FLEET_ROWS),
    canForget: callsV1(),
  };
}

async function load(context: PageContext, signal: AbortSignal): Promise<FleetModel> {
  const asked = view();
  const query = { ...filterOf(asked.query), limit: asked.limit };
  const [summary, { runtimes, total: matching = runtimes.length }] = await Promise.all([
    read<FleetSummary>("/fleet/summary", { signal }),
    read<FleetList>("/fleet", { signal, query }),
  ]);
  return { ...context, ...asked, summary, runtimes, matching };
}

const page = keepFresh({ load, render: fleetPage, everyMs: EVERY_MS });

function filterBy(form: HTMLFormElement): void {
  const data = new FormData(form);
  const query = Object.fromEntries(NAMES.map((name) => [name, String(data.get(name) ?? "")]));
  history.replaceState(null, "", `/portal/fleet${fleetSearch(query)}`);
  void page.refresh();
}

let typing: ReturnType<typeof setTimeout> | undefined;
for (const type of ["input", "submit"]) {
  contentElement().addEventListener(type, (event) => {
    const { target } = event;
    const form =
      target instanceof Element ? target.closest<HTMLFormElement>("[data-filters]") : null;
    if (!form) return;
    event.preventDefault();
    clearTimeout(typing);
    const isTyped = target instanceof HTMLInputElement && target.type === "search";
    if (isTyped) typing = setTimeout(filterBy, TYPING_MS, form);
    else filterBy(form);
  });
}

function askToForget(name: string): void {
  ask({
    title: html`Forget ${name}?`,
    body: html`<p>
      It leaves the fleet and the counts. A runtime that still runs comes back with its next
      heartbeat, under the same id. Its audit events stay.
    </p>`,
    confirm: "Forget",
    isDangerous: true,
    async run() {
      await call("DELETE", `/fleet/${encodeURIComponent(name)}`);
      toast(`${name} is forgotten`);
      await page.refresh();
    },
  });
}

contentElement().addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const name = event.target.closest<HTMLElement>("[data-forget]")?.dataset["forget"];
  if (name !== undefined) return askToForget(name);
  const more = event.target.closest<HTMLAnchorElement>("[data-more]");
  if (!more || isModified(event)) return;
  event.preventDefault();
  history.replaceState(null, "", more.pathname + more.search);
  void page.refresh();
});
