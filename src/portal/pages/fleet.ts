import { capitalize } from "../../core/capitalize.ts";
import { isDrifted } from "../../fleet/drift.ts";
import { FLEET_SORTS, type FleetSort } from "../../fleet/order.ts";
import {
  STATUSES,
  type FleetSummary,
  type RuntimeInstance,
  type RuntimeStatus,
} from "../../fleet/schema.ts";
import { labelsIn, MOST_LABELS } from "../../core/labels.ts";
import { string } from "../../core/schema-parts.ts";
import type { Work } from "../../core/scheduling/work.ts";
import type { QueryOf, QueryParameters } from "../../http/query.ts";
import { count, counted, shorten } from "../format.ts";
import { html, type Html } from "../html.ts";
import { choice, hiddenField, option, searchField, textField } from "./fields.ts";
import { isAllowed } from "../withheld.ts";
import { FLEET_PATH, pageLink, policyLink, runtimeLink } from "../page-link.ts";
import {
  ACTIONS,
  badge,
  callsV1,
  emptyCard,
  emptyState,
  table,
  timeAgo,
  type PageContext,
  type Tone,
} from "./parts.ts";
import { heartbeatRequest } from "./first-steps.ts";
import { labelLinker, type LabelLinker, labelLinks } from "./label-links.ts";
import type { DataPage } from "./source.ts";

/** The number of rows that each "Show more" adds. */
export const FLEET_ROWS = 200;

/** The most rows on a page: with long texts it has some MB. */
export const MOST_FLEET_ROWS = 600;

const parameters = {
  q: string("Text that the name, host, system, version or policy version contains."),
  status: string("The status of the runtimes."),
  policy: string("The policy version of the runtimes."),
  label: {
    type: "array",
    items: { type: "string" },
    maxItems: MOST_LABELS,
    description: "Labels of the runtimes, as `key:value`, repeated or with commas between them.",
  },
  drifted: string("`true` shows the runtimes with another version than the one assigned to them."),
  sort: string(
    "The column that sorts the runtimes: `name`, `status`, `seen`, `policy`, `version` or `system`, or `drifted`, which puts drifted runtimes first. A `-` before it reverses the order.",
  ),
  limit: {
    type: "integer",
    minimum: 1,
    maximum: MOST_FLEET_ROWS,
    default: FLEET_ROWS,
    forgiving: true,
    description: "The maximum number of rows.",
  },
} as const satisfies QueryParameters;
type FleetFilters = Partial<Omit<QueryOf<typeof parameters>, "limit">>;

/** The model of the fleet page. */
export interface FleetModel extends PageContext {
  readonly query: FleetFilters;
  /** The most rows that are shown. */
  readonly limit: number;
  readonly summary: FleetSummary;
  /** The runtimes that are shown, most recently seen first unless the query sorts them. */
  readonly runtimes: readonly RuntimeInstance[];
  /** The number of matching runtimes, shown or not. */
  readonly matching: number;
}

/** The page of the runtimes. */
export const fleet: DataPage<FleetModel, typeof parameters> = {
  path: FLEET_PATH,
  title: "Fleet",
  module: "fleet",
  parameters,
  async read(source, context, { limit, ...query }) {
    const { q, status, policy, label, drifted, sort } = query;
    const filter = {
      q,
      status: STATUSES.find((one) => one === status), // other values filter nothing
      policy_version: policy,
      label: label?.flatMap(labelsIn).slice(0, MOST_LABELS),
      drifted: drifted === "true" ? drifted : undefined,
    } as const;
    const order = FLEET_SORTS.find((one) => one === sort); // another text sorts nothing
    const [summary, { runtimes, total: matching }] = await Promise.all([
      source.fleetSummary(),
      source.runtimes(filter, limit, order),
    ]);
    return { ...context, query, limit, summary, runtimes, matching };
  },
  render: renderFleet,
};

/** The shown length of the texts that a runtime reports. */
const LONGEST_SHOWN = 100;
/** The shown length of a text in a narrow column. */
const LONGEST_NARROW = 40;
const LONGEST_VERSION = 256;
/** The shown length of all labels of a runtime; its own page has the others. */
const LONGEST_LABELS = 500;

/** The tones of the badges of statuses. */
export const STATUS_TONES: Readonly<Record<RuntimeStatus, Tone>> = {
  online: "ok",
  idle: "idle",
  offline: "none",
};

/** Renders the runtimes with their status and policy version. */
export function* renderFleet(model: FleetModel): Work<Html> {
  const { summary, runtimes, matching } = model;
  if (summary.total === 0) {
    return html`<div class="page-head"><h1>Fleet</h1></div>
      ${noRuntimes(model)}`;
  }
  const form = yield* filters(model);
  const advice = html`Another filter may show some: <a href="/portal/fleet">show all of them</a>.`;
  const rows =
    runtimes.length === 0 ? emptyState("No runtime matches", advice) : yield* list(model);
  return html`<div class="page-head">
      <h1>Fleet</h1>
      <span class="faint" role="status">${numberInWords(matching, summary.total)}</span>
    </div>
    ${form}
    <section class="card" aria-label="Runtimes">${rows}</section>`;
}

function numberInWords(matching: number, all: number): string {
  const runtimes = counted(all, "runtime");
  return matching === all ? runtimes : `${count(matching)} of ${runtimes}`;
}

function noRuntimes(model: FleetModel): Html {
  const request = heartbeatRequest(model, model.summary.policy_version);
  return emptyCard("No runtimes yet", "A runtime appears with its first heartbeat:", request);
}

function* filters({ query, summary }: FleetModel): Work<Html> {
  const { drifted, policy_version: active, policy_versions: reported } = summary;
  const versions = new Map(reported.map(({ version, runtimes }) => [version, runtimes]));
  if (query.policy && !versions.has(query.policy)) versions.set(query.policy, 0);
  const statuses = STATUSES.map((status) =>
    option(status, `${capitalize(status)} (${count(summary[status])})`, query.status),
  );
  const policies: Html[] = [];
  for (const version of [...versions.keys()].sort()) {
    // Runtimes may report longer texts, which name no published version.
    if (version.length > LONGEST_VERSION && version !== query.policy) continue;
    const name = version === active ? `${version}, active` : version;
    policies.push(option(version, `${name} (${count(versions.get(version) ?? 0)})`, query.policy));
    yield;
  }
  return html`<form class="filters" method="get" action="/portal/fleet" data-filters>
    ${hiddenField("sort", query.sort)}
    <div class="grow">${searchField(query.q, "Name, host, system or version")}</div>
    ${choice({ id: "status", label: "Status", options: [option("", "Any", query.status), statuses] })}
    ${choice({ id: "policy", label: "Policy version", options: [option("", "Any", query.policy), policies] })}
    ${textField({ id: "label", name: "label", label: "Labels", value: query.label?.join(", ") ?? "", placeholder: "env:staging, team:web", isOptional: true })}
    <div class="check">
      <label>
        <input
          type="checkbox"
          name="drifted"
          value="true"
          ${query.drifted === "true" ? html` checked` : undefined}
        />
        Drifted only (${count(drifted)})
      </label>
    </div>
    <button type="submit" class="without-modules">Filter</button>
  </form>`;
}

function* list(model: FleetModel): Work<Html> {
  const headings = [
    sortHeading(model, "name", "Runtime"),
    sortHeading(model, "status", "Status"),
    sortHeading(model, "seen", "Last seen"),
    html`${sortHeading(model, "policy", "Policy version")}
    ${model.summary.drifted > 0 ? sortHeading(model, "drifted", "drifted first") : undefined}`,
    sortHeading(model, "version", "Version"),
    sortHeading(model, "system", "System"),
  ];
  const linkTo = labelLinker(model.query);
  const rows: Html[] = [];
  for (const runtime of model.runtimes) {
    rows.push(row(model, runtime, linkTo));
    yield; // many rows take long
  }
  const all = mayForget(model) ? [...headings, ACTIONS] : headings;
  return html`${table("Table of runtimes", "rows fleet stacked", all, rows)} ${more(model)}`;
}

/** The heading of a column, a link that sorts by it, or reverses the order. */
function sortHeading({ query }: FleetModel, column: FleetSort, words: string): Html {
  const { sort = "seen" } = query;
  const isUp = sort === column;
  const isDown = sort === `-${column}`;
  const next = isUp ? `-${column}` : column === "seen" ? undefined : column;
  const href = pageLink(FLEET_PATH, { ...query, sort: next });
  const state = isUp ? "sorted" : isDown ? "sorted in reverse" : undefined;
  return html`<a class="sort" data-sort href="${href}" ${state && html`aria-current="true"`}
    >${words}${state && html`<span aria-hidden="true">${isUp ? " ↓" : " ↑"}</span><span class="visually-hidden"> ${state}</span>`}</a
  >`;
}

/** The link to more runtimes. */
function more({ query, limit, runtimes, matching }: FleetModel): Html | undefined {
  const left = matching - runtimes.length;
  if (left <= 0) return undefined;
  if (limit >= MOST_FLEET_ROWS) {
    return html`<p class="inside faint">
      ${count(left)} more match: a search or another filter finds them.
    </p>`;
  }
  const next = Math.min(limit + FLEET_ROWS, MOST_FLEET_ROWS);
  return html`<p class="inside">
    <a class="button" data-more href="${pageLink(FLEET_PATH, { ...query, limit: next })}"
      >Show more (${count(left)} left)</a
    >
  </p>`;
}

function row(model: FleetModel, runtime: RuntimeInstance, linkTo: LabelLinker): Html {
  const { name, hostname, status } = runtime;
  return html`<tr>
    <th scope="row">
      <a class="clamp" href="${runtimeLink(name)}" title="${fullName(name)}">${name}</a>
      ${hostname === undefined ? undefined : html`<span class="under">${shorten(hostname, LONGEST_SHOWN)}</span>`}
      ${labelLinks(runtime.labels, linkTo, LONGEST_LABELS)}
    </th>
    <td>${badge(status, STATUS_TONES[status])}</td>
    <td class="nowrap" data-label="Seen">${timeAgo(runtime.last_seen, model.now)}</td>
    <td class="nowrap" data-label="Policy">${policyCell(runtime, model.summary.policy_version)}</td>
    <td class="mono" data-label="Version">${shorten(runtime.version ?? "", LONGEST_NARROW)}</td>
    <td data-label="System">${shorten(runtime.os ?? "", LONGEST_NARROW)}</td>
    ${
      mayForget(model)
        ? html`<td class="actions">
            <button type="button" class="quiet needs-modules" data-forget="${name}">
              Forget<span class="visually-hidden"> ${name}</span>
            </button>
          </td>`
        : undefined
    }
  </tr>`;
}

function mayForget(model: FleetModel): boolean {
  return callsV1(model) && isAllowed(model, "DELETE /fleet/{name}");
}

/** The tooltip of a name that may not fit. */
function fullName(name: string): string | undefined {
  return name.length > 24 ? name : undefined;
}

/** The policy version of a runtime, marked if it is not the active one. */
export function policyCell(runtime: RuntimeInstance, active: string): Html {
  const { policy_version: version } = runtime;
  if (!version) return html`<span class="faint">not reported</span>`;
  // Too long for the name of a published version.
  if (version.length > LONGEST_VERSION) {
    return html`<span class="clamp">${shorten(version, LONGEST_SHOWN)}</span>`;
  }
  const link = html`<a class="mono clamp" href="${policyLink(version)}" title="${fullName(version)}"
    >${version}</a
  >`;
  const { assigned_version: assigned = active } = runtime;
  if (!isDrifted(runtime, assigned)) return link;
  return html`${link}
    <a
      class="plain"
      href="${policyLink(assigned, version)}"
      title="What the assigned version changes"
      >${badge("drifted", "warn")}</a
    >`;
}
