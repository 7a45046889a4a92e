/** The metadata documents. Each is computed from the route table and the current state on every request. */
import { SECOND_MS } from "../core/clock.ts";
import { KEY_SCOPES, scopeInWords } from "../core/key-scopes.ts";
import { formatTimestamp } from "../core/time.ts";
import { PREFIXES, type Surface } from "../http/route.ts";
import { demoDocument } from "./demo.ts";
import { OPENAPI_VERSION } from "./openapi.ts";
import { demandOf, DEMAND_WORDS, keyScopesOf, leastRole, operationsOf } from "./operations.ts";
import type {
  BuildInfo,
  Metadata,
  MetadataApis,
  MetadataAuthentication,
  MetadataVersions,
  SurfaceInfo,
  VersionInfo,
} from "./schema.ts";
import { servedSurfaces, type ServiceDescription } from "./service.ts";

const SERVICE = "signalbox";
const API_VERSION = "v1";
const CONTRACT_PATH = "/openapi.yaml";
const REFERENCE_PATH = "/portal/api";

const AUDIENCES: Readonly<Record<Surface, string>> = {
  public: "Anyone, without credentials, in the default organization",
  v1: "Organizations: runtimes with API keys and users with tokens",
  portal: "People with a browser, and readers of the documents",
};

/** The answer of `/metadata`, and of `/` to clients that do not prefer HTML. */
export function metadataDocument(service: ServiceDescription): Metadata {
  return {
    service: SERVICE,
    description:
      "Control plane for command-line runtimes: versioned policies, audit events, fleet presence and a catalog of capabilities",
    environment: service.environment,
    base_url: service.baseUrl(),
    health: service.baseUrl() + "/health",
    version: buildInfoOf(service),
    surfaces: surfaceList(service),
    catalog: service.catalog(),
    ...linksOf(service),
    ...(service.demo && { demo: demoDocument(service.demo, service) }),
  };
}

/** The answer of `/version`. */
export function versionDocument(service: ServiceDescription): VersionInfo {
  return {
    service: SERVICE,
    ...buildInfoOf(service),
    environment: service.environment,
    surfaces: servedSurfaces(service.publicSurface)
      .filter((surface) => surface !== "portal")
      .map((surface) => PREFIXES[surface]),
  };
}

/** The answer of `/metadata/apis`. */
export function apisDocument(service: ServiceDescription): MetadataApis {
  const surfaces = servedSurfaces(service.publicSurface);
  const operations = operationsOf(service.rows, surfaces).map((operation) => {
    const { method, path, surface, row } = operation;
    const role = leastRole(operation);
    const scopes = keyScopesOf(operation);
    return {
      ...{ method, path, summary: row.summary, auth: DEMAND_WORDS[demandOf(operation)] },
      ...(role !== undefined && { role }),
      ...(scopes.length > 0 && { key_scopes: scopes }),
      ...{ surface, tags: row.tags },
    };
  });
  const counts = surfaces.map((name) => [
    name,
    operations.filter(({ surface }) => surface === name).length,
  ]);
  return {
    base_url: service.baseUrl(),
    contract: service.baseUrl() + CONTRACT_PATH,
    total: operations.length,
    by_surface: Object.fromEntries(counts) as Record<string, number>,
    operations,
  };
}

/** The answer of `/metadata/versions`. */
export function versionsDocument(service: ServiceDescription): MetadataVersions {
  const served = servedSurfaces(service.publicSurface);
  return {
    api_surfaces: (["public", "v1"] as const).map((surface) => ({
      prefix: PREFIXES[surface],
      status: served.includes(surface) ? "stable" : "off",
      version: API_VERSION,
    })),
    build: buildInfoOf(service),
    catalog: service.catalog(),
    environment: service.environment,
    openapi: { api_version: API_VERSION, spec: OPENAPI_VERSION },
  };
}

/** The answer of `/metadata/authentication`. */
export function authenticationDocument(service: ServiceDescription): MetadataAuthentication {
  return {
    require_auth: service.requireAuth(),
    roles: service.roles,
    key_scopes: Object.fromEntries(
      KEY_SCOPES.map((scope) => [scope, scopeInWords(scope)]),
    ) as Record<string, string>,
    api_keys_accepted: true,
    documentation: service.baseUrl() + REFERENCE_PATH,
    environment: service.environment,
    runtime_client_header: "X-Runtime-Client",
    schemes: [
      {
        name: "bearerAuth",
        type: "http",
        scheme: "bearer",
        format: "JWT",
        header: "Authorization",
        login: `${service.baseUrl()}${PREFIXES.v1}/auth/login`,
        accepted_on: "every route of /api/v1",
      },
      {
        name: "apiKeyAuth",
        type: "apiKey",
        in: "header",
        header: "X-API-Key",
        accepted_on: "the routes of /api/v1 that its scope includes",
      },
    ],
    surfaces: surfaceList(service),
  };
}

/** The build as documents report it, with the uptime at this moment. */
function buildInfoOf({ build, startedAt, now }: ServiceDescription): BuildInfo {
  return {
    version: build.version,
    commit: build.commit,
    build_time: build.buildTime,
    go: `node/${process.versions.node}`,
    started_at: formatTimestamp(startedAt),
    uptime_seconds: Math.max(0, Math.floor((now() - startedAt) / SECOND_MS)),
  };
}

/** The served surfaces, each with its current rule about credentials. */
function surfaceList(service: ServiceDescription): readonly SurfaceInfo[] {
  const v1 = service.requireAuth() ? "required" : "optional";
  return servedSurfaces(service.publicSurface).map((surface) => ({
    prefix: PREFIXES[surface] || "/",
    audience: AUDIENCES[surface],
    stable: true,
    auth: surface === "v1" ? v1 : "none",
  }));
}

/** Links to every document and page in the route table, by a name made from the path. */
function linksOf(service: ServiceDescription): Pick<Metadata, "contracts" | "metadata" | "portal"> {
  const paths = service.rows
    .filter(({ method, path }) => method === "GET" && !path.includes("{"))
    .filter(({ surfaces }) => surfaces.includes("portal"))
    .map(({ path }) => path);
  const links = (wanted: (path: string) => boolean, name: (path: string) => string) =>
    Object.fromEntries(paths.filter(wanted).map((path) => [name(path), service.baseUrl() + path]));
  return {
    contracts: links(
      (path) => /^\/(?:openapi|metadata\/(?:catalog|policy))/.test(path),
      contractName,
    ),
    metadata: links((path) => /^\/(?:metadata|version)/.test(path), contractName),
    portal: links(isPage, documentName),
  };
}

function isPage(path: string): boolean {
  return path === "/" || (path.startsWith("/portal") && !path.includes("{"));
}

/** `/metadata/catalog/providers` is `catalog_providers`, `/metadata` itself `metadata`. */
function documentName(path: string): string {
  const words = path.split("/").slice(1);
  const rest = words.length > 1 ? words.slice(1) : words;
  return rest.join("_").replaceAll("-", "_") || "home";
}

function contractName(path: string): string {
  if (path === CONTRACT_PATH) return "openapi";
  return documentName(path).replaceAll(".", "_");
}
