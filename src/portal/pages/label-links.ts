/** The labels of runtimes as links to the fleet page. */
import { labelsIn, labelTexts, type Labels } from "../../core/labels.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";
import { FLEET_PATH, pageLink } from "../page-link.ts";

/** Makes the address to which a label leads. */
export type LabelLinker = (label: string) => string;

/** A page has thousands of labels, and each repeats the address. */
const LONGEST_ADDRESS = 500;

/** The parameters of the fleet page. */
type Filters = Parameters<typeof pageLink>[1] & { readonly label?: readonly string[] | undefined };

/**
 * Makes links that add a label to the filters of a page. If those are long, a link leads to all runtimes that have the
 * label.
 */
export function labelLinker(filters: Filters = {}): LabelLinker {
  const label = [...new Set(filters.label?.flatMap(labelsIn))];
  const own = pageLink(FLEET_PATH, { ...filters, label });
  const isLong = own.length > LONGEST_ADDRESS;
  const chosen = new Set(isLong ? [] : label);
  const base = isLong ? FLEET_PATH : own;
  const before = base + (base.includes("?") ? "&" : "?");
  return (one) => (chosen.has(one) ? own : `${before}label=${encodeURIComponent(one)}`);
}

/**
 * The labels of a runtime, each a link.
 *
 * @param most the characters of all labels together; of further labels only the number is shown
 */
export function labelLinks(
  labels: Labels | undefined,
  linkTo: LabelLinker,
  most = Number.POSITIVE_INFINITY,
): Html | undefined {
  const all = labelTexts(labels);
  if (all.length === 0) return undefined;
  let length = 0;
  const shown = all.filter((label) => (length += label.length) <= most);
  const rest = all.length - shown.length;
  const links = shown.map(
    (label) =>
      html`<a class="plain" href="${linkTo(label)}"><span class="badge none">${label}</span></a> `,
  );
  const more = rest > 0 ? html`<span class="faint">and ${count(rest)} more</span>` : undefined;
  return html`<span class="under">${links}${more}</span>`;
}
