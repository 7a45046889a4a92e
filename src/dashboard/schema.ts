import { auditEvent } from "../audit/schema.ts";
import { integer, list, object, string } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";

/** The counts on the dashboard. */
export const dashboard = object({
  title: "Dashboard",
  description: "The organization at a glance: its last 24 hours, its fleet, and the catalog.",
  properties: {
    commands_today: integer("Commands of the last 24 hours."),
    allowed_today: integer("Those of them that were allowed."),
    denied_today: integer("Those of them that were denied."),
    ai_operations: integer("Those of them that an AI agent ran."),
    ai_commands_today: integer("The same number as `ai_operations`."),
    by_provider: {
      type: "object",
      additionalProperties: { type: "integer" },
      description:
        "Commands of the last 24 hours by provider, the 1,000 that were used most; names of more than 256 characters are left out.",
    },
    capabilities: integer("Capabilities in the catalog."),
    providers: integer("Providers in the catalog."),
    policy_version: string("The active policy version; empty when there is none."),
    runtimes_online: integer("Runtimes seen less than 15 minutes ago."),
    runtimes_total: integer("All runtimes."),
    runtimes_drifted: integer(
      "Runtimes that are not offline and report another policy version than the active one.",
    ),
    recent_audit: list(
      "The 10 newest events, newest first. A text of more than 16,384 characters is cut there and ends in `…`; `/audit/{id}` has all of it.",
      auditEvent,
    ),
  },
});

/** The dashboard without its events, which the store returns as JSON. */
export type DashboardCounts = Omit<Infer<typeof dashboard>, "recent_audit">;
