import { stringify } from "yaml";
import { Unavailable } from "../core/errors.ts";
import { string } from "../core/schema-parts.ts";
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
import { openApiDocument } from "./openapi.ts";
import {
  health,
  metadata,
  metadataApis,
  metadataAuthentication,
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

/** The documents of the service about itself: without a prefix, and open to everyone. */
export const metadataRoutes = [
  route({
    ...DOCUMENT,
    path: "/",
    summary: "Show the front page or the metadata document",
    description: "Clients that prefer `text/html` to JSON get the page, others the document.",
    tags: ["metadata", "portal"],
    large: "made",
    headers: { accept: string("The accepted media types.") },
    replies: { 200: [metadata, "text/html"] },
    refuses: [500],
    async handle({ headers, client }, { description, portal }: Needs) {
      if (!prefersHtml(headers.accept)) {
        return json(200, JSON.stringify(metadataDocument(description)), VARY);
      }
      const page = await portal.home(client);
      return text(200, "text/html; charset=utf-8", page.html, [...page.headers, ...VARY]);
    },
  }),
  route({
    method: "GET",
    path: "/health",
    surfaces: ["portal", "public", "v1"],
    access: "user",
    summary: "Check that the service answers",
    description:
      "The status is 200 while the process answers. `degraded` means that lines of a log cannot be read back, or that a log is not signed as it should be.",
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
    summary: "Check that the service can store data",
    description:
      "The status is 503 while a write fails, and the error names the log. Each request makes the service try again.",
    tags: ["health"],
    replies: { 200: readiness },
    refuses: [503],
    async handle(_, { description: { engineHealth } }: Needs) {
      // This request makes the engine try to write again: while the service is not ready, it gets no writes.
      const { unwritable } = await engineHealth();
      if (unwritable.length === 0) return { status: "ready" as const };
      throw new Unavailable(`Not ready: cannot write the ${unwritable.join(" and the ")}`, 1);
    },
  }),
  route({
    ...DOCUMENT,
    path: "/version",
    summary: "Read the version of the build",
    description: "The version, the commit and the time of the build, if they are known.",
    replies: { 200: versionInfo },
    handle: (_, { description }: Needs) => versionDocument(description),
  }),
  route({
    ...DOCUMENT,
    path: "/metadata",
    summary: "Describe the service",
    description: "The response links all documents of the service.",
    replies: { 200: metadata },
    handle: (_, { description }: Needs) => metadataDocument(description),
  }),
  route({
    ...DOCUMENT,
    path: "/metadata/apis",
    summary: "List the operations",
    description: "The list is computed from the route table, as the OpenAPI document is.",
    replies: { 200: metadataApis },
    handle: (_, { description }: Needs) =>
      json(
        200,
        keptText(description, "apis", () => JSON.stringify(apisDocument(description))).body,
      ),
  }),
  route({
    ...DOCUMENT,
    path: "/metadata/versions",
    summary: "List the versions of the build, the API and the catalog",
    description: "Clients can check that they are compatible with this server.",
    replies: { 200: metadataVersions },
    handle: (_, { description }: Needs) => versionsDocument(description),
  }),
  route({
    ...DOCUMENT,
    path: "/metadata/authentication",
    summary: "Describe the authentication",
    description: "The response has the live configuration, which can change at run time.",
    replies: { 200: metadataAuthentication },
    handle: (_, { description }: Needs) => authenticationDocument(description),
  }),
  route({
    ...DOCUMENT,
    path: "/openapi.yaml",
    large: "made",
    summary: "Read the OpenAPI document as YAML",
    description:
      "The document is computed from the route table. While `REQUIRE_AUTH` is true, operations of `/api/v1` are not documented as anonymous.",
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
    large: "made",
    summary: "Read the OpenAPI document as JSON",
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
