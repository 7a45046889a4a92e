import type { FacetName } from "../../audit/facets.ts";
import type { FacetsAnswer } from "../../audit/schema.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";
import {
  ANEW,
  FILTER_WORDS,
  setsAnew,
  valueWords,
  repeatedHref,
  type AuditView,
} from "./audit-view.ts";
import { countRules, type NamedRule } from "./rule-of-reason.ts";

/** The values of each field that are shown; more of them are suggested in the fields of the form. */
const SHOWN = 8;
/** The fields that are shown; those after them are only suggested. */
const SHOWN_FIELDS = 7;

/** The most versions whose rules are named. */
const MOST_VERSIONS = 8;

/** The versions that decided most of the counted events, most frequent first. */
export function listedVersions({ facets }: FacetsAnswer): readonly string[] {
  const values = facets.find(({ field }) => field === "policy")?.values ?? [];
  return values.slice(0, MOST_VERSIONS).map(({ value }) => value);
}

/** A value of a facet, and the filter that it sets. */
interface Choice {
  readonly word: string;
  readonly events: number;
  readonly value: string;
}

/**
 * Renders the most frequent values, each with a link that adds it as a filter, or drops it.
 *
 * @param rules the rules of some versions, which the reasons of events name
 */
export function auditFacets(
  view: AuditView,
  { facets, counted, complete }: FacetsAnswer,
  rules: readonly (readonly NamedRule[])[],
): Html {
  const sections = facets.slice(0, SHOWN_FIELDS).flatMap(({ field, values }) => {
    const choices = values.map((one) => ({ ...one, word: valueWords(field, one.value) }));
    const shown = [section(view, field, field, FILTER_WORDS[field], choices)];
    if (field !== "reason") return shown;
    const named = countRules(values, rules);
    const byRule = named.map(({ id, reason, events }) => ({ word: id, value: reason, events }));
    return [section(view, "rule", "reason", "Rule", byRule), ...shown];
  });
  const isEmpty = sections.every((one) => one === undefined);
  return html`<div>
    ${complete ? undefined : html`<p class="faint small">Of the newest ${count(counted)} events</p>`}
    ${isEmpty ? html`<p class="faint small">No values to count</p>` : undefined} ${sections}
  </div>`;
}

function section(
  view: AuditView,
  name: string,
  filter: FacetName,
  title: string,
  choices: readonly Choice[],
): Html | undefined {
  if (choices.length === 0) return undefined;
  return html`<section aria-labelledby="facet-${name}">
    <h2 id="facet-${name}">${title}</h2>
    <ul data-sets="${setsAnew(filter)}">
      ${choices.slice(0, SHOWN).map(({ word, value, events }) => {
        const isSet = view[filter]?.toLowerCase() === value.toLowerCase();
        return html`<li>
          <a
            href="${repeatedHref(view, { [filter]: isSet ? undefined : value, ...ANEW })}"
            title="${word}"
            ${isSet ? html`aria-current="true"` : undefined}
            ><span>${word}</span> <b>${count(events)}</b></a
          >
        </li>`;
      })}
    </ul>
  </section>`;
}

/** The suggestions for the field of a filter. */
export function facetOptions({ facets }: FacetsAnswer, field: string): Html {
  const values = facets.find((facet) => facet.field === field)?.values ?? [];
  return html`${values.map(({ value, events }) => html`<option value="${value}">${count(events)}</option>`)}`;
}
