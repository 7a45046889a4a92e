import type { Infer, Schema } from "../core/schema.ts";

const statuses = ["connected", "offline", "degraded"] as const;

/** The status of a provider in an organization. */
export type ProviderStatus = (typeof statuses)[number];

const status = {
  type: "string",
  enum: statuses,
  description:
    "What the organization set, else derived from its events of the last 24 hours: `offline` without any, `degraded` when there are at least 5 and half or more of them were denied or failed (`status` is `failed` or `error`, in any letter case), else `connected`.",
} as const satisfies Schema;

/** A provider in an organization. */
export const provider = {
  title: "Provider",
  type: "object",
  description: "A provider of the catalog, and how it does in the organization.",
  required: ["id", "name", "auth", "scope", "capabilities", "operations", "status"],
  properties: {
    id: { type: "string", description: "Identifies the provider.", examples: ["kubernetes"] },
    name: { type: "string", description: "Its name for people." },
    auth: { type: "string", description: "How its command line proves who is calling." },
    scope: { type: "string", description: "What a call reaches, such as a cluster or an account." },
    capabilities: {
      type: "integer",
      description: "The number of its capabilities in the catalog.",
    },
    operations: { type: "integer", description: "The number of its operations in the catalog." },
    last_used: {
      type: "string",
      format: "date-time",
      description: "The timestamp of the newest event that used it; absent when none did.",
    },
    status,
    overridden: {
      type: "boolean",
      description: "`true` when the organization set the status; absent when it was derived.",
    },
  },
} as const satisfies Schema;
export type Provider = Infer<typeof provider>;

/** The catalog's providers in an organization. */
export const providerList = {
  title: "ProviderList",
  type: "object",
  description: "The catalog's providers with their status in the organization, sorted by id.",
  required: ["catalog", "generated_at", "providers"],
  properties: {
    catalog: {
      type: "string",
      description: "Which catalog answered: `embed`, `file:<path>` or `url:<url>`.",
      examples: ["embed"],
    },
    generated_at: { type: "string", description: "When that catalog was produced." },
    providers: { type: "array", items: provider, description: "The providers, sorted by id." },
  },
} as const satisfies Schema;

/** The names of all providers that the organization may encounter. */
export const providerNames = {
  title: "ProviderNames",
  type: "object",
  description: "The ids of the catalog's providers, and those that the organization's events name.",
  required: ["providers"],
  properties: {
    providers: {
      type: "array",
      items: { type: "string" },
      description:
        "The names, sorted, each one once; of those that events name, 10,000 of up to 256 characters.",
    },
  },
} as const satisfies Schema;

/** A status that an organization sets itself. */
export const providerOverride = {
  title: "ProviderOverride",
  type: "object",
  description: "A status that stands until it is lifted, whatever the events say.",
  required: ["status"],
  properties: {
    status: { type: "string", enum: statuses, description: "The status to show." },
  },
} as const satisfies Schema;

/** The answer to the removal of an override. */
export const overrideDeleted = {
  title: "ProviderOverrideDeleted",
  type: "object",
  description: "An override was lifted; the status is derived again.",
  required: ["id", "status"],
  properties: {
    id: { type: "string", description: "The provider's id." },
    status: { type: "string", description: "Always `deleted`.", examples: ["deleted"] },
  },
} as const satisfies Schema;
