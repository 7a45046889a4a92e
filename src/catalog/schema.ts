import { boolean, dateTime, integer, list, object, string } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";

const contractVersion = string(
  "The version of the catalog format, `<major>.<minor>`; `0` if the catalog has none.",
  { examples: ["1.0"] },
);

const generatedAt = dateTime("The time at which the catalog was generated.");

const source = string("The source of the catalog: `embed`, `file:<path>` or `url:<url>`.", {
  examples: ["embed"],
});

const total = integer("The number of rows after filtering.");

/** The origin of a catalog. */
const catalogRuntime = {
  title: "CatalogRuntime",
  type: "object",
  description: "The runtime from which the catalog was generated.",
  required: ["known"],
  properties: {
    repo: string("The repository of the runtime."),
    ref: string("The branch or tag."),
    commit: string("The full SHA of the commit; absent if unknown."),
    short_commit: string("The abbreviated SHA of the commit; absent if unknown."),
    known: boolean("Whether the origin is known."),
    note: string("The reason why the origin is unknown; only if `known` is false."),
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
const capability = object({
  title: "Capability",
  description: "An operation that a runtime can run through a provider.",
  properties: {
    id: string("The id of the capability, `<provider>/<capability_name>`.", {
      examples: ["kubernetes/list_pods"],
    }),
    name: string("The display name."),
    provider: string("The id of its provider."),
    description: string("A description in one sentence."),
    path: string("The source path in the repository of the runtime."),
  },
});
export type Capability = Infer<typeof capability>;

/** A provider in the catalog: without a status and without an organization. */
const catalogProvider = object({
  title: "CatalogProvider",
  description: "A provider of the catalog.",
  properties: {
    id: string("The id of the provider.", { examples: ["kubernetes"] }),
    name: string("The display name."),
    auth: string("The authentication method of its command line."),
    capabilities: integer("The number of its capabilities."),
    operations: integer("The number of its operations."),
    operation_names: list("The names of its operations, sorted.", { type: "string" }),
  },
});
export type CatalogProvider = Infer<typeof catalogProvider>;

/** The answer to a query for capabilities. */
export const capabilityList = object({
  title: "CapabilityList",
  description: "Capabilities, sorted by id.",
  properties: {
    capabilities: list("The matching capabilities.", capability),
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
    capabilities: list("The matching capabilities.", capability),
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
  description: "A description of the catalog with links to its documents.",
  required: [...envelopeFields, "description", "documentation", "contracts", "tenant_view"],
  properties: {
    ...envelope,
    description: string("A description of the catalog's content."),
    documentation: string("The URL of the API reference."),
    contracts: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "The URL of each catalog document by name.",
    },
    tenant_view: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "The URLs of the organization's own view, and why it differs.",
    },
  },
} as const satisfies Schema;
