import type { FacetsAnswer } from "../../audit/schema.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";
import { ANEW, FILTER_WORDS, viewHref, type AuditView } from "./audit-view.ts";

/** The values of each field that are shown; more of them are suggested in the fields of the form. */
const SHOWN = 8;
/** The fields that are shown; those after them are only suggested. */
const SHOWN_FIELDS = 7;

const VALUE_WORDS: Readonly<Record<string, string>> = {
  ALLOWED: "Allowed",
  DENIED: "Denied",
  human: "People",
  ai: "AI",
  ci: "CI",
};

/** The place of the facets, which the browser fills after the list. */
export const FACETS_PLACE = html`<details
  class="facets card needs-modules"
  id="audit-facets"
  data-keep
>
  <summary>Facets</summary>
  <div></div>
</details>`;

/** Renders the most frequent values, each with a link that adds it as a filter, or drops it. */
export function auditFacets(view: AuditView, { facets, counted, complete }: FacetsAnswer): Html {
  const shown = facets.slice(0, SHOWN_FIELDS).filter(({ values }) => values.length > 0);
  return html`<div>
    ${complete ? undefined : html`<p class="faint small">Of the newest ${count(counted)} events</p>`}
    ${shown.length === 0 ? html`<p class="faint small">No event has a value</p>` : undefined}
    ${shown.map(
      ({ field, values }) =>
        html`<section aria-labelledby="facet-${field}">
          <h3 id="facet-${field}">${FILTER_WORDS[field]}</h3>
          <ul>
            ${values.slice(0, SHOWN).map(({ value, events }) => {
              const isSet = view[field]?.toLowerCase() === value.toLowerCase();
              const word =
                field === "decision" || field === "consumer" ? VALUE_WORDS[value] : value;
              return html`<li>
                <a
                  href="${viewHref(view, { [field]: isSet ? undefined : value, ...ANEW })}"
                  title="${word}"
                  ${isSet ? html`aria-current="true"` : undefined}
                  ><span>${word}</span> <b>${count(events)}</b></a
                >
              </li>`;
            })}
          </ul>
        </section>`,
    )}
  </div>`;
}

/** The suggestions for the field of a filter. */
export function facetOptions({ facets }: FacetsAnswer, field: string): Html {
  const values = facets.find((facet) => facet.field === field)?.values ?? [];
  return html`${values.map(({ value, events }) => html`<option value="${value}">${count(events)}</option>`)}`;
}
