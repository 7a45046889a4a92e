import { route } from "../http/route.ts";
import { CATALOG_PATH } from "./catalog-view.ts";
import type { PortalFrame } from "./layout.ts";
import { loadCatalog, type CatalogNeeds } from "./loaders/catalog.ts";
import { callsV1 } from "./mode.ts";
import { makePage, PAGE, sendPage } from "./page.ts";
import { catalogPage } from "./pages/catalog.ts";

/** The page of what runtimes can be asked to do, and through what. */
export const catalogPageRoutes = [
  route({
    ...PAGE,
    path: CATALOG_PATH,
    summary: "The page of the providers and their capabilities",
    description: "HTML: what can be used, and whether it is used.",
    query: {
      provider: { type: "string", description: "The id of the provider to show." },
      q: { type: "string", description: "Text that providers or capabilities must contain." },
    },
    refuses: [500],
    async handle({ query }, needs: PortalFrame & CatalogNeeds) {
      const canSet = callsV1(needs.description);
      const page = await makePage(needs, {
        path: CATALOG_PATH,
        title: "Catalog",
        module: "catalog",
        load: (context) => loadCatalog(needs, context, { view: query, canSet }),
        render: catalogPage,
      });
      return sendPage(page);
    },
  }),
];
