import "../frame.ts";
import type { RuntimeInstance } from "../../../fleet/schema.ts";
import { fleetSearch, type FleetFilter } from "../../fleet-filter.ts";
import { html } from "../../html.ts";
import { FLEET_ROWS, fleetPage, type FleetModel } from "../../pages/fleet.ts";
import type { PageContext } from "../../pages/parts.ts";
import { call, read } from "../api.ts";
import { ask } from "../dialog.ts";
import { contentElement, keepFresh, pageContext } from "../live.ts";
import { morph } from "../morph.ts";
import { toast } from "../toast.ts";

const EVERY_MS = 15_000;
const NAMES = ["q", "status", "policy", "drifted"] as const;

/** The last answer, which filters are applied to while one types. */
let known: Pick<FleetModel, "runtimes" | "active"> | undefined;

function view(): Pick<FleetModel, "filter" | "limit" | "canForget"> {
  const given = new URLSearchParams(location.search);
  const filter = Object.fromEntries(
    NAMES.map((name) => [name, given.get(name) || undefined]),
  ) as FleetFilter;
  const limit = Number(given.get("limit") ?? FLEET_ROWS) || FLEET_ROWS;
  return { filter, limit, canForget: document.body.dataset["prefix"] === "/api/v1" };
}

async function load(context: PageContext, signal: AbortSignal): Promise<FleetModel> {
  const [{ runtimes }, { policy_version: active }] = await Promise.all([
    read<{ readonly runtimes: readonly RuntimeInstance[] }>("/fleet", { signal }),
    read<{ readonly policy_version: string }>("/dashboard", { signal }),
  ]);
  known = { runtimes, active };
  return { ...context, ...view(), ...known };
}

const page = keepFresh({ load, render: fleetPage, everyMs: EVERY_MS });

/** Shows what the address says, of what is known already. */
function show(): void {
  if (known) morph(contentElement(), fleetPage({ ...pageContext(), ...view(), ...known }));
  else void page.refresh();
}

function filterBy(form: HTMLFormElement): void {
  const data = new FormData(form);
  const filter = Object.fromEntries(NAMES.map((name) => [name, String(data.get(name) ?? "")]));
  history.replaceState(null, "", `/portal/fleet${fleetSearch(filter)}`);
  show();
}

for (const type of ["input", "submit"]) {
  contentElement().addEventListener(type, (event) => {
    const { target } = event;
    const form =
      target instanceof Element ? target.closest<HTMLFormElement>("[data-filters]") : null;
    if (!form) return;
    event.preventDefault();
    filterBy(form);
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
  if (!more || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.replaceState(null, "", more.pathname + more.search);
  show();
});
