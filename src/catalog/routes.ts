import { string } from "../core/schema-parts.ts";
import { PREFIXES, route } from "../http/route.ts";
import { findCapabilities } from "./find.ts";
import {
  capabilityList,
  catalogCapabilities,
  catalogContract,
  catalogProviders,
} from "./schema.ts";
import type { Catalog } from "./view.ts";

interface Needs {
  readonly catalog: Catalog;
}

interface ContractNeeds extends Needs {
  readonly description: {
    /** The public address of this service, without a slash at the end. */
    readonly baseUrl: () => string;
    /** Documents contain no links to a surface that is off. */
    readonly publicSurface: "open" | "off";
  };
}

const filters = {
  provider: string("Only the capabilities of this provider."),
  q: string("Text that the name, description, id or provider contains, in any letter case."),
} as const;

const DOCUMENTS = {
  contract: "/metadata/catalog",
  capabilities: "/metadata/catalog/capabilities",
  providers: "/metadata/catalog/providers",
} as const;

const TENANT_VIEW = {
  capabilities: `${PREFIXES.v1}/capabilities`,
  providers: `${PREFIXES.v1}/providers`,
} as const;

const PUBLIC_VIEW = {
  public_capabilities: `${PREFIXES.public}/capabilities`,
  public_providers: `${PREFIXES.public}/providers`,
} as const;

const WHY =
  "The catalog is the same for everybody. In an organization a provider also has a status and a last use, which come from that organization's own events and overrides.";

/** The routes of the catalog: the list that both surfaces share, and the catalog documents. */
export const catalogRoutes = [
  route({
    method: "GET",
    path: "/capabilities",
    large: "made",
    surfaces: ["public", "v1"],
    access: "user",
    summary: "List the catalog's capabilities",
    description: "The list has the order of the catalog.",
    tags: ["catalog"],
    query: filters,
    replies: { 200: capabilityList },
    handle({ query }, { catalog }: Needs) {
      const { capabilities, envelope } = catalog.current();
      const rows = findCapabilities(capabilities, query.provider, query.q);
      const { source, generated_at } = envelope;
      return { capabilities: rows, catalog: source, generated_at, total: rows.length };
    },
  }),
  route({
    method: "GET",
    path: DOCUMENTS.contract,
    surfaces: ["portal"],
    access: "open",
    summary: "Describe the catalog",
    description: "The source and version of the catalog, and links to its documents.",
    tags: ["catalog"],
    replies: { 200: catalogContract },
    handle(_input, { catalog, description }: ContractNeeds) {
      const base = description.baseUrl();
      const views =
        description.publicSurface === "open" ? { ...TENANT_VIEW, ...PUBLIC_VIEW } : TENANT_VIEW;
      return {
        ...catalog.current().envelope,
        description:
          "The command-line providers that this service knows, and what a runtime can be asked to do through each of them.",
        documentation: `${base}/portal/api`,
        contracts: below(base, DOCUMENTS),
        tenant_view: { ...below(base, views), why: WHY },
      };
    },
  }),
  route({
    method: "GET",
    path: DOCUMENTS.capabilities,
    large: "made",
    surfaces: ["portal"],
    access: "open",
    summary: "The catalog's capabilities, with their provenance",
    description: "The same list as `/capabilities`, with the catalog's origin and version.",
    tags: ["catalog"],
    query: filters,
    replies: { 200: catalogCapabilities },
    handle({ query }, { catalog }: Needs) {
      const { capabilities, envelope } = catalog.current();
      const rows = findCapabilities(capabilities, query.provider, query.q);
      return { ...envelope, capabilities: rows, total: rows.length };
    },
  }),
  route({
    method: "GET",
    path: DOCUMENTS.providers,
    surfaces: ["portal"],
    access: "open",
    summary: "The catalog's providers, with their provenance",
    description:
      "The declared providers without their status, and the catalog's origin and version.",
    tags: ["catalog"],
    replies: { 200: catalogProviders },
    handle(_input, { catalog }: Needs) {
      const { providers, envelope } = catalog.current();
      return { ...envelope, providers, total: providers.length };
    },
  }),
];

function below(base: string, paths: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, base + path]));
}
