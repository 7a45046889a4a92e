import "../frame.ts";
import type { Capability } from "../../../catalog/schema.ts";
import type { Provider } from "../../../providers/schema.ts";
import { catalogLink, type CatalogView } from "../../catalog-view.ts";
import { catalogPage, type CatalogModel } from "../../pages/catalog.ts";
import type { PageContext } from "../../pages/parts.ts";
import { call, callsV1, read, reasonOf } from "../api.ts";
import { serveButtons, serveForm } from "../form.ts";
import { contentElement, keepFresh, pageContext } from "../live.ts";
import { morph } from "../morph.ts";
import { toast } from "../toast.ts";

const EVERY_MS = 15_000;

interface Capabilities {
  readonly capabilities: readonly Capability[];
}

interface Providers {
  readonly catalog: string;
  readonly providers: readonly Provider[];
}

/** The last answer, which is searched while one types. */
let known: Pick<CatalogModel, "source" | "providers" | "capabilities"> | undefined;

function asked(): Pick<CatalogModel, "view" | "canSet"> {
  const given = new URLSearchParams(location.search);
  const view = {
    provider: given.get("provider") || undefined,
    q: given.get("q") || undefined,
  };
  return { view, canSet: callsV1() };
}

async function load(context: PageContext, signal: AbortSignal): Promise<CatalogModel> {
  const [{ catalog: source, providers }, { capabilities }] = await Promise.all([
    read<Providers>("/providers", { signal }),
    read<Capabilities>("/capabilities", { signal }),
  ]);
  known = { source, providers, capabilities };
  return { ...context, ...asked(), ...known };
}

const page = keepFresh({ load, render: catalogPage, everyMs: EVERY_MS });

/** Shows what the address asks for, of what is known already. */
function show(): void {
  if (known) morph(contentElement(), catalogPage({ ...pageContext(), ...asked(), ...known }));
  else void page.refresh();
}

function searchBy(form: HTMLFormElement): void {
  const data = new FormData(form);
  const view: CatalogView = { ...asked().view, q: String(data.get("q") ?? "") };
  history.replaceState(null, "", catalogLink(view));
  show();
}

for (const type of ["input", "submit"]) {
  contentElement().addEventListener(type, (event) => {
    if (!(event.target instanceof Element)) return;
    const form = event.target.closest<HTMLFormElement>("[data-filters]");
    if (!form) return;
    event.preventDefault();
    searchBy(form);
  });
}

function pathOfProvider(): string {
  return `/providers/${encodeURIComponent(asked().view.provider ?? "")}`;
}

serveForm("[data-status]", async (data) => {
  const { name, status } = await call<Provider>("PUT", pathOfProvider(), {
    body: { status: data.get("status") },
  });
  toast(`${name} is ${status} until that is lifted`);
  await page.refresh();
});

serveButtons("lift", () => {
  call("DELETE", pathOfProvider())
    .then(() => page.refresh())
    .catch((error: unknown) => toast(reasonOf(error)));
});
