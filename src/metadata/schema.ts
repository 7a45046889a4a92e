import { KEY_SCOPES } from "../core/key-scopes.ts";
import { ROLES } from "../core/roles.ts";
import { boolean, dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";
import { demoFacts } from "./demo.ts";

/** The body of every refusal and failure. */
export const errorReply = object({
  title: "Error",
  description: "The reason why a request was refused or failed.",
  properties: { error: string("The reason in a sentence.") },
});

export const health = object({
  title: "Health",
  description: "The health of the service.",
  properties: {
    status: string(
      "`ok`, or `degraded` if lines of a log cannot be read back, or a log is not signed as it should be.",
    ),
    edition: string("The edition of the deployment."),
  },
});

export const readiness = object({
  title: "Readiness",
  description: "The readiness of the service to store data.",
  properties: { status: word("Always `ready`.", ["ready"]) },
});

const buildProperties = {
  version: string("The version of the program."),
  commit: string("The commit of the build, or `unknown`."),
  build_time: string("The time of the build, or `unknown`."),
  go: string("The JavaScript runtime: `node/` and its version."),
  started_at: dateTime("The start of this process."),
  uptime_seconds: integer("The number of whole seconds since the start.", { minimum: 0 }),
};

const buildInfo = object({
  title: "BuildInfo",
  description: "The running build and its start.",
  properties: buildProperties,
});
export type BuildInfo = Infer<typeof buildInfo>;

const environment = string("The environment of the deployment.");

export const versionInfo = object({
  title: "VersionInfo",
  description: "The running build and its surfaces.",
  properties: {
    service: string("Always `signalbox`."),
    ...buildProperties,
    environment,
    surfaces: list("The path prefixes of the API.", string("A path prefix.")),
  },
});
export type VersionInfo = Infer<typeof versionInfo>;

const surfaceInfo = object({
  title: "Surface",
  description: "A path prefix and its audience.",
  properties: {
    prefix: string("The path prefix; `/` for paths without a prefix."),
    audience: string("The intended callers."),
    stable: boolean("Whether the contract is stable: it only gains additions."),
    auth: string(
      "`none` if credentials are ignored, `optional` if given ones are checked, `required` if they are demanded.",
    ),
  },
});
export type SurfaceInfo = Infer<typeof surfaceInfo>;

const surfaces = list("The surfaces of this process.", surfaceInfo);

const baseUrl = string("The base URL of the service.", { format: "uri" });

const catalogFacts = {
  type: "object",
  description: "Facts about the current catalog.",
  additionalProperties: true,
} as const satisfies Schema;

function linksByName<const D extends string>(description: D) {
  return { type: "object", description, additionalProperties: string("A URL.") } as const;
}

export const metadata = object({
  title: "Metadata",
  description: "A description of this service with links to its documents.",
  optional: ["demo"],
  properties: {
    service: string("Always `signalbox`."),
    description: string("A description of the service in one sentence."),
    environment,
    base_url: baseUrl,
    health: string("The URL of the health check."),
    version: buildInfo,
    surfaces,
    catalog: catalogFacts,
    contracts: linksByName("The machine-readable contracts by name."),
    metadata: linksByName("The metadata documents by name."),
    portal: linksByName("The pages of the portal by name."),
    demo: demoFacts,
  },
});
export type Metadata = Infer<typeof metadata>;

const operation = object({
  description: "An operation of the API.",
  optional: ["role", "key_scopes"],
  properties: {
    method: string("The HTTP method."),
    path: string("The path with its prefix; `{name}` is a parameter."),
    summary: string("The summary of the operation."),
    auth: string("The accepted credentials, and when they are demanded."),
    role: word(
      "The least role that may call it while `ROLES` is `enforced`; absent if any caller may.",
      ROLES,
    ),
    key_scopes: list(
      "The scopes of API keys that may call it; absent if no key may.",
      word("A scope.", KEY_SCOPES),
    ),
    surface: word("The surface of the operation.", ["public", "v1", "portal"]),
    tags: list("The groups of the operation.", string("The name of a group.")),
  },
});

export const metadataApis = object({
  title: "MetadataAPIs",
  description: "The operations of this process.",
  properties: {
    base_url: baseUrl,
    contract: string("The URL of the OpenAPI document."),
    total: integer("The number of operations.", { minimum: 0 }),
    by_surface: {
      type: "object",
      description: "The number of operations on each surface.",
      additionalProperties: integer("A number of operations.", { minimum: 0 }),
    },
    operations: list("The operations.", operation),
  },
});
export type MetadataApis = Infer<typeof metadataApis>;

const apiSurface = object({
  description: "A surface of the API.",
  properties: {
    prefix: string("The path prefix."),
    status: string("`stable`, or `off` if all its paths are 404."),
    version: string("The version of the contract."),
  },
});

export const metadataVersions = object({
  title: "MetadataVersions",
  description: "The versions of the build, the API, the catalog and OpenAPI.",
  properties: {
    api_surfaces: list("The surfaces of the API, including a disabled one.", apiSurface),
    build: buildInfo,
    catalog: catalogFacts,
    environment,
    openapi: object({
      description: "The OpenAPI document.",
      properties: {
        api_version: string("The version of the described API."),
        spec: string("The version of the OpenAPI specification."),
      },
    }),
  },
});
export type MetadataVersions = Infer<typeof metadataVersions>;

export const metadataAuthentication = object({
  title: "MetadataAuthentication",
  description: "The current authentication settings.",
  properties: {
    require_auth: boolean("Whether `/api/v1` currently demands credentials."),
    roles: word("`enforced` if roles restrict users, `carried` if tokens only name them.", [
      "carried",
      "enforced",
    ]),
    key_scopes: {
      type: "object",
      description:
        "The permissions of each key scope. A key with an unknown scope acts as `runtime`.",
      additionalProperties: string("The permissions of the scope."),
    },
    api_keys_accepted: boolean("Whether API keys are accepted."),
    documentation: string("The URL of the API reference."),
    environment,
    runtime_client_header: string("The header with the name of a runtime."),
    schemes: list("The authentication schemes.", {
      type: "object",
      description: "An authentication scheme.",
      additionalProperties: true,
    }),
    surfaces,
  },
});
export type MetadataAuthentication = Infer<typeof metadataAuthentication>;

export const openApiObject = {
  type: "object",
  description: "An OpenAPI 3.1 document.",
  additionalProperties: true,
} as const satisfies Schema;
