/**
 * The list of the facets, and the suggestions of the form that come from them. It is loaded when the facets are
 * shown first, so that the audit page stays light. The page's own module passes in the parts that only one module of
 * a page may have.
 */
import type { FacetsAnswer } from "../../../audit/schema.ts";
import type { Html } from "../../html.ts";
import { listOf, queryOf, type AuditView } from "../../pages/audit-view.ts";
import { auditFacets, facetOptions, listedVersions } from "../../pages/audit-facets.ts";
import type { NamedRule } from "../../pages/rule-of-reason.ts";
import type { PageSource } from "../../pages/source.ts";
import type { CallOptions } from "../api.ts";

/** The parts of the page's module that the list uses. */
export interface FacetTools {
  readonly read: <T>(path: string, options?: CallOptions) => Promise<T>;
  readonly pageSource: () => Pick<PageSource, "versions" | "rules">;
  readonly parsed: (markup: Html) => DocumentFragment;
}

/** A view, and the service's time when its list was read. */
export interface FacetsOf {
  readonly view: AuditView;
  readonly now: number;
  /** Whether the list was read again: then its facets are, too, unless the reader is about to choose one of them. */
  readonly isAnew: boolean;
}

const LIMIT = 20;

let shownList: string | undefined;
let underWay: AbortController | undefined;

/** Reads the facets of a view and shows them in their place. */
export async function showList(
  panel: HTMLElement,
  { view, now, isAnew }: FacetsOf,
  { read, pageSource, parsed }: FacetTools,
): Promise<void> {
  const list = listOf(view);
  if (list === shownList && (!isAnew || panel.matches(":hover, :focus-within"))) return;
  shownList = list;
  underWay?.abort();
  const own = new AbortController();
  underWay = own;
  panel.setAttribute("aria-busy", "true");
  try {
    const query = { ...queryOf(view, now), limit: LIMIT };
    const found = await read<FacetsAnswer>("/audit/facets", { query, signal: own.signal });
    const known = await rulesIn(found, pageSource());
    if (own.signal.aborted) return;
    panel.lastElementChild?.replaceWith(parsed(auditFacets(view, found, known)));
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

let names: Promise<ReadonlySet<string>> | undefined;
const rules = new Map<string, Promise<readonly NamedRule[]>>();

/** The rules of the versions that decided most of the counted events. Each version is read once, unless that fails. */
async function rulesIn(
  found: FacetsAnswer,
  source: Pick<PageSource, "versions" | "rules">,
): Promise<readonly (readonly NamedRule[])[]> {
  names ??= namesOf(source).catch(() => {
    names = undefined;
    return new Set();
  });
  const known = await names;
  const versions = listedVersions(found).filter((version) => known.has(version));
  return Promise.all(
    versions.map((version) => {
      const failed = (): readonly NamedRule[] => {
        rules.delete(version);
        return []; // those reasons are counted that contain an id
      };
      const read = rules.get(version) ?? rulesOf(version, source).catch(failed);
      rules.set(version, read);
      return read;
    }),
  );
}

async function namesOf(source: Pick<PageSource, "versions">): Promise<ReadonlySet<string>> {
  return new Set((await source.versions()).map(({ version }) => version));
}

async function rulesOf(
  version: string,
  source: Pick<PageSource, "rules">,
): Promise<readonly NamedRule[]> {
  return (await source.rules(version)).rules;
}
