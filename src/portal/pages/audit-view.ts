/** The view of the audit page. It is exactly the address of the page, so that it can be shared. */
import {
  EXCLUDED_FIELDS,
  excluding,
  FILTERED_FIELDS,
  recordOf,
  TEXT_FILTERS,
  type ExactFilter,
  type ExcludingFilter,
} from "../../audit/event-fields.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../core/clock.ts";
import { exactly } from "../format.ts";
import { AUDIT_PATH } from "../page-link.ts";
import { momentOfWall, wallClock } from "../zone.ts";

export type AuditFilterName = "q" | "reason" | ExactFilter | ExcludingFilter;

/** The filters that come first; the others follow in the order of the table. */
const FIRST: readonly AuditFilterName[] = ["q", "decision", "consumer", "provider", "reason"];
/** The filters that leave events out. */
export const EXCLUSIONS = EXCLUDED_FIELDS.map(({ filter }) => excluding(filter));

/** All filters in the order of their importance to readers. */
export const AUDIT_FILTERS: readonly AuditFilterName[] = [
  ...new Set([...FIRST, ...FILTERED_FIELDS.map(({ filter }) => filter), ...EXCLUSIONS]),
];

/** The parameters of the page's address. */
export const AUDIT_PARAMETERS = [
  ...AUDIT_FILTERS,
  "wildcards",
  "range",
  "from",
  "to",
  "event",
  "cursor",
  "live",
] as const;
export type AuditParameter = (typeof AUDIT_PARAMETERS)[number];

/** The parameters of a view; an absent one filters nothing. */
export type AuditView = { readonly [P in AuditParameter]?: string };

/** The query for the service: the filters, and times as RFC 3339. */
export type AuditQuery = { readonly [P in AuditFilterName | "wildcards" | "from" | "to"]?: string };

/** The ranges that end now, with their lengths in milliseconds. */
export const QUICK_RANGES = [
  { range: "1h", word: "1 h", says: "the last hour", ms: HOUR_MS },
  { range: "24h", word: "24 h", says: "the last 24 hours", ms: DAY_MS },
  { range: "7d", word: "7 d", says: "the last 7 days", ms: 7 * DAY_MS },
  { range: "30d", word: "30 d", says: "the last 30 days", ms: 30 * DAY_MS },
] as const;

/** The labels of the filters. */
export const FILTER_WORDS: Readonly<Record<AuditFilterName, string>> = {
  q: "Text",
  reason: "Reason",
  ...recordOf(FILTERED_FIELDS.map(({ filter, label }) => [filter, label])),
  ...recordOf(
    EXCLUDED_FIELDS.map(({ filter, label }) => [excluding(filter), `Not ${label.toLowerCase()}`]),
  ),
};

const DECISION_WORDS = wordsOf({ allowed: "Allowed", denied: "Denied" });
const CONSUMER_WORDS = wordsOf({ human: "Person", ai: "AI", ci: "CI" });
/** The words for the values of filters and of fields that take few values. Maps, since clients choose the values. */
const VALUE_WORDS = new Map([
  ...["decision", "not_decision"].map((name) => [name, DECISION_WORDS] as const),
  ...["observed", "not_observed", "observed_decision"].map(
    (name) => [name, DECISION_WORDS] as const,
  ),
  ...["consumer", "not_consumer"].map((name) => [name, CONSUMER_WORDS] as const),
  ["ai", wordsOf({ true: "Yes", false: "No" })],
]);

function wordsOf(words: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(words));
}

/** The words for a value of a filter or of a field; the value itself if it has none. */
export function valueWords(name: string, value: string): string {
  return VALUE_WORDS.get(name)?.get(value.toLowerCase()) ?? value;
}

/** Events that are dated further ahead than this come from a clock that is wrong. */
export const AHEAD_MS = 5 * MINUTE_MS;

const LOCAL_MOMENT = /^(\d{4,}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?)?$/;

/** Reads a view from parameters; leaves out empty and unknown ones. */
export function readView(valueOf: (name: AuditParameter) => string | null | undefined): AuditView {
  const entries = AUDIT_PARAMETERS.map((name) => [name, valueOf(name) ?? ""] as const)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => [name, name === "from" || name === "to" ? inUtc(value) : value]);
  return Object.fromEntries(entries) as AuditView;
}

/** Adds the offset of UTC to the value of a form field, which has none; other values stay as they are. */
function inUtc(moment: string): string {
  const [, day, minute = "00:00", seconds = ":00"] = LOCAL_MOMENT.exec(moment) ?? [];
  return day === undefined ? moment : `${day}T${minute}${seconds}Z`;
}

/** The address of a view with changed parameters. */
export function viewHref(
  view: AuditView,
  changes: { readonly [P in AuditParameter]?: string | undefined } = {},
): string {
  return AUDIT_PATH + searchOf(view, changes);
}

/** A page repeats the filters in hundreds of links. */
const LONGEST_REPEATED = 2_000;

/**
 * Makes relative links to many views that differ from one in a few parameters, such as those of the rows
 * of a list. Links of a very long view leave out its filters; in a browser, `data-sets` keeps them.
 */
export function searchesFrom(
  view: AuditView,
  changes: Parameters<typeof viewHref>[1] = {},
): (rest: AuditView) => string {
  const base = repeatedSearch(view, changes);
  return (rest) => {
    let search = base;
    for (const [name, value] of Object.entries(rest)) search = withParameter(search, name, value);
    return search;
  };
}

/**
 * The address of a view with changed parameters, for one link of a list. Links of a very long view leave out its
 * filters; in a browser, `data-sets` keeps them.
 */
export function repeatedHref(view: AuditView, changes: Parameters<typeof viewHref>[1]): string {
  return AUDIT_PATH + repeatedSearch(view, changes);
}

function repeatedSearch(view: AuditView, changes: Parameters<typeof viewHref>[1]): string {
  const whole = searchOf(view, changes);
  return whole.length > LONGEST_REPEATED ? searchOf({}, changes) : whole;
}

function searchOf(view: AuditView, changes: Parameters<typeof viewHref>[1] = {}): string {
  // A filter that a link sets is exact.
  const names = wildcardsOf(view).filter((name) => !Object.hasOwn(changes, name));
  const next = { ...view, wildcards: names.join(), ...changes } as AuditView;
  let search = "";
  for (const name of AUDIT_PARAMETERS) {
    const value = name === "wildcards" ? wildcardsOf(next).join() : next[name];
    if (value !== undefined && value !== "") search = withParameter(search, name, value);
  }
  return search;
}

function withParameter(search: string, name: string, value: string): string {
  // A colon is allowed in a query, and times contain many of them.
  const encoded = encodeURIComponent(value).replaceAll("%3A", ":");
  return `${search}${search === "" ? "?" : "&"}${name}=${encoded}`;
}

/** Writes a time in milliseconds in its shortest form: `2026-11-20`, `2026-11-20T20:30`. */
export function shortMoment(ms: number): string {
  const text = new Date(ms).toISOString();
  if (text.length > "2026-11-20T20:30:00.000Z".length) return text; // years that a form field does not accept
  if (text.endsWith("T00:00:00.000Z")) return text.slice(0, -14);
  return text.endsWith(":00.000Z") ? text.slice(0, -8) : text;
}

/** The changes that lead to another list: it begins at its newest event, and no event is open. */
export const ANEW = { cursor: undefined, event: undefined } as const;

/**
 * The names of the parameters that a link sets, for its `data-sets`. They lead to the wanted view also while the page
 * still shows the links of the view before it.
 */
export function setsAnew(...names: readonly AuditParameter[]): string {
  return [...names, ...Object.keys(ANEW)].join(" ");
}

/** The address that a link leads to from the view that the reader wants by now, by its `data-sets`. */
export function joinedHref(link: AuditView, sets: string, wanted: AuditView): string {
  const set = AUDIT_PARAMETERS.filter((name) => sets.split(" ").includes(name));
  return viewHref(wanted, Object.fromEntries(set.map((name) => [name, link[name]])));
}

/** The changes that show all time. */
export const ALL_TIME = { range: undefined, from: undefined, to: undefined, ...ANEW } as const;

/** The address of a view's list: two views with the same one show the same list. */
export function listOf({ event: _, live: __, ...rest }: AuditView): string {
  return viewHref(rest);
}

/** The filters that a view sets, in their order. */
export function filtersOf(view: AuditView): readonly (readonly [AuditFilterName, string])[] {
  return AUDIT_FILTERS.flatMap((name) => {
    const value = view[name];
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** The filters of a view in whose values `*` stands for any text. */
export function wildcardsOf(view: AuditView): readonly AuditFilterName[] {
  const named = view.wildcards?.split(",") ?? [];
  if (named.length === 0) return [];
  return AUDIT_FILTERS.filter((name) => named.includes(name) && view[name]?.includes("*"));
}

const WITH_ASTERISKS: ReadonlySet<string> = new Set(
  TEXT_FILTERS.flatMap(({ filter }) => [filter, excluding(filter)]),
);

/** Whether an asterisk in a filter can stand for any text. */
export function takesWildcards(filter: string): boolean {
  return WITH_ASTERISKS.has(filter);
}

/** The changes that make a filter find a part of a name; `undefined` for one that does, or cannot. */
export function partOf(view: AuditView, name: AuditFilterName): AuditView | undefined {
  const value = view[name];
  if (value === undefined || value.includes("*") || !takesWildcards(name)) return undefined;
  if (name.startsWith("not_")) return undefined; // it would leave out more
  return { [name]: `*${value}*`, wildcards: [...wildcardsOf(view), name].join() };
}

/**
 * The names for `wildcards` after a reader has typed values of some filters: an asterisk stands for any text there.
 *
 * @param quoted the filters whose values are meant literally
 */
export function typedWildcards(
  view: AuditView,
  typed: Pick<AuditView, AuditFilterName>,
  quoted: readonly AuditFilterName[] = [],
): string {
  const kept = wildcardsOf(view).filter((name) => typed[name] === undefined);
  const wild = AUDIT_FILTERS.filter(
    (name) => typed[name]?.includes("*") && takesWildcards(name) && !quoted.includes(name),
  );
  return [...kept, ...wild].join();
}

/** The quick range of a view; `from` and `to` take precedence. */
export function quickRangeOf(view: AuditView): (typeof QUICK_RANGES)[number] | undefined {
  if (view.from !== undefined || view.to !== undefined) return undefined;
  return QUICK_RANGES.find(({ range }) => range === view.range);
}

/** The day before today in the shown zone: its first moment and the one after it, in milliseconds. */
export function yesterdayOf(now: number): { readonly from: number; readonly to: number } {
  const today = Math.floor(wallClock(now) / DAY_MS) * DAY_MS;
  return { from: momentOfWall(today - DAY_MS), to: momentOfWall(today) };
}

/**
 * The query of a view.
 *
 * @param now the service's time in milliseconds, the end of a quick range
 */
export function queryOf(view: AuditView, now: number): AuditQuery {
  const range = quickRangeOf(view);
  const from = range ? new Date(now - range.ms).toISOString() : view.from;
  const wildcards = wildcardsOf(view).join() || undefined;
  const query = { ...Object.fromEntries(filtersOf(view)), wildcards, from, to: view.to };
  return Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== undefined),
  ) as AuditQuery;
}

/** The time range of a view in words. */
export function rangeWords(view: AuditView): string {
  const { from, to } = view;
  const quick = quickRangeOf(view);
  if (quick) return `in ${quick.says}`;
  if (from === undefined && to === undefined) return "of all time";
  if (to === undefined) return `since ${exactly(from ?? "")}`;
  return from === undefined ? `before ${exactly(to)}` : `from ${exactly(from)} to ${exactly(to)}`;
}
