import type { CatalogDocument, DeclaredProvider } from "./document.ts";
import type { Capability, CatalogProvider, CatalogRuntime } from "./schema.ts";

/** The first fields of every catalog document. */
export interface CatalogEnvelope {
  readonly contract_version: string;
  readonly counts: { readonly capabilities: number; readonly providers: number };
  readonly generated_at: string;
  /** The source of the catalog: `embed`, `file:<path>` or `url:<url>`. */
  readonly source: string;
  readonly runtime: CatalogRuntime;
}

/** A catalog with its precomputed rows and counts. Never changes. */
export interface CatalogView {
  readonly envelope: CatalogEnvelope;
  /** The document itself, including the example commands, which no response contains. */
  readonly document: CatalogDocument;
  /** Sorted by id. */
  readonly capabilities: readonly Capability[];
  /** Sorted by id. */
  readonly providers: readonly CatalogProvider[];
  readonly declared: ReadonlyMap<string, DeclaredProvider>;
}

/** The catalog in use. A newer one may replace it at any time, as a whole. */
export interface Catalog {
  current(): CatalogView;
}

/** Computes the rows and counts of a catalog document. */
export function viewOf(document: CatalogDocument, source: string): CatalogView {
  const { contract_version, generated_at, runtime, providers, capabilities } = document;
  const counts = { capabilities: capabilities.length, providers: providers.length };
  const perProvider = new Map<string, number>();
  for (const { provider } of capabilities) {
    perProvider.set(provider, (perProvider.get(provider) ?? 0) + 1);
  }
  return {
    envelope: { contract_version, counts, generated_at, source, runtime },
    document,
    capabilities: capabilities.map(({ id, name, provider, description, path }) => ({
      id,
      name,
      provider,
      description,
      path,
    })),
    providers: providers.map(({ id, name, auth, operations }) => ({
      id,
      name,
      auth,
      capabilities: perProvider.get(id) ?? 0,
      operations: operations.length,
      operation_names: operations.toSorted(),
    })),
    declared: new Map(providers.map((provider) => [provider.id, provider])),
  };
}
