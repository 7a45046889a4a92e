import { consumers, decisions } from "../../core/decision.ts";
import { FILTERED_FIELDS, TEXT_FILTERS } from "../../audit/event-fields.ts";
import { shorten } from "../format.ts";
import { html, type Html } from "../html.ts";
import { SEARCH_FIELDS, searchText } from "./audit-search.ts";
import { wallText, zoneWords } from "../zone.ts";
import { hiddenField, option } from "./fields.ts";
import {
  ALL_TIME,
  ANEW,
  EXCLUSIONS,
  FILTER_WORDS,
  filtersOf,
  QUICK_RANGES,
  quickRangeOf,
  rangeWords,
  setsAnew,
  shortMoment,
  valueWords,
  repeatedHref,
  viewHref,
  wildcardsOf,
  yesterdayOf,
  type AuditView,
} from "./audit-view.ts";

const CHIP_LENGTH = 60;
const MOST_SUGGESTED = 200;
const LONGEST_SUGGESTED = 64;

/** The filters that have a field for a text. */
const TEXTS = [
  { filter: "reason", label: "Reason contains", example: "blocked" },
  ...FILTERED_FIELDS.filter(({ type }) => type === "text"),
] as const;

const DECISIONS = decisions.map((one) => [one, valueWords("decision", one)] as const);
const CONSUMERS = consumers.map((one) => [one, valueWords("consumer", one)] as const);

/** The form of filters. It works without modules; with them no button is needed. */
export function auditFilters(view: AuditView, providers?: readonly string[]): Html {
  return html`<form
    class="audit-filters"
    id="audit-filters"
    role="search"
    action="/portal/audit"
    autocomplete="off"
    spellcheck="false"
  >
    <div class="first">
      <div class="search">
        <label class="visually-hidden" for="audit-q">Search texts and fields</label>
        <input
          id="audit-q"
          name="find"
          type="search"
          value="${searchText(view.q)}"
          placeholder="Search, or executor:ada -provider:git"
          aria-describedby="search-help"
          data-search
        />
      </div>
      ${choice("decision", view, "Any decision", DECISIONS)}
      ${choice("consumer", view, "Any consumer", CONSUMERS)}
      <button type="submit" class="without-modules">Search</button>
    </div>
    ${(["range", ...EXCLUSIONS] as const).map((name) => hiddenField(name, view[name]))}
    ${hiddenField("wildcards", [...TEXT_FILTERS.map(({ filter }) => filter), ...wildcardsOf(view)].join())}
    <details id="more-filters">
      <summary>More filters</summary>
      <p class="faint small" id="search-help">
        The search finds a text in commands, people, providers, capabilities and resources. It takes
        fields, too, and <code>-</code> before a field to leave events out:
        <code>executor:ada -provider:git reason:blocked "rm -rf"</code>. Fields:
        ${SEARCH_FIELDS.join(", ")}. In a value, <code>*</code> stands for any text:
        <code>runtime:*laptop*</code>.
      </p>
      <div class="fields">
        ${TEXTS.map(
          ({ filter: name, label, example }) =>
            html`<div>
              <label for="audit-${name}">${label}</label>
              <input
                id="audit-${name}"
                name="${name}"
                value="${view[name]}"
                placeholder="${example}"
                list="${name === "provider" ? "audit-providers" : `values-${name}`}"
              />
              ${name === "provider" ? undefined : html`<datalist id="values-${name}" data-facet="${name}" data-keep></datalist>`}
            </div>`,
        )}
        ${choice("observed", view, "Any decision", DECISIONS, true)} ${suggestions(providers)}
        ${moment("from", "From", view)} ${moment("to", "Up to", view)}
        <div class="apply"><button type="submit">Apply</button></div>
      </div>
    </details>
  </form>`;
}

/** The suggested providers. Limited, since runtimes may name any number of providers of any length. */
function suggestions(providers: readonly string[] | undefined): Html {
  if (!providers) return html`<datalist id="audit-providers" data-keep></datalist>`;
  const names = providers.filter(({ length }) => length <= LONGEST_SUGGESTED);
  return html`<datalist id="audit-providers">
    ${names.slice(0, MOST_SUGGESTED).map((name) => html`<option value="${name}"></option>`)}
  </datalist>`;
}

/** The links to the quick ranges, to the day before, and to all time. */
export function auditRanges(view: AuditView, now: number): Html {
  const quick = quickRangeOf(view);
  const { from, to } = yesterdayOf(now);
  const isYesterday = Date.parse(view.from ?? "") === from && Date.parse(view.to ?? "") === to;
  const day = { ...ALL_TIME, from: shortMoment(from), to: shortMoment(to) };
  const isAll = !quick && view.from === undefined && view.to === undefined;
  const link = (word: string, changes: Parameters<typeof viewHref>[1], isCurrent: boolean): Html =>
    html`<a
      href="${repeatedHref(view, changes)}"
      ${isCurrent ? html`aria-current="true"` : undefined}
      >${word}</a
    >`;
  return html`<nav class="ranges" aria-label="Time" data-sets="${setsAnew("range", "from", "to")}">
    ${QUICK_RANGES.map(({ range, word }) => [
      link(word, { ...ALL_TIME, range }, quick?.range === range),
      range === "24h" ? link("Yesterday", day, isYesterday) : undefined,
    ])}
    ${link("All", ALL_TIME, isAll)}
    ${quick || isAll || isYesterday ? undefined : link(rangeWords(view), { ...ANEW, from: view.from, to: view.to }, true)}
  </nav>`;
}

/** The filters that are set, each with a link that drops it. */
export function auditChips(view: AuditView): Html | undefined {
  const filters = filtersOf(view);
  if (filters.length === 0) return undefined;
  const inPart = wildcardsOf(view);
  return html`<ul class="chips" aria-label="Filters">
    ${filters.map(([name, value]) => {
      const shown = shorten(valueWords(name, value), CHIP_LENGTH);
      const word = inPart.includes(name) ? `${FILTER_WORDS[name]} like` : FILTER_WORDS[name];
      return html`<li>
        <a
          href="${repeatedHref(view, { [name]: undefined, ...ANEW })}"
          data-sets="${setsAnew(name)}"
          aria-label="Drop ${word.toLowerCase()} ${shown}"
          ><span class="faint">${word}</span> <b>${shown}</b><span aria-hidden="true">×</span></a
        >
      </li>`;
    })}
    ${
      filters.length > 1
        ? html`<li>
            <a
              class="all"
              href="${viewHref({}, { range: view.range, from: view.from, to: view.to, live: view.live })}"
              data-sets="${setsAnew(...filters.map(([name]) => name))}"
              >Drop all</a
            >
          </li>`
        : undefined
    }
  </ul>`;
}

function choice(
  name: "decision" | "consumer" | "observed",
  view: AuditView,
  any: string,
  options: readonly (readonly [string, string])[],
  isLabelShown = false,
): Html {
  const current = name === "consumer" ? view[name]?.toLowerCase() : view[name]?.toUpperCase();
  // An unknown value matches no event, so the field must show it.
  const known = options.some(([value]) => value === current);
  const all = known || current === undefined ? options : [...options, [current, current] as const];
  return html`<div>
    <label ${isLabelShown ? undefined : html`class="visually-hidden"`} for="audit-${name}"
      >${FILTER_WORDS[name]}</label
    >
    <select id="audit-${name}" name="${name}">
      <option value="">${any}</option>
      ${all.map(([value, word]) => option(value, word, current))}
    </select>
  </div>`;
}

function moment(name: "from" | "to", word: string, view: AuditView): Html {
  const ms = Date.parse(view[name] ?? "");
  // In the format of the field, without an offset. The service refuses an invalid time.
  const wall = Number.isNaN(ms) ? undefined : wallText(ms).replace(" ", "T");
  // The module makes it a picker when the form opens: the parts of two pickers take as long to parse as the rest of the page.
  return html`<div>
    <label for="audit-${name}">${word} (${zoneWords()})</label>
    <input
      id="audit-${name}"
      name="${name}"
      value="${wall}"
      placeholder="2026-11-20 13:00"
      data-moment
    />
  </div>`;
}
