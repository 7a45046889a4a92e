import type { RuntimeInstance, RuntimeStatus } from "../../fleet/schema.ts";
import { isDrifted } from "../drift.ts";
import { filteredRuntimes, fleetSearch, type FleetFilter } from "../fleet-filter.ts";
import { count } from "../format.ts";
import { html, type Html } from "../html.ts";
import {
  badge,
  credentialHeaders,
  emptyState,
  timeAgo,
  type PageContext,
  type Tone,
} from "./parts.ts";
import { policyLink } from "./policies.ts";

/** What the page of the fleet shows. */
export interface FleetModel extends PageContext {
  readonly filter: FleetFilter;
  /** How many rows at most are shown. */
  readonly limit: number;
  /** Most recently seen first. */
  readonly runtimes: readonly RuntimeInstance[];
  /** The active policy version; empty when there is none. */
  readonly active: string;
  /** Whether the surface that the page calls can forget a runtime. */
  readonly canForget: boolean;
}

/** How many rows more a page shows each time. */
export const FLEET_ROWS = 200;

const STATUSES: readonly RuntimeStatus[] = ["online", "idle", "offline"];
const TONES: Readonly<Record<RuntimeStatus, Tone>> = {
  online: "ok",
  idle: "idle",
  offline: "none",
};

/** The runtimes: who is there, what they run, and who fell behind. */
export function fleetPage(model: FleetModel): Html {
  const { runtimes, active, filter } = model;
  if (runtimes.length === 0) {
    return html`<div class="page-head"><h1>Fleet</h1></div>
      <section class="card">${noRuntimes(model)}</section>`;
  }
  const shown = filteredRuntimes(runtimes, filter, active);
  return html`<div class="page-head">
      <h1>Fleet</h1>
      <span class="faint" role="status">${summary(shown.length, runtimes.length)}</span>
    </div>
    ${filters(model)}
    <section class="card" aria-label="Runtimes">
      ${
        shown.length === 0
          ? emptyState(
              "No runtime matches",
              html`Another filter may show some: <a href="/portal/fleet">show all of them</a>.`,
            )
          : table(model, shown)
      }
    </section>`;
}

function summary(shown: number, all: number): string {
  const runtimes = all === 1 ? "1 runtime" : `${count(all)} runtimes`;
  return shown === all ? runtimes : `${count(shown)} of ${runtimes}`;
}

function noRuntimes(model: FleetModel): Html {
  return emptyState("No runtimes yet", "One appears with its first sign of life:", {
    method: "POST",
    url: `${model.apiUrl}/fleet/heartbeat`,
    headers: credentialHeaders(model, "runtime"),
    body: { name: "build-1", version: "2.3.1", policy_version: model.active || "v1" },
  });
}

function filters({ filter, runtimes, active }: FleetModel): Html {
  const versions = new Set(runtimes.flatMap(({ policy_version: version }) => version || []));
  const drifted = runtimes.filter((runtime) => isDrifted(runtime, active)).length;
  const option = (value: string, label: string, chosen: string | undefined): Html =>
    html`<option value="${value}" ${value === (chosen ?? "") ? html` selected` : undefined}>
      ${label}
    </option>`;
  return html`<form class="filters" method="get" action="/portal/fleet" data-filters>
    <div class="grow">
      <label for="q">Search</label>
      <input
        id="q"
        name="q"
        type="search"
        value="${filter.q}"
        autocomplete="off"
        data-search
        placeholder="Name, host, system or version"
      />
    </div>
    <div>
      <label for="status">Status</label>
      <select id="status" name="status">
        ${option("", "Any", filter.status)}
        ${STATUSES.map((status) => {
          const number = runtimes.filter((runtime) => runtime.status === status).length;
          return option(status, `${status} (${count(number)})`, filter.status);
        })}
      </select>
    </div>
    <div>
      <label for="policy">Policy version</label>
      <select id="policy" name="policy">
        ${option("", "Any", filter.policy)}
        ${[...versions]
          .sort()
          .map((version) =>
            option(version, version === active ? `${version} (active)` : version, filter.policy),
          )}
      </select>
    </div>
    <div class="check">
      <label>
        <input
          type="checkbox"
          name="drifted"
          value="true"
          ${filter.drifted === "true" ? html` checked` : undefined}
        />
        Drifted only (${count(drifted)})
      </label>
    </div>
    <button type="submit" class="without-modules">Filter</button>
  </form>`;
}

function table(model: FleetModel, shown: readonly RuntimeInstance[]): Html {
  const { limit, filter } = model;
  const more = shown.length - limit;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table of runtimes">
      <table class="rows fleet">
        <thead>
          <tr>
            <th scope="col">Runtime</th>
            <th scope="col">Status</th>
            <th scope="col">Last seen</th>
            <th scope="col">Policy version</th>
            <th scope="col">Version</th>
            <th scope="col">System</th>
            ${model.canForget ? html`<th scope="col"><span class="visually-hidden">Actions</span></th>` : undefined}
          </tr>
        </thead>
        <tbody>
          ${shown.slice(0, limit).map((runtime) => row(model, runtime))}
        </tbody>
      </table>
    </div>
    ${
      more > 0
        ? html`<p class="inside">
            <a
              class="button"
              data-more
              href="/portal/fleet${fleetSearch(filter, limit + FLEET_ROWS)}"
              >Show more (${count(more)} left)</a
            >
          </p>`
        : undefined
    }`;
}

function row(model: FleetModel, runtime: RuntimeInstance): Html {
  const { name, hostname, status } = runtime;
  return html`<tr>
    <th scope="row">
      <span class="name">${name}</span>
      ${hostname === undefined ? undefined : html`<span class="faint small">${hostname}</span>`}
    </th>
    <td>${badge(status, TONES[status])}</td>
    <td>${timeAgo(runtime.last_seen, model.now)}</td>
    <td>${policyCell(runtime, model.active)}</td>
    <td class="mono">${runtime.version}</td>
    <td>${runtime.os}</td>
    ${
      model.canForget
        ? html`<td>
            <button type="button" class="quiet needs-modules" data-forget="${name}">
              Forget<span class="visually-hidden"> ${name}</span>
            </button>
          </td>`
        : undefined
    }
  </tr>`;
}

function policyCell(runtime: RuntimeInstance, active: string): Html {
  const { policy_version: version } = runtime;
  if (!version) return html`<span class="faint">not reported</span>`;
  const link = html`<a class="mono" href="${policyLink(version)}">${version}</a>`;
  if (!isDrifted(runtime, active)) return link;
  return html`${link}
    <a class="plain" href="${policyLink(active, version)}" title="What the active version changes"
      >${badge("drifted", "warn")}</a
    >`;
}
