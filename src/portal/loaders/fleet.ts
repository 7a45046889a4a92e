import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import { instanceAt } from "../../fleet/listing.ts";
import type { FleetStore } from "../../fleet/store.ts";
import { readSummary, type SummaryNeeds } from "../../fleet/summary.ts";
import { filterOf } from "../fleet-query.ts";
import type { FleetModel, FleetView } from "../pages/fleet.ts";
import type { PageContext } from "../pages/parts.ts";

/** What the page of the fleet is read from. */
export interface FleetNeeds extends SummaryNeeds {
  readonly fleet: Pick<FleetStore, "counts" | "page" | "policies">;
}

/** Reads the runtimes of the default organization that the address asks for. */
export async function loadFleet(
  needs: FleetNeeds,
  context: PageContext,
  view: FleetView,
): Promise<FleetModel> {
  const { now } = context;
  const summary = await readSummary(needs, DEFAULT_ORGANIZATION, now);
  const wanted = { ...filterOf(view.query), active: summary.policy_version, now };
  const { runtimes, total } = await needs.fleet.page(DEFAULT_ORGANIZATION, wanted, view.limit, 0);
  return {
    ...context,
    ...view,
    summary,
    runtimes: runtimes.map((runtime) => instanceAt(runtime, now)),
    matching: total,
  };
}
