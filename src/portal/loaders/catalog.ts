import type { AuditStore } from "../../audit/store.ts";
import type { Catalog } from "../../catalog/view.ts";
import { DEFAULT_ORGANIZATION } from "../../core/caller.ts";
import { providerRows } from "../../providers/rows.ts";
import type { ProviderOverrideStore } from "../../providers/store.ts";
import type { CatalogModel } from "../pages/catalog.ts";
import type { PageContext } from "../pages/parts.ts";

/** What the page of the catalog is read from. */
export interface CatalogNeeds {
  readonly catalog: Catalog;
  readonly audit: Pick<AuditStore, "providerUse">;
  readonly overrides: Pick<ProviderOverrideStore, "all">;
}

/** Reads the catalog, and how its providers do in the default organization. */
export async function loadCatalog(
  { catalog, audit, overrides }: CatalogNeeds,
  context: PageContext,
  asked: Pick<CatalogModel, "view" | "canSet">,
): Promise<CatalogModel> {
  const current = catalog.current();
  const [use, set] = await Promise.all([
    audit.providerUse(DEFAULT_ORGANIZATION, [...current.declared.keys()], context.now),
    overrides.all(DEFAULT_ORGANIZATION),
  ]);
  return {
    ...context,
    ...asked,
    source: current.envelope.source,
    providers: providerRows(current, use, set),
    capabilities: current.capabilities,
  };
}
