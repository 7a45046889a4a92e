import { stringify } from "yaml";
import { Unavailable } from "../core/errors.ts";
import { json, text, type HeaderList } from "../http/reply.ts";
import { prefersHtml } from "../http/negotiate.ts";
import { route } from "../http/route.ts";
import {
  apisDocument,
  authenticationDocument,
  metadataDocument,
  versionDocument,
  versionsDocument,
} from "./documents.ts";
import { KEPT_TEXT_HEADERS, keptText, sendKeptText, type KeptText } from "./kept-text.ts";
import { metadataAuthentication } from "./authentication-schema.ts";
import { openApiDocument } from "./openapi.ts";
import {
  health,
  metadata,
  metadataApis,
  metadataVersions,
  openApiObject,
  readiness,
  versionInfo,
} from "./schema.ts";
import { servedSurfaces, type PortalPages, type ServiceDescription } from "./service.ts";

interface Needs {
  readonly description: ServiceDescription;
  readonly portal: PortalPages;
}

/** The common part of the rows of documents. */
const DOCUMENT = {
  method: "GET",
  surfaces: ["portal"],
  access: "open",
  tags: ["metadata"],
} as const;
const VARY: HeaderList = ["Vary", "Origin, Accept"];

/** The documents of the service about itself: without a prefix, open to everyone, never enforced. */
export const metadataRoutes = [
  route({
    ...DOCUMENT,
    path: "/",
    summary: "The front page, or the metadata document",
    description: "Who asks for `text/html` more than for JSON gets the page, everybody else JSON.",
    tags: ["metadata", "portal"],
    large: "made",
    headers: { accept: { type: "string", description: "The media types that are wanted." } },
    replies: { 200: [metadata, "text/html"] },
    refuses: [500],
    async handle({ headers, client }, { description, portal }: Needs) {
      if (!prefersHtml(headers.accept)) {
        return json(200, JSON.stringify(metadataDocument(description)), VARY);
      }
      const page = await portal.home(client.gone);
      return text(200, "text/html; charset=utf-8", page.html, [...page.headers, ...VARY]);
    },
  }),
  route({
    method: "GET",
    path: "/health",
    surfaces: ["portal", "public", "v1"],
    access: "user",
    summary: "Tell whether the service answers",
    description:
      "200 as long as the process answers. `degraded` means that a log holds lines that cannot be read back.",
    tags: ["health"],
    replies: { 200: health },
    async handle(_, { description: { engineHealth, edition } }: Needs) {
      const { isDegraded } = await engineHealth();
      return { status: isDegraded ? "degraded" : "ok", edition };
    },
  }),
  route({
    ...DOCUMENT,
    path: "/ready",
    summary: "Tell whether the service can store what it is sent",
    description:
      "503 while something cannot be written, and what. Asking makes the service try again.",
    tags: ["health"],
    replies: { 200: readiness },
    refuses: [503],
    async handle(_, { description: { engineHealth } }: Needs) {
      // Asking makes the engine try again: a service that is not ready gets no writes that would.
      const { unwritable } = await engineHealth();
      if (unwritable.length === 0) return { status: "ready" as const };
      throw new Unavailable(`Not ready: cannot write the ${unwritable.join(" and the ")}`, 1);
    },
  }),
  route({
    ...DOCUMENT,
    path: "/version",
    summary: "Tell which build is running",
    description:
      "The package's version, the commit and the time of the build, as far as they are known.",
    replies: { 200: versionInfo },
    handle: (_, { description }: Needs) => versionDocument(description),
  }),
  route({
    ...DOCUMENT,
    path: "/metadata",
    summary: "Describe the service, with links to every document",
    description: "The starting point for clients that discover the service.",
    replies: { 200: metadata },
    handle: (_, { description }: Needs) => metadataDocument(description),
  }),
  route({
    ...DOCUMENT,
    path: "/metadata/apis",
    summary: "List every operation",
    description: "Computed from the same table as the router and the OpenAPI document.",
    replies: { 200: metadataApis },
    handle: (_, { description }: Needs) => apisDocument(description),
  }),
  route({
    ...DOCUMENT,
    path: "/metadata/versions",
    summary: "List the versions of build, surfaces, catalog and contract",
    description: "For clients that check whether they fit this server.",
    replies: { 200: metadataVersions },
    handle: (_, { description }: Needs) => versionsDocument(description),
  }),
  route({
    ...DOCUMENT,
    path: "/metadata/authentication",
    summary: "Tell how callers authenticate, and whether they must",
    description:
      "Read from the live configuration: whether credentials are demanded may change while the service runs.",
    replies: { 200: metadataAuthentication },
    handle: (_, { description }: Needs) => authenticationDocument(description),
  }),
  route({
    ...DOCUMENT,
    path: "/openapi.yaml",
    summary: "The OpenAPI document, as YAML",
    description:
      "OpenAPI 3.1, computed from the routes. While `REQUIRE_AUTH` is true no operation of `/api/v1` is documented as anonymous.",
    ...KEPT_TEXT_HEADERS,
    replies: { 200: "application/yaml", 304: "application/yaml" },
    handle: ({ headers }, { description }: Needs) =>
      sendKeptText(
        openApi(description, "yaml"),
        "application/yaml; charset=utf-8",
        headers["if-none-match"],
      ),
  }),
  route({
    ...DOCUMENT,
    path: "/openapi.json",
    summary: "The OpenAPI document, as JSON",
    description: "The same document as `/openapi.yaml`.",
    ...KEPT_TEXT_HEADERS,
    replies: { 200: openApiObject, 304: openApiObject },
    handle: ({ headers }, { description }: Needs) =>
      sendKeptText(
        openApi(description, "json"),
        "application/json; charset=utf-8",
        headers["if-none-match"],
      ),
  }),
];

function openApi(description: ServiceDescription, notation: "json" | "yaml"): KeptText {
  const requireAuth = description.requireAuth();
  return keptText(description, `openapi.${notation} ${requireAuth}`, () => {
    const document = openApiDocument(description.rows, {
      baseUrl: description.baseUrl(),
      version: description.build.version,
      roles: description.roles,
      requireAuth,
      surfaces: servedSurfaces(description.publicSurface),
    });
    if (notation === "json") return JSON.stringify(document, null, 2);
    // No aliases: readers of OpenAPI expect a tree, and many of them refuse aliases.
    return stringify(document, { aliasDuplicateObjects: false });
  });
}
