/**
 * The place of the facets on the audit page. They are read after the list, and only where the reader can see them,
 * by a module that is loaded then.
 */
import type { AuditView } from "../pages/audit-view.ts";
import { pageSource, read } from "./api.ts";
import type * as FacetModule from "./entries/audit-facet-list.ts";
import { parsed } from "./markup.ts";
import { browserStorage } from "./storage.ts";

const WIDE = "(min-width: 86rem)";
const KEY = "signalbox.facets";

/** Reads the facets of a view and shows them. */
export async function showFacets(view: AuditView, now: number, isAnew = true): Promise<void> {
  const panel = document.getElementById("audit-facets");
  if (!(panel instanceof HTMLDetailsElement)) return;
  if (panel.dataset["begun"] === undefined) {
    panel.dataset["begun"] = "";
    panel.open = (browserStorage.get(KEY) ?? (matchMedia(WIDE).matches ? "open" : "")) === "open";
  }
  if (!panel.open && !document.querySelector("#more-filters[open]")) return;
  const address = new URL("./audit-facet-list.js", import.meta.url).href;
  const { showList } = (await import(address)) as typeof FacetModule;
  await showList(panel, { view, now, isAnew }, { read, pageSource, parsed });
}

/** Reads the facets when their place or the form is opened, and remembers whether the place is open. */
export function serveFacets(content: HTMLElement, shown: () => void): void {
  content.addEventListener("toggle", shown, true);
  content.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element) || !target.matches("#audit-facets > summary")) return;
    browserStorage.set(KEY, document.querySelector("#audit-facets[open]") ? "" : "open");
  });
}
