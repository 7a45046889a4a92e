/**
 * The facets of the audit page, and the suggestions of its form that come from them. They are read after the
 * list, and only where the reader can see them.
 */
import type { FacetsAnswer } from "../../audit/schema.ts";
import { auditFacets, facetOptions } from "../pages/audit-facets.ts";
import { listOf, queryOf, type AuditView } from "../pages/audit-view.ts";
import { read } from "./api.ts";
import { keep, kept } from "./kept.ts";
import { parsed } from "./markup.ts";

const WIDE = "(min-width: 86rem)";
const KEY = "signalbox.facets";
const LIMIT = 20;

let shownList: string | undefined;
let underWay: AbortController | undefined;

/** Reads the facets of a view and shows them. */
export async function showFacets(view: AuditView, now: number, isAnew = true): Promise<void> {
  const panel = document.getElementById("audit-facets");
  if (!(panel instanceof HTMLDetailsElement)) return;
  if (panel.dataset["begun"] === undefined) {
    panel.dataset["begun"] = "";
    panel.open = (kept(KEY) ?? (matchMedia(WIDE).matches ? "open" : "")) === "open";
  }
  if (!panel.open && !document.querySelector("#more-filters[open]")) return;
  const list = listOf(view);
  if (!isAnew && list === shownList) return;
  shownList = list;
  underWay?.abort();
  const own = new AbortController();
  underWay = own;
  panel.setAttribute("aria-busy", "true");
  try {
    const query = { ...queryOf(view, now), limit: LIMIT };
    const found = await read<FacetsAnswer>("/audit/facets", { query, signal: own.signal });
    if (own.signal.aborted) return;
    panel.lastElementChild?.replaceWith(parsed(auditFacets(view, found)));
    for (const suggestions of document.querySelectorAll("datalist[data-facet]")) {
      const field = suggestions.getAttribute("data-facet") ?? "";
      suggestions.replaceChildren(parsed(facetOptions(found, field)));
    }
  } catch {
    if (own.signal.aborted) return;
    // The list matters more: the page says what failed there. Counts of another view must not stay.
    panel.lastElementChild?.replaceChildren();
    shownList = undefined;
  }
  panel.removeAttribute("aria-busy");
}

/** Reads the facets when their place or the form is opened, and remembers whether the place is open. */
export function serveFacets(content: HTMLElement, shown: () => void): void {
  content.addEventListener("toggle", shown, true);
  content.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element) || !target.matches("#audit-facets > summary")) return;
    keep(KEY, document.querySelector("#audit-facets[open]") ? "" : "open");
  });
}
