import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import { instanceAt } from "../../fleet/listing.ts";
import type { FleetStore } from "../../fleet/store.ts";
import type { PolicyStore } from "../../policies/store.ts";
import type { FleetFilter } from "../fleet-filter.ts";
import type { FleetModel } from "../pages/fleet.ts";
import type { PageContext } from "../pages/parts.ts";

/** What the page of the fleet is read from. */
export interface FleetNeeds {
  readonly policies: Pick<PolicyStore, "activeVersion">;
  readonly fleet: Pick<FleetStore, "list">;
}

/** What the address asks for. */
export interface FleetView {
  readonly filter: FleetFilter;
  readonly limit: number;
  readonly canForget: boolean;
}

/** Reads the runtimes of the default organization. */
export async function loadFleet(
  { policies, fleet }: FleetNeeds,
  context: PageContext,
  view: FleetView,
): Promise<FleetModel> {
  const [rows, active] = await Promise.all([
    fleet.list(DEFAULT_ORGANIZATION),
    policies.activeVersion(DEFAULT_ORGANIZATION),
  ]);
  const runtimes = rows.slice(0, rows.total).map((row) => instanceAt(row, context.now));
  return { ...context, ...view, runtimes, active };
}
