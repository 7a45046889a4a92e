import { KEY_SCOPES } from "../core/key-scopes.ts";
import { ROLES } from "../core/roles.ts";
import type { Infer, Schema } from "../core/schema.ts";
import { demoFacts } from "./demo.ts";

/** The body of every refusal and failure. */
export const errorReply = {
  title: "Error",
  type: "object",
  description: "Why a request was refused, or that it failed.",
  required: ["error"],
  properties: { error: { type: "string", description: "The reason, for people." } },
} as const satisfies Schema;

export const health = {
  title: "Health",
  type: "object",
  description: "That the service answers, and which edition it is.",
  required: ["status", "edition"],
  properties: {
    status: {
      type: "string",
      description: "`ok`, or `degraded` where lines of the audit log could not be read back.",
    },
    edition: { type: "string", description: "The edition that this deployment reports." },
  },
} as const satisfies Schema;

export const readiness = {
  title: "Readiness",
  type: "object",
  description: "That the service can store what it is sent.",
  required: ["status"],
  properties: {
    status: { type: "string", enum: ["ready"], description: "Always `ready`." },
  },
} as const satisfies Schema;

const buildProperties = {
  version: { type: "string", description: "The program's version." },
  commit: { type: "string", description: "The commit it was built from, or `unknown`." },
  build_time: { type: "string", description: "When it was built, or `unknown`." },
  go: { type: "string", description: "The engine that runs it: `node/` and its version." },
  started_at: { type: "string", format: "date-time", description: "When this process started." },
  uptime_seconds: { type: "integer", minimum: 0, description: "Whole seconds since then." },
} as const satisfies Readonly<Record<string, Schema>>;

const buildFields = [
  "version",
  "commit",
  "build_time",
  "go",
  "started_at",
  "uptime_seconds",
] as const;

export const buildInfo = {
  title: "BuildInfo",
  type: "object",
  description: "What is running, and since when.",
  required: buildFields,
  properties: buildProperties,
} as const satisfies Schema;
export type BuildInfo = Infer<typeof buildInfo>;

export const versionInfo = {
  title: "VersionInfo",
  type: "object",
  description: "The build, and where it serves.",
  required: ["service", ...buildFields, "environment", "surfaces"],
  properties: {
    service: { type: "string", description: "Always `signalbox`." },
    ...buildProperties,
    environment: { type: "string", description: "The environment that this deployment reports." },
    surfaces: {
      type: "array",
      description: "The path prefixes of the API.",
      items: { type: "string", description: "A path prefix." },
    },
  },
} as const satisfies Schema;
export type VersionInfo = Infer<typeof versionInfo>;

export const surfaceInfo = {
  title: "Surface",
  type: "object",
  description: "A path prefix and whom it serves.",
  required: ["prefix", "audience", "stable", "auth"],
  properties: {
    prefix: { type: "string", description: "The path prefix; `/` for what stands under none." },
    audience: { type: "string", description: "Whom it serves." },
    stable: { type: "boolean", description: "Whether its contract only ever grows." },
    auth: {
      type: "string",
      description:
        "What the running process does about credentials: `none` never asks, `optional` checks what is given, `required` demands them.",
    },
  },
} as const satisfies Schema;
export type SurfaceInfo = Infer<typeof surfaceInfo>;

export const surfaces = {
  type: "array",
  description: "Every surface that this process serves.",
  items: surfaceInfo,
} as const satisfies Schema;

export const environment = {
  type: "string",
  description: "The environment that this deployment reports.",
} as const satisfies Schema;

const baseUrl = {
  type: "string",
  format: "uri",
  description: "Where the service is reached.",
} as const satisfies Schema;

const catalogFacts = {
  type: "object",
  description: "Facts about the catalog in use.",
  additionalProperties: true,
} as const satisfies Schema;

const link = { type: "string", description: "A URL." } as const satisfies Schema;

export const metadata = {
  title: "Metadata",
  type: "object",
  description: "What this service is, and where everything about it stands.",
  required: [
    "service",
    "description",
    "environment",
    "base_url",
    "health",
    "version",
    "surfaces",
    "catalog",
    "contracts",
    "metadata",
    "portal",
  ],
  properties: {
    service: { type: "string", description: "Always `signalbox`." },
    description: { type: "string", description: "What the service does, in a sentence." },
    environment,
    base_url: baseUrl,
    health: { type: "string", description: "Where to ask whether it runs." },
    version: buildInfo,
    surfaces,
    catalog: catalogFacts,
    contracts: {
      type: "object",
      description: "The machine-readable contracts by name.",
      additionalProperties: link,
    },
    metadata: {
      type: "object",
      description: "The metadata documents by name.",
      additionalProperties: link,
    },
    portal: {
      type: "object",
      description: "The pages for people by name.",
      additionalProperties: link,
    },
    demo: demoFacts,
  },
} as const satisfies Schema;
export type Metadata = Infer<typeof metadata>;

const operation = {
  type: "object",
  description: "One operation of the API.",
  required: ["method", "path", "summary", "auth", "surface", "tags"],
  properties: {
    method: { type: "string", description: "The HTTP method." },
    path: { type: "string", description: "The path with its prefix; `{name}` is a parameter." },
    summary: { type: "string", description: "What it does." },
    auth: { type: "string", description: "Which credentials it takes, and when it demands them." },
    role: {
      type: "string",
      enum: ROLES,
      description:
        "The least role it takes while `ROLES` is `enforced`; absent where it asks for none.",
    },
    key_scopes: {
      type: "array",
      description: "The scopes of the API keys it takes; absent where it takes no key.",
      items: { type: "string", enum: KEY_SCOPES, description: "A scope." },
    },
    surface: {
      type: "string",
      enum: ["public", "v1", "portal"],
      description: "The surface it belongs to.",
    },
    tags: {
      type: "array",
      description: "The groups it belongs to.",
      items: { type: "string", description: "A group's name." },
    },
  },
} as const satisfies Schema;

export const metadataApis = {
  title: "MetadataAPIs",
  type: "object",
  description: "Every operation that this process serves.",
  required: ["base_url", "contract", "total", "by_surface", "operations"],
  properties: {
    base_url: baseUrl,
    contract: { type: "string", description: "Where the OpenAPI document stands." },
    total: { type: "integer", minimum: 0, description: "How many operations there are." },
    by_surface: {
      type: "object",
      description: "How many there are on each surface.",
      additionalProperties: { type: "integer", minimum: 0, description: "Operations." },
    },
    operations: { type: "array", description: "The operations.", items: operation },
  },
} as const satisfies Schema;
export type MetadataApis = Infer<typeof metadataApis>;

export const metadataVersions = {
  title: "MetadataVersions",
  type: "object",
  description: "The versions of everything that has one.",
  required: ["api_surfaces", "build", "catalog", "environment", "openapi"],
  properties: {
    api_surfaces: {
      type: "array",
      description: "The surfaces of the API, also one that is switched off.",
      items: {
        type: "object",
        description: "A surface of the API.",
        required: ["prefix", "status", "version"],
        properties: {
          prefix: { type: "string", description: "The path prefix." },
          status: { type: "string", description: "`stable`, or `off` where it answers 404." },
          version: { type: "string", description: "The version of its contract." },
        },
      },
    },
    build: buildInfo,
    catalog: catalogFacts,
    environment,
    openapi: {
      type: "object",
      description: "The OpenAPI document.",
      required: ["api_version", "spec"],
      properties: {
        api_version: { type: "string", description: "The version of the API it describes." },
        spec: { type: "string", description: "The version of OpenAPI it follows." },
      },
    },
  },
} as const satisfies Schema;
export type MetadataVersions = Infer<typeof metadataVersions>;

export const openApiObject = {
  type: "object",
  description: "An OpenAPI 3.1 document.",
  additionalProperties: true,
} as const satisfies Schema;
