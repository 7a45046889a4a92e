import { boolean, dateTime, integer, list, object, string } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";

const contractVersion = string(
  "The version of the catalog's format, `<major>.<minor>`; `0` for one older than versions.",
  { examples: ["1.0"] },
);

const generatedAt = dateTime("When the catalog was produced.");

const source = string("Which catalog answered: `embed`, `file:<path>` or `url:<url>`.", {
  examples: ["embed"],
});

const total = integer("The number of rows after filtering.");

/** The origin of a catalog. */
export const catalogRuntime = {
  title: "CatalogRuntime",
  type: "object",
  description: "The runtime that the catalog was generated from, as far as that is known.",
  required: ["known"],
  properties: {
    repo: string("The runtime's repository."),
    ref: string("The branch or tag."),
    commit: string("The full SHA; absent when it is not known."),
    short_commit: string("The abbreviated SHA, likewise."),
    known: boolean("Whether the origin is known."),
    note: string("Why it is not; present only when `known` is false."),
  },
} as const satisfies Schema;
export type CatalogRuntime = Infer<typeof catalogRuntime>;

const counts = object({
  title: "CatalogCounts",
  description: "The size of the whole catalog, before filtering.",
  properties: {
    capabilities: integer("The number of capabilities."),
    providers: integer("The number of providers."),
  },
});

/** A capability of a provider. */
export const capability = object({
  title: "Capability",
  description: "Something that a runtime can be asked to do through a provider.",
  properties: {
    id: string("Identifies it, `<provider>/<capability_name>`.", {
      examples: ["kubernetes/list_pods"],
    }),
    name: string("Its name for people."),
    provider: string("The provider it belongs to."),
    description: string("What it does, in one sentence."),
    path: string("Its source path within the runtime's repository."),
  },
});
export type Capability = Infer<typeof capability>;

/** A provider in the catalog: without a status and without an organization. */
export const catalogProvider = object({
  title: "CatalogProvider",
  description: "A provider as the catalog knows it.",
  properties: {
    id: string("Identifies the provider.", { examples: ["kubernetes"] }),
    name: string("Its name for people."),
    auth: string("How its command line proves who is calling."),
    capabilities: integer("The number of capabilities that it has."),
    operations: integer("The number of operations that it has."),
    operation_names: list("The names of its operations, sorted.", { type: "string" }),
  },
});
export type CatalogProvider = Infer<typeof catalogProvider>;

/** The answer to a query for capabilities. */
export const capabilityList = object({
  title: "CapabilityList",
  description: "Capabilities, sorted by id.",
  properties: {
    capabilities: list("The capabilities that match.", capability),
    catalog: source,
    generated_at: generatedAt,
    total,
  },
});

const envelope = {
  contract_version: contractVersion,
  counts,
  generated_at: generatedAt,
  source,
  runtime: catalogRuntime,
} as const;

const envelopeFields = ["contract_version", "counts", "generated_at", "source", "runtime"] as const;

/** The catalog's capabilities, with the envelope. */
export const catalogCapabilities = {
  title: "CatalogCapabilities",
  type: "object",
  description: "The catalog's capabilities, sorted by id.",
  required: [...envelopeFields, "capabilities", "total"],
  properties: {
    ...envelope,
    capabilities: list("The capabilities that match.", capability),
    total,
  },
} as const satisfies Schema;

/** The catalog's providers, with the envelope. */
export const catalogProviders = {
  title: "CatalogProviders",
  type: "object",
  description: "The catalog's providers, sorted by id.",
  required: [...envelopeFields, "providers", "total"],
  properties: {
    ...envelope,
    providers: list("All providers.", catalogProvider),
    total,
  },
} as const satisfies Schema;

/** The catalog's properties and the addresses of its documents, with the envelope. */
export const catalogContract = {
  title: "CatalogContract",
  type: "object",
  description: "What the catalog is, and where its documents are.",
  required: [...envelopeFields, "description", "documentation", "contracts", "tenant_view"],
  properties: {
    ...envelope,
    description: string("What the catalog holds."),
    documentation: string("Where all routes are described for people."),
    contracts: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "The URL of each catalog document, by its name.",
    },
    tenant_view: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "The URLs of an organization's own view, and why it differs.",
    },
  },
} as const satisfies Schema;
