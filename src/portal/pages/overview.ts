import type { AuditEvent, Histogram } from "../../audit/schema.ts";
import type { DashboardCounts } from "../../dashboard/schema.ts";
import type { Policy } from "../../policies/schema.ts";
import { count, percent, shorten } from "../format.ts";
import { html, type Html } from "../html.ts";
import { withUnseen } from "../unseen.ts";
import { policyLink } from "../policy-link.ts";
import { chartLegend } from "./bar-chart.ts";
import { hourlyChart } from "./overview-chart.ts";
import {
  badge,
  credentialHeaders,
  emptyState,
  shellLines,
  publishedFacts,
  timeAgo,
  type PageContext,
} from "./parts.ts";

/** What the overview shows. */
export interface OverviewModel extends PageContext {
  readonly counts: DashboardCounts;
  readonly histogram: Histogram;
  /** The newest denied events, newest first. */
  readonly denials: readonly AuditEvent[];
  /** The active version; `undefined` while there is none. */
  readonly policy: Omit<Policy, "yaml" | "organization_id"> | undefined;
}

/** How many denials the overview lists. */
export const RECENT_DENIALS = 8;

const MOST_PROVIDERS = 8;
const COMMAND_LENGTH = 160;
const REASON_LENGTH = 240;

/** The last 24 hours at a glance. */
export function overviewPage(model: OverviewModel): Html {
  return html`<div class="page-head">
      <h1>Overview</h1>
      <span class="faint">The last 24 hours</span>
    </div>
    ${tiles(model)}
    <div class="grid overview">
      <section class="card wide" aria-labelledby="commands-title">
        <header>
          <h2 id="commands-title">Commands by hour, UTC</h2>
          ${chartLegend(model.histogram.buckets)}
        </header>
        <div class="inside">${hourlyChart(model.histogram)}</div>
      </section>
      <section class="card" aria-labelledby="denials-title">
        <header>
          <h2 id="denials-title">Recent denials</h2>
          <a href="/portal/audit?decision=DENIED">All denials</a>
        </header>
        ${denials(model)}
      </section>
      <div class="grid">${policyCard(model)} ${fleetCard(model)} ${providersCard(model)}</div>
    </div>`;
}

function tiles({ counts }: OverviewModel): Html {
  const { commands_today: commands, allowed_today: allowed, denied_today: denied } = counts;
  const { runtimes_online: online, runtimes_total: runtimes, ai_operations: ai } = counts;
  const { runtimes_drifted: drifted } = counts;
  const share = (part: number): Html =>
    html`<span class="note">${percent(part, commands)} of all</span>`;
  return html`<dl class="tiles card">
    ${tile("Commands", html`<a href="/portal/audit?range=24h">${count(commands)}</a>`)}
    ${tile("Allowed", html`<a href="/portal/audit?decision=ALLOWED&amp;range=24h">${count(allowed)}</a>`, share(allowed))}
    ${tile("Denied", html`<a href="/portal/audit?decision=DENIED&amp;range=24h">${count(denied)}</a>`, share(denied))}
    ${tile("By AI", html`<a href="/portal/audit?consumer=ai&amp;range=24h">${percent(ai, commands)}</a>`, html`<span class="note">${count(ai)} commands</span>`)}
    ${tile("Online", html`<a href="/portal/fleet?status=online">${count(online)}</a>`, html`<span class="note">of ${count(runtimes)} runtimes</span>`)}
    ${tile(
      "Drifted",
      html`<a href="/portal/fleet?drifted=true">${count(drifted)}</a>`,
      html`<span class="note ${drifted > 0 ? "warn" : ""}">run another policy</span>`,
    )}
  </dl>`;
}

function tile(name: string, value: Html, note?: Html): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
    ${note && html`<dd class="note">${note}</dd>`}
  </div>`;
}

function denials(model: OverviewModel): Html {
  if (model.denials.length > 0) {
    return html`<ul class="denials">
      ${model.denials.map((event) => denial(event, model.now))}
    </ul>`;
  }
  if (model.counts.commands_today > 0) {
    return emptyState("Nothing was denied", "Every command that runtimes reported was allowed.");
  }
  return emptyState(
    "No commands yet",
    "A runtime reports each command that it allowed or denied. To report one by hand:",
    {
      method: "POST",
      url: `${model.apiUrl}/audit`,
      headers: credentialHeaders(model, "runtime"),
      body: {
        command: "terraform destroy",
        executor: "ada",
        policy_decision: "DENIED",
        reason: "Destroying needs a review",
      },
    },
  );
}

function denial(event: AuditEvent, now: number): Html {
  const who = [event.executor, event.runtime_name].filter((name) => name !== undefined);
  const reason = event.reason === undefined ? "No reason given" : event.reason;
  return html`<li>
    <a href="/portal/audit?decision=DENIED&amp;event=${encodeURIComponent(event.id)}">
      <code>${withUnseen(shorten(event.command ?? "(no command)", COMMAND_LENGTH))}</code>
      <span class="faint small">${timeAgo(event.timestamp, now)}</span>
      <span class="why small"
        ><b>${withUnseen(shorten(reason, REASON_LENGTH))}</b>
        <span class="by">${shorten(who.join(" on "), COMMAND_LENGTH)}</span></span
      >
    </a>
  </li>`;
}

function policyCard(model: OverviewModel): Html {
  const { policy, now } = model;
  return html`<section class="card" aria-labelledby="policy-title">
    <header>
      <h2 id="policy-title">Active policy</h2>
      <a href="/portal/policies">All versions</a>
    </header>
    ${
      policy
        ? html`<dl class="facts inside">
            <dt>Version</dt>
            <dd><a class="mono" href="${policyLink(policy.version)}">${policy.version}</a></dd>
            <dt>Name</dt>
            <dd>${policy.name}</dd>
            ${publishedFacts(policy, now)}
          </dl>`
        : emptyState("No policy yet", "Runtimes fetch the active one and decide by it:", {
            method: "POST",
            url: `${model.apiUrl}/policies`,
            headers: credentialHeaders(model, "person"),
            body: {
              version: "v1",
              yaml: "schema: signalbox/policy/v1\ndefault: deny\nrules: []\n",
            },
          })
    }
  </section>`;
}

function fleetCard(model: OverviewModel): Html {
  const {
    runtimes_online: online,
    runtimes_total: total,
    runtimes_drifted: drifted,
  } = model.counts;
  const title = html`<header>
    <h2 id="fleet-title">Fleet</h2>
    <a href="/portal/fleet">All runtimes</a>
  </header>`;
  if (total === 0) {
    return html`<section class="card" aria-labelledby="fleet-title">
      ${title}
      ${emptyState("No runtimes yet", "One appears with its first sign of life:", {
        method: "POST",
        url: `${model.apiUrl}/fleet/heartbeat`,
        headers: credentialHeaders(model, "runtime"),
        body: { name: "build-1", policy_version: model.counts.policy_version || "v1" },
      })}
    </section>`;
  }
  return html`<section class="card" aria-labelledby="fleet-title">
    ${title}
    <dl class="facts inside">
      <dt>Online</dt>
      <dd>${badge(`${count(online)} of ${count(total)}`, online > 0 ? "ok" : "none")}</dd>
      <dt>Drifted</dt>
      <dd>
        ${
          drifted > 0
            ? html`<a href="/portal/fleet?drifted=true"
                >${badge(`${count(drifted)} on another policy`, "warn")}</a
              >`
            : "None: every runtime that says what it runs has the active policy"
        }
      </dd>
    </dl>
  </section>`;
}

function providersCard({ counts, apiUrl }: OverviewModel): Html {
  const used = Object.entries(counts.by_provider).sort(([, a], [, b]) => b - a);
  const most = used[0]?.[1] ?? 1;
  return html`<section class="card" aria-labelledby="providers-title">
    <header>
      <h2 id="providers-title">Top providers</h2>
      <a href="/portal/catalog">Catalog</a>
    </header>
    ${
      used.length === 0
        ? html`<div class="empty">
            <strong>None used yet</strong>
            <p>The catalog knows ${count(counts.providers)} of them:</p>
            ${shellLines(`curl '${apiUrl}/provider-names'`)}
          </div>`
        : html`<div class="inside">
            <table class="bars">
              <thead class="visually-hidden">
                <tr>
                  <th scope="col">Provider</th>
                  <th scope="col">Share</th>
                  <th scope="col">Commands</th>
                </tr>
              </thead>
              <tbody>
                ${used.slice(0, MOST_PROVIDERS).map(([name, commands]) => providerRow(name, commands, most))}
              </tbody>
            </table>
          </div>`
    }
  </section>`;
}

function providerRow(name: string, commands: number, most: number): Html {
  return html`<tr>
    <td>
      <a href="/portal/audit?provider=${encodeURIComponent(name)}&amp;range=24h"
        >${shorten(name, 40)}</a
      >
    </td>
    <td class="bar">
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width="${Math.max(1, Math.round((100 * commands) / most))}" height="1"></rect>
      </svg>
    </td>
    <td class="num">${count(commands)}</td>
  </tr>`;
}
