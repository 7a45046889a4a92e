import type { Infer, Schema } from "../core/schema.ts";

const contractVersion = {
  type: "string",
  description:
    "The version of the catalog's format, `<major>.<minor>`; `0` for one older than versions.",
  examples: ["1.0"],
} as const satisfies Schema;

const generatedAt = {
  type: "string",
  format: "date-time",
  description: "When the catalog was produced.",
} as const satisfies Schema;

const source = {
  type: "string",
  description: "Which catalog answered: `embed`, `file:<path>` or `url:<url>`.",
  examples: ["embed"],
} as const satisfies Schema;

const total = { type: "integer", description: "The number of rows after filtering." } as const;

/** The origin of a catalog. */
export const catalogRuntime = {
  title: "CatalogRuntime",
  type: "object",
  description: "The runtime that the catalog was generated from, as far as that is known.",
  required: ["known"],
  properties: {
    repo: { type: "string", description: "The runtime's repository." },
    ref: { type: "string", description: "The branch or tag." },
    commit: { type: "string", description: "The full SHA; absent when it is not known." },
    short_commit: { type: "string", description: "The abbreviated SHA, likewise." },
    known: { type: "boolean", description: "Whether the origin is known." },
    note: { type: "string", description: "Why it is not; present only when `known` is false." },
  },
} as const satisfies Schema;
export type CatalogRuntime = Infer<typeof catalogRuntime>;

const counts = {
  title: "CatalogCounts",
  type: "object",
  description: "The size of the whole catalog, before filtering.",
  required: ["capabilities", "providers"],
  properties: {
    capabilities: { type: "integer", description: "The number of capabilities." },
    providers: { type: "integer", description: "The number of providers." },
  },
} as const satisfies Schema;

/** A capability of a provider. */
export const capability = {
  title: "Capability",
  type: "object",
  description: "Something that a runtime can be asked to do through a provider.",
  required: ["id", "name", "provider", "description", "path"],
  properties: {
    id: {
      type: "string",
      description: "Identifies it, `<provider>/<capability_name>`.",
      examples: ["kubernetes/list_pods"],
    },
    name: { type: "string", description: "Its name for people." },
    provider: { type: "string", description: "The provider it belongs to." },
    description: { type: "string", description: "What it does, in one sentence." },
    path: { type: "string", description: "Its source path within the runtime's repository." },
  },
} as const satisfies Schema;
export type Capability = Infer<typeof capability>;

/** A provider in the catalog: without a status and without an organization. */
export const catalogProvider = {
  title: "CatalogProvider",
  type: "object",
  description: "A provider as the catalog knows it.",
  required: ["id", "name", "auth", "capabilities", "operations", "operation_names"],
  properties: {
    id: { type: "string", description: "Identifies the provider.", examples: ["kubernetes"] },
    name: { type: "string", description: "Its name for people." },
    auth: { type: "string", description: "How its command line proves who is calling." },
    capabilities: { type: "integer", description: "The number of capabilities that it has." },
    operations: { type: "integer", description: "The number of operations that it has." },
    operation_names: {
      type: "array",
      items: { type: "string" },
      description: "The names of its operations, sorted.",
    },
  },
} as const satisfies Schema;
export type CatalogProvider = Infer<typeof catalogProvider>;

/** The answer to a query for capabilities. */
export const capabilityList = {
  title: "CapabilityList",
  type: "object",
  description: "Capabilities, sorted by id.",
  required: ["capabilities", "catalog", "generated_at", "total"],
  properties: {
    capabilities: { type: "array", items: capability, description: "The capabilities that match." },
    catalog: source,
    generated_at: generatedAt,
    total,
  },
} as const satisfies Schema;

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
    capabilities: { type: "array", items: capability, description: "The capabilities that match." },
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
    providers: { type: "array", items: catalogProvider, description: "All providers." },
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
    description: { type: "string", description: "What the catalog holds." },
    documentation: { type: "string", description: "Where all routes are described for people." },
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
