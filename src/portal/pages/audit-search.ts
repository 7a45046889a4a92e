/**
 * The language of the audit page's search box: `executor:ada -provider:git "rm -rf"`. Fields become filters
 * of the view; the other words are the text, which the filter `q` finds literally. Quotes keep words together
 * and keep a colon from naming a field.
 */
import {
  AUDIT_FILTERS,
  readView,
  takesWildcards,
  typedWildcards,
  type AuditFilterName,
  type AuditParameter,
  type AuditView,
} from "./audit-view.ts";

/** A text of the search box, read. */
export interface Search {
  /** The filters that it names; `q` is the rest of the text. */
  readonly filters: Pick<AuditView, AuditFilterName>;
  readonly hasFields: boolean;
  /** The filters whose values are in quotes, where an asterisk is an asterisk. */
  readonly quoted?: readonly AuditFilterName[];
  /** Why the text cannot be read. */
  readonly problem?: string;
}

/** The fields that the box knows. */
export const SEARCH_FIELDS = AUDIT_FILTERS.filter((name) => !/^(?:q$|not_)/.test(name));

const QUOTED = String.raw`"(?:\\.|[^"\\])*"`;
// Not `C:\` and not `https://`.
const TERM = new RegExp(`(-?)([a-z_]{2,}):(?!//)(${QUOTED}|\\S*)|${QUOTED}|\\S+`, "gi");
const SHORT_NAMES: Readonly<Record<string, string>> = { trace: "trace_id" };

/** Reads a text of the search box. */
export function readSearch(text: string): Search {
  const filters: { [name in AuditFilterName]?: string } = {};
  const quoted: AuditFilterName[] = [];
  const words: string[] = [];
  let hasQuotes = false;
  for (const [term, minus, field, value = ""] of text.matchAll(TERM)) {
    if (field === undefined) {
      hasQuotes ||= term.startsWith('"');
      words.push(unquoted(term));
      continue;
    }
    const given = field.toLowerCase();
    const own = SHORT_NAMES[given] ?? given;
    const name = AUDIT_FILTERS.find((one) => one === (minus ? `not_${own}` : own));
    const wanted = canonical(own, unquoted(value));
    const problem =
      problemOf(given, own, name, wanted, filters) ??
      (value.includes("*") && !value.startsWith('"') && !takesWildcards(own)
        ? `“${given}” takes no asterisk: leave it out, or put the value in quotes`
        : undefined);
    if (problem !== undefined) return { filters: {}, hasFields: true, problem };
    if (name === undefined) continue;
    filters[name] = wanted;
    if (value.startsWith('"')) quoted.push(name);
  }
  const hasFields = Object.keys(filters).length > 0;
  // Without fields and quotes the text is searched as it stands, also with its spaces.
  const q = hasFields || hasQuotes ? words.join(" ") : text.trim();
  return { filters: { ...filters, ...(q !== "" && { q }) }, hasFields, quoted };
}

function problemOf(
  given: string,
  own: string,
  name: AuditFilterName | undefined,
  value: string,
  filters: Search["filters"],
): string | undefined {
  if (!SEARCH_FIELDS.some((field) => field === own)) {
    const known = SEARCH_FIELDS.join(", ");
    return `There is no field “${given}”. Fields are ${known}. Put a text with a colon in quotes.`;
  }
  if (name === undefined) return `“${given}” cannot be left out: remove the minus`;
  if (value === "") return `Write a value after “${given}:”`;
  return filters[name] === undefined ? undefined : `“${given}” can be given once`;
}

/** Decisions and consumers are matched in any letter case; the choices beside the box have one. */
function canonical(field: string, value: string): string {
  if (field === "decision") return value.toUpperCase();
  return field === "consumer" ? value.toLowerCase() : value;
}

function unquoted(term: string): string {
  return /^".*"$/s.test(term) ? term.slice(1, -1).replace(/\\(.)/gs, "$1") : term;
}

/** Reads a view from an address, in which a form without modules has the text of the box as `find`. */
export function readAddress(
  valueOf: (name: AuditParameter | "find") => string | null | undefined,
): { readonly view: AuditView; readonly problem?: string } {
  const find = valueOf("find") ?? "";
  const given = readView(valueOf);
  const { wildcards: _, ...view } = given;
  const { filters, quoted, problem } = readSearch(find);
  const wildcards = typedWildcards(given, filters, quoted) || undefined;
  const inPart = wildcards !== undefined && { wildcards };
  return problem === undefined
    ? { view: { ...view, ...filters, ...inPart } }
    : { view: { ...view, q: find, ...inPart }, problem };
}

/** A text as the box shows it: in quotes if it would be read in another way. */
export function searchText(q = ""): string {
  const { filters, hasFields } = readSearch(q);
  return !hasFields && (filters.q ?? "") === q ? q : `"${q.replace(/["\\]/g, "\\$&")}"`;
}
