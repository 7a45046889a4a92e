import { KEY_SCOPES } from "../core/key-scopes.ts";
import { ROLES } from "../core/roles.ts";
import { boolean, dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";
import { demoFacts } from "./demo.ts";

/** The body of every refusal and failure. */
export const errorReply = object({
  title: "Error",
  description: "Why a request was refused, or that it failed.",
  properties: { error: string("The reason, for people.") },
});

export const health = object({
  title: "Health",
  description: "That the service answers, and which edition it is.",
  properties: {
    status: string("`ok`, or `degraded` where lines of the audit log could not be read back."),
    edition: string("The edition that this deployment reports."),
  },
});

export const readiness = object({
  title: "Readiness",
  description: "That the service can store what it is sent.",
  properties: { status: word("Always `ready`.", ["ready"]) },
});

const buildProperties = {
  version: string("The program's version."),
  commit: string("The commit it was built from, or `unknown`."),
  build_time: string("When it was built, or `unknown`."),
  go: string("The engine that runs it: `node/` and its version."),
  started_at: dateTime("When this process started."),
  uptime_seconds: integer("Whole seconds since then.", { minimum: 0 }),
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
    service: string("Always `signalbox`."),
    ...buildProperties,
    environment: string("The environment that this deployment reports."),
    surfaces: list("The path prefixes of the API.", string("A path prefix.")),
  },
} as const satisfies Schema;
export type VersionInfo = Infer<typeof versionInfo>;

export const surfaceInfo = object({
  title: "Surface",
  description: "A path prefix and whom it serves.",
  properties: {
    prefix: string("The path prefix; `/` for what stands under none."),
    audience: string("Whom it serves."),
    stable: boolean("Whether its contract only ever grows."),
    auth: string(
      "What the running process does about credentials: `none` never asks, `optional` checks what is given, `required` demands them.",
    ),
  },
});
export type SurfaceInfo = Infer<typeof surfaceInfo>;

export const surfaces = list("Every surface that this process serves.", surfaceInfo);

export const environment = string("The environment that this deployment reports.");

const baseUrl = string("Where the service is reached.", { format: "uri" });

const catalogFacts = {
  type: "object",
  description: "Facts about the catalog in use.",
  additionalProperties: true,
} as const satisfies Schema;

const link = string("A URL.");

export const metadata = object({
  title: "Metadata",
  description: "What this service is, and where everything about it stands.",
  optional: ["demo"],
  properties: {
    service: string("Always `signalbox`."),
    description: string("What the service does, in a sentence."),
    environment,
    base_url: baseUrl,
    health: string("Where to ask whether it runs."),
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
});
export type Metadata = Infer<typeof metadata>;

const operation = object({
  description: "One operation of the API.",
  optional: ["role", "key_scopes"],
  properties: {
    method: string("The HTTP method."),
    path: string("The path with its prefix; `{name}` is a parameter."),
    summary: string("What it does."),
    auth: string("Which credentials it takes, and when it demands them."),
    role: word(
      "The least role it takes while `ROLES` is `enforced`; absent where it asks for none.",
      ROLES,
    ),
    key_scopes: list(
      "The scopes of the API keys it takes; absent where it takes no key.",
      word("A scope.", KEY_SCOPES),
    ),
    surface: word("The surface it belongs to.", ["public", "v1", "portal"]),
    tags: list("The groups it belongs to.", string("A group's name.")),
  },
});

export const metadataApis = object({
  title: "MetadataAPIs",
  description: "Every operation that this process serves.",
  properties: {
    base_url: baseUrl,
    contract: string("Where the OpenAPI document stands."),
    total: integer("How many operations there are.", { minimum: 0 }),
    by_surface: {
      type: "object",
      description: "How many there are on each surface.",
      additionalProperties: integer("Operations.", { minimum: 0 }),
    },
    operations: list("The operations.", operation),
  },
});
export type MetadataApis = Infer<typeof metadataApis>;

export const metadataVersions = object({
  title: "MetadataVersions",
  description: "The versions of everything that has one.",
  properties: {
    api_surfaces: list(
      "The surfaces of the API, also one that is switched off.",
      object({
        description: "A surface of the API.",
        properties: {
          prefix: string("The path prefix."),
          status: string("`stable`, or `off` where it answers 404."),
          version: string("The version of its contract."),
        },
      }),
    ),
    build: buildInfo,
    catalog: catalogFacts,
    environment,
    openapi: object({
      description: "The OpenAPI document.",
      properties: {
        api_version: string("The version of the API it describes."),
        spec: string("The version of OpenAPI it follows."),
      },
    }),
  },
});
export type MetadataVersions = Infer<typeof metadataVersions>;

export const openApiObject = {
  type: "object",
  description: "An OpenAPI 3.1 document.",
  additionalProperties: true,
} as const satisfies Schema;
