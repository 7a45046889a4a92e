import { isListed } from "../audit/facets.ts";
import type { ProviderActivity } from "../audit/store.ts";
import type { CatalogProvider } from "../catalog/schema.ts";
import type { CatalogView } from "../catalog/view.ts";
import { formatTimestamp } from "../core/time.ts";
import type { Provider, ProviderStatus } from "./schema.ts";
import { statusFrom } from "./status.ts";

type ProviderUse = ReadonlyMap<string, ProviderActivity>;
type Overrides = ReadonlyMap<string, ProviderStatus>;

/** Joins the catalog's providers, in its order, with the organization's data about them. */
export function providerRows(
  view: CatalogView,
  use: ProviderUse,
  overrides: Overrides,
): Provider[] {
  return view.providers.map((row) => joined(row, view, use, overrides));
}

/** The row of one provider; `undefined` if the catalog does not contain it. */
export function providerRow(
  id: string,
  view: CatalogView,
  use: ProviderUse,
  overrides: Overrides,
): Provider | undefined {
  const row = view.providers.find((candidate) => candidate.id === id);
  return row && joined(row, view, use, overrides);
}

function joined(
  { id, name, auth, capabilities, operations }: CatalogProvider,
  view: CatalogView,
  use: ProviderUse,
  overrides: Overrides,
): Provider {
  const used = use.get(id);
  return {
    id,
    name,
    auth,
    scope: view.declared.get(id)?.scope ?? "",
    capabilities,
    operations,
    last_used: used && formatTimestamp(used.lastUsed),
    status: overrides.get(id) ?? statusFrom(used),
    ...(overrides.has(id) ? { overridden: true } : {}),
  };
}

/** The most names from events in a list: runtimes can report any name. */
export const MOST_NAMED = 10_000;

/**
 * The ids of the catalog's providers and the names (up to 256 characters) in events, sorted,
 * without duplicates.
 */
export function allProviderNames(view: CatalogView, named: Iterable<string>): string[] {
  const listed = [...named].filter(isListed);
  return [...new Set([...view.declared.keys(), ...listed])].sort();
}
