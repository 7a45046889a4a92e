import { auditEvent } from "../audit/schema.ts";
import type { Infer, Schema } from "../core/schema.ts";

/** The counts on the dashboard. */
export const dashboard = {
  title: "Dashboard",
  type: "object",
  description: "The organization at a glance: its last 24 hours, its fleet, and the catalog.",
  required: [
    "commands_today",
    "allowed_today",
    "denied_today",
    "ai_operations",
    "ai_commands_today",
    "by_provider",
    "capabilities",
    "providers",
    "policy_version",
    "runtimes_online",
    "runtimes_total",
    "runtimes_drifted",
    "recent_audit",
  ],
  properties: {
    commands_today: { type: "integer", description: "Commands of the last 24 hours." },
    allowed_today: { type: "integer", description: "Those of them that were allowed." },
    denied_today: { type: "integer", description: "Those of them that were denied." },
    ai_operations: { type: "integer", description: "Those of them that an AI agent ran." },
    ai_commands_today: { type: "integer", description: "The same number as `ai_operations`." },
    by_provider: {
      type: "object",
      additionalProperties: { type: "integer" },
      description:
        "Commands of the last 24 hours by provider, the 1,000 that were used most; names of more than 256 characters are left out.",
    },
    capabilities: { type: "integer", description: "Capabilities in the catalog." },
    providers: { type: "integer", description: "Providers in the catalog." },
    policy_version: {
      type: "string",
      description: "The active policy version; empty when there is none.",
    },
    runtimes_online: { type: "integer", description: "Runtimes seen less than 15 minutes ago." },
    runtimes_total: { type: "integer", description: "All runtimes." },
    runtimes_drifted: {
      type: "integer",
      description:
        "Runtimes that are not offline and report another policy version than the active one.",
    },
    recent_audit: {
      type: "array",
      items: auditEvent,
      description:
        "The 10 newest events, newest first. A text of more than 16,384 characters is cut there and ends in `…`; `/audit/{id}` has all of it.",
    },
  },
} as const satisfies Schema;

/** The dashboard without its events, which the store returns as JSON. */
export type DashboardCounts = Omit<Infer<typeof dashboard>, "recent_audit">;
