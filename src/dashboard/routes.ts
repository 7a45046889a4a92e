import type { AuditStore } from "../audit/store.ts";
import type { Catalog } from "../catalog/view.ts";
import type { Assignments } from "../core/assignment.ts";
import type { Clock } from "../core/clock.ts";
import type { FleetStore } from "../fleet/store.ts";
import { jsonAround } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { dashboardCounts } from "./counts.ts";
import { dashboard } from "./schema.ts";

interface Needs {
  readonly catalog: Catalog;
  readonly audit: Pick<AuditStore, "activity" | "page">;
  readonly fleet: Pick<FleetStore, "counts">;
  readonly assignments: Pick<Assignments, "expected">;
  readonly now: Clock;
}

const RECENT = 10;
/** Longer texts of an event are cut to this many characters; the event itself has the whole text. */
export const MOST_CHARACTERS = 16_384;

/** The route of the dashboard. */
export const dashboardRoutes = [
  route({
    method: "GET",
    path: "/dashboard",
    surfaces: ["public", "v1"],
    access: "user",
    summary: "Count the last 24 hours, the fleet and the catalog",
    description:
      "The commands of the last 24 hours by decision and provider, the runtimes by status, the size of the catalog, the active policy version, and the 10 newest events (`recent_audit`).",
    tags: ["dashboard"],
    large: "made",
    replies: { 200: dashboard },
    refuses: [500],
    async handle({ organization, client }, { catalog, audit, fleet, assignments, now }: Needs) {
      const at = now();
      const expected = await assignments.expected(organization);
      const [activity, runtimes] = await Promise.all([
        audit.activity(organization, at, client),
        fleet.counts(organization, at, expected, client),
      ]);
      const { counts } = catalog.current().envelope;
      const text = JSON.stringify(dashboardCounts(activity, counts, runtimes, expected.active));
      const opened = text.slice(0, -1); // without its closing brace: the events follow
      const recent = await audit.page(organization, {}, RECENT, 0, client, MOST_CHARACTERS);
      // The store gives the events as JSON. They are sent as they are: parsing them would only cost time.
      return jsonAround(`${opened},"recent_audit":[`, recent.json, "]}");
    },
  }),
];
