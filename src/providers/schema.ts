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
  "What the organization set, else derived from its events of the last 24 hours: `offline` without any, `degraded` when there are at least 5 and half or more of them were denied or failed (`status` is `failed` or `error`, in any letter case), else `connected`.",
  statuses,
);

/** A provider in an organization. */
export const provider = object({
  title: "Provider",
  description: "A provider of the catalog, and how it does in the organization.",
  optional: ["last_used", "overridden"],
  properties: {
    id: string("Identifies the provider.", { examples: ["kubernetes"] }),
    name: string("Its name for people."),
    auth: string("How its command line proves who is calling."),
    scope: string("What a call reaches, such as a cluster or an account."),
    capabilities: integer("The number of its capabilities in the catalog."),
    operations: integer("The number of its operations in the catalog."),
    last_used: dateTime("The timestamp of the newest event that used it; absent when none did."),
    status,
    overridden: boolean("`true` when the organization set the status; absent when it was derived."),
  },
});
export type Provider = Infer<typeof provider>;

/** The catalog's providers in an organization. */
export const providerList = object({
  title: "ProviderList",
  description: "The catalog's providers with their status in the organization, sorted by id.",
  properties: {
    catalog: string("Which catalog answered: `embed`, `file:<path>` or `url:<url>`.", {
      examples: ["embed"],
    }),
    generated_at: string("When that catalog was produced."),
    providers: list("The providers, sorted by id.", provider),
  },
});

/** The names of all providers that the organization may encounter. */
export const providerNames = object({
  title: "ProviderNames",
  description: "The ids of the catalog's providers, and those that the organization's events name.",
  properties: {
    providers: list(
      "The names, sorted, each one once; of those that events name, 10,000 of up to 256 characters.",
      { type: "string" },
    ),
  },
});

/** A status that an organization sets itself. */
export const providerOverride = object({
  title: "ProviderOverride",
  description: "A status that stands until it is lifted, whatever the events say.",
  properties: { status: word("The status to show.", statuses) },
});

/** The answer to the removal of an override. */
export const overrideDeleted = object({
  title: "ProviderOverrideDeleted",
  description: "An override was lifted; the status is derived again.",
  properties: { id: string("The provider's id."), status: always("deleted") },
});
