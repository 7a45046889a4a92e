import { auditEvent } from "../audit/schema.ts";
import { integer, list, object, string } from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";

/** The counts on the dashboard. */
export const dashboard = object({
  title: "Dashboard",
  description:
    "The counts of the organization: the last 24 hours, its fleet, and the catalog; and its newest events.",
  properties: {
    commands_today: integer("The number of commands in the last 24 hours."),
    allowed_today: integer("The number of those that were allowed."),
    denied_today: integer("The number of those that were denied."),
    would_be_denied_today: integer(
      "The number of those that ran, and that a runtime in observe mode would have denied.",
    ),
    ai_operations: integer("The number of those that an AI agent ran."),
    ai_commands_today: integer("The same number as `ai_operations`."),
    by_provider: {
      type: "object",
      additionalProperties: { type: "integer" },
      description:
        "The number of commands in the last 24 hours, for the 1,000 most used providers. Names of more than 256 characters are left out.",
    },
    capabilities: integer("The number of capabilities in the catalog."),
    providers: integer("The number of providers in the catalog."),
    policy_version: string("The active policy version; empty without one."),
    runtimes_online: integer("The number of runtimes seen less than 15 minutes ago."),
    runtimes_total: integer("The number of all runtimes."),
    runtimes_drifted: integer(
      "The number of runtimes that are not offline and report another version than the active one.",
    ),
    recent_audit: list(
      "The 10 newest events, newest first. Texts of more than 16,384 characters are cut and end in `…`.",
      auditEvent,
    ),
  },
});

/** The dashboard without its events, which the store returns as JSON. */
export type DashboardCounts = Omit<Infer<typeof dashboard>, "recent_audit">;
