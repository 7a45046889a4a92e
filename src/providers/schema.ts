import {
  always,
  boolean,
  dateTime,
  integer,
  list,
  object,
  string,
  word,
} from "../core/schema-parts.ts";
import type { Infer } from "../core/schema.ts";

const statuses = ["connected", "offline", "degraded"] as const;

export type ProviderStatus = (typeof statuses)[number];

const status = word(
  "The status that the organization set. Otherwise it is derived from its events of the last 24 hours: `offline` without events; `degraded` if there are at least 5 events and half or more of them were denied or failed (`status` is `failed` or `error`, in any letter case); otherwise `connected`.",
  statuses,
);

/** A provider in an organization. */
export const provider = object({
  title: "Provider",
  description: "A provider of the catalog with its status in the organization.",
  optional: ["last_used", "overridden"],
  properties: {
    id: string("The id of the provider.", { examples: ["kubernetes"] }),
    name: string("The display name."),
    auth: string("The authentication method of its command line."),
    scope: string("The reach of a call, such as a cluster or an account."),
    capabilities: integer("The number of its capabilities in the catalog."),
    operations: integer("The number of its operations in the catalog."),
    last_used: dateTime("The `timestamp` of the newest event of the provider; absent without one."),
    status,
    overridden: boolean("`true` if the organization set the status; absent if it is derived."),
  },
});
export type Provider = Infer<typeof provider>;

/** The catalog's providers in an organization. */
export const providerList = object({
  title: "ProviderList",
  description: "The catalog's providers with their status in the organization, sorted by id.",
  properties: {
    catalog: string("The source of the catalog: `embed`, `file:<path>` or `url:<url>`.", {
      examples: ["embed"],
    }),
    generated_at: string("The time at which the catalog was generated."),
    providers: list("The providers, sorted by id.", provider),
  },
});

/** The names of all providers that the organization may encounter. */
export const providerNames = object({
  title: "ProviderNames",
  description: "The names of the providers in the catalog and in the events of the organization.",
  properties: {
    providers: list(
      "The sorted names. At most 10,000 names of up to 256 characters come from events.",
      { type: "string" },
    ),
  },
});

/** A status that an organization sets itself. */
export const providerOverride = object({
  title: "ProviderOverride",
  description: "A status that replaces the derived one until it is lifted.",
  properties: { status: word("The status to report.", statuses) },
});

/** The answer to the removal of an override. */
export const overrideDeleted = object({
  title: "ProviderOverrideDeleted",
  description: "The result of lifting a status. The status is derived again.",
  properties: { id: string("The provider's id."), status: always("deleted") },
});
