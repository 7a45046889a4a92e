import { findCapabilities } from "../../catalog/find.ts";
import type { Capability } from "../../catalog/schema.ts";
import type { Provider } from "../../providers/schema.ts";

/** The part of a catalog that matches a query. */
export interface CatalogMatches {
  readonly providers: readonly Provider[];
  readonly capabilities: readonly Capability[];
}

/**
 * Finds capabilities as the API does, and the providers that have one of them or whose own id or name
 * contains the text.
 */
export function matchesIn(
  providers: readonly Provider[],
  capabilities: readonly Capability[],
  { provider, q }: Partial<Readonly<Record<"provider" | "q", string | undefined>>>,
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
