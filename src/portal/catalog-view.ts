/** What the page of the catalog is narrowed to, and how its addresses are made. */
import type { Capability } from "../catalog/schema.ts";
import { findCapabilities } from "../catalog/find.ts";
import type { Provider } from "../providers/schema.ts";

/** Where the catalog is. */
export const CATALOG_PATH = "/portal/catalog";

/** What the address asks for. */
export interface CatalogView {
  /** The id of the one provider to show. */
  readonly provider?: string | undefined;
  /** Text to search for. */
  readonly q?: string | undefined;
}

/** The address of a view: what is not set does not stand in it. */
export function catalogLink({ provider, q }: CatalogView): string {
  const query = new URLSearchParams();
  if (provider) query.set("provider", provider);
  if (q) query.set("q", q);
  const search = query.toString();
  return `${CATALOG_PATH}${search === "" ? "" : `?${search}`}`;
}

/** What of a catalog fits a view. */
export interface CatalogMatches {
  readonly providers: readonly Provider[];
  readonly capabilities: readonly Capability[];
}

/**
 * Picks what fits: capabilities as the API does, and the providers that have one of them or whose own
 * id or name holds the text.
 */
export function matchesIn(
  providers: readonly Provider[],
  capabilities: readonly Capability[],
  { provider, q }: CatalogView,
): CatalogMatches {
  const wanted = q?.trim() || undefined;
  const found = findCapabilities(capabilities, provider, wanted);
  const owners = new Set(found.map((capability) => capability.provider));
  const text = wanted?.toLowerCase() ?? "";
  return {
    capabilities: found,
    providers: providers.filter(
      ({ id, name }) =>
        owners.has(id) || [id, name].some((part) => part.toLowerCase().includes(text)),
    ),
  };
}
