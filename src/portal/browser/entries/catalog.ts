import "../frame.ts";
import type { Provider } from "../../../providers/schema.ts";
import { pageLink } from "../../page-link.ts";
import { catalog, renderCatalog, type CatalogModel } from "../../pages/catalog.ts";
import { call, reasonOf } from "../api.ts";
import { serveButtons, serveFilters, serveForm } from "../form.ts";
import { addressQuery, keepFresh, pageContext, show } from "../live.ts";
import { toast } from "../toast.ts";

/** The last model that was read, which is searched while the reader types. */
let known: CatalogModel | undefined;

const page = keepFresh({ ...catalog, render: (model) => renderCatalog((known = model)) }, 15_000);

serveFilters(
  "[data-filters]",
  ({ provider, q }) => {
    const link = pageLink(catalog.path, { provider, q });
    if (!known) return void page.go(link, "replace");
    history.replaceState(null, "", link);
    show(renderCatalog({ ...known, ...pageContext(), query: addressQuery(catalog.parameters) }));
  },
  0,
);

function pathOfProvider(): string {
  return `/providers/${encodeURIComponent(addressQuery(catalog.parameters).provider ?? "")}`;
}

serveForm("[data-status]", async (data) => {
  const { name, status } = await call<Provider>("PUT", pathOfProvider(), {
    body: { status: data.get("status") },
  });
  toast(`${name} is ${status} until you lift that`);
  await page.refresh();
});

serveButtons("lift", () => {
  call("DELETE", pathOfProvider())
    .then(() => page.refresh())
    .catch((error: unknown) => toast(reasonOf(error)));
});
