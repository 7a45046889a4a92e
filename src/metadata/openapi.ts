/**
 * The OpenAPI 3.1 document, computed from the route table: it contains only what the rows state,
 * and the router, the validation and the tests use the same rows.
 */
import type { RolesMode } from "../core/roles.ts";
import type { RouteDescription, Surface } from "../http/route.ts";
import {
  demandOf,
  operationsOf,
  permissionInWords,
  type CredentialRequirement,
  type Operation,
} from "./operations.ts";
import { requestBodyOf, responsesOf, sharedResponses } from "./openapi-responses.ts";
import { SchemaComponents, type Json } from "./openapi-schemas.ts";
import { TAG_DESCRIPTIONS } from "./tags.ts";

/** The version of the OpenAPI specification that the document follows. */
export const OPENAPI_VERSION = "3.1.0";

/** The deployment, as the document describes it. */
export interface OpenApiAbout {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly version: string;
  readonly roles: RolesMode;
  /** Whether `/api/v1` requires credentials at this moment. */
  readonly requireAuth: boolean;
  /** Only operations on these surfaces are documented. */
  readonly surfaces: readonly Surface[];
}

const PURPOSE =
  "The control plane of command-line runtimes. Runtimes fetch their policy, report their commands and send heartbeats.";
const BOTH_PREFIXES =
  "`/api/public` is open to anyone and acts in the default organization. `/api/v1` has the same operations and those of management. It accepts tokens and API keys, and demands them while `REQUIRE_AUTH` is true.";
const ONE_PREFIX =
  "`/api/v1` accepts tokens and API keys, and demands them while `REQUIRE_AUTH` is true. `/api/public` is disabled in this deployment.";
const METHODS =
  "HEAD works wherever GET does, and OPTIONS on every path. An unknown path is 404, another method is 405 with `Allow`, and malformed HTTP is 400, each with an `Error` as the body.";
const BODIES =
  "A request body is one JSON object in UTF-8, optionally with `Content-Encoding: gzip`. A member that is `null` counts as absent, except in `guard`, `base_version`, `activate` and `stage`, and in a new rollout, where it is 400. An allowed origin of a browser is echoed in `Access-Control-Allow-Origin`.";

const SECURITY_SCHEMES = {
  bearerAuth: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A token from `POST /api/v1/auth/login`.",
  },
  apiKeyAuth: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "A key from `POST /api/v1/api-keys`, for the operations that its scope includes.",
  },
} as const;

const BEARER = { bearerAuth: [] } as const;
const API_KEY = { apiKeyAuth: [] } as const;
const ANONYMOUS = {} as const; // allowed while REQUIRE_AUTH is false

const SECURITY: Readonly<Record<CredentialRequirement, readonly Json[]>> = {
  none: [],
  key: [BEARER, API_KEY, ANONYMOUS],
  user: [BEARER, ANONYMOUS],
  always: [BEARER],
};

// OpenAPI ignores parameters of these names: other keywords describe them.
const UNDOCUMENTED_HEADERS: readonly string[] = ["accept", "authorization", "content-type"];

/**
 * Computes the whole document, as a plain object.
 *
 * @throws Error if two operations share an id, or two different schemas a title
 */
export function openApiDocument(rows: readonly RouteDescription[], about: OpenApiAbout): Json {
  const schemas = new SchemaComponents();
  const operations = operationsOf(rows, about.surfaces);
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    const item = (paths[operation.path] ??= {});
    item[operation.method.toLowerCase()] = operationObject(operation, schemas, about);
  }
  const shared = sharedResponses(operations, schemas);
  const prefixes = about.surfaces.includes("public") ? BOTH_PREFIXES : ONE_PREFIX;
  const usesCredentials = operations.some((operation) => demandOf(operation) !== "none");
  return {
    openapi: OPENAPI_VERSION,
    info: {
      title: "Signalbox",
      summary: "Control plane for command-line runtimes.",
      description: [PURPOSE, prefixes, METHODS, BODIES].join("\n\n"),
      version: about.version,
      contact: { name: "The operator of this deployment" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: about.baseUrl, description: "This deployment." }],
    tags: tagsOf(operations),
    paths,
    components: {
      schemas: schemas.all(),
      ...shared,
      ...(usesCredentials && { securitySchemes: SECURITY_SCHEMES }),
    },
  };
}

function operationObject(
  operation: Operation,
  schemas: SchemaComponents,
  { roles, requireAuth }: OpenApiAbout,
): Json {
  const { row } = operation;
  const description = [row.description ?? [], permissionInWords(operation, roles)].flat().join(" ");
  const parameters = parametersOf(row, schemas);
  const requestBody = requestBodyOf(row, schemas);
  return {
    operationId: operation.id,
    summary: row.summary,
    ...(description !== "" && { description }),
    tags: row.tags,
    security: SECURITY[demandOf(operation)].filter((way) => !requireAuth || way !== ANONYMOUS),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: responsesOf(operation, schemas),
  };
}

function parametersOf(row: RouteDescription, schemas: SchemaComponents): readonly Json[] {
  const inPath = Object.entries(row.params ?? {}).map(
    ([name, { description, examples, ...schema }]) => ({
      name,
      in: "path",
      required: true,
      description,
      schema: schemas.refer(schema),
      example: examples[0],
    }),
  );
  const inQuery = Object.entries(row.query ?? {}).map(([name, parameter]) => {
    const { description, forgiving: _, ...schema } = parameter;
    return {
      name,
      in: "query",
      ...(description && { description }),
      schema: schemas.refer(schema),
    };
  });
  const inHeader = Object.entries(row.headers ?? {})
    .filter(([name]) => !UNDOCUMENTED_HEADERS.includes(name.toLowerCase()))
    .map(([name, { description, ...schema }]) => ({
      name: headerName(name),
      in: "header",
      ...(description && { description }),
      schema: schemas.refer(schema),
    }));
  return [...inPath, ...inQuery, ...inHeader];
}

/** Writes `if-none-match` as `If-None-Match`; a name with capitals stays unchanged. */
function headerName(name: string): string {
  if (name !== name.toLowerCase()) return name;
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}

function tagsOf(operations: readonly Operation[]): readonly Json[] {
  const used = new Set(operations.flatMap(({ row }) => row.tags));
  const known = [...TAG_DESCRIPTIONS.keys()].filter((name) => used.has(name));
  const unknown = [...used].filter((name) => !TAG_DESCRIPTIONS.has(name));
  return [...known, ...unknown].map((name) => {
    const description = TAG_DESCRIPTIONS.get(name);
    return { name, ...(description !== undefined && { description }) };
  });
}
