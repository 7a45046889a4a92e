import type { AuditEvent, Histogram } from "../../audit/schema.ts";
import type { DashboardCounts } from "../../dashboard/schema.ts";
import type { FleetSummary } from "../../fleet/schema.ts";
import type { Policy } from "../../policies/schema.ts";
import { count, counted, percent, shorten } from "../format.ts";
import { DAY_MS } from "../../core/clock.ts";
import { html, type Html } from "../html.ts";
import { policyLink, providerLink } from "../page-link.ts";
import { AHEAD_MS } from "./audit-view.ts";
import { chartLegend } from "./bar-chart.ts";
import type { Rollout } from "../../rollouts/schema.ts";
import { openRollout, openRolloutNotice } from "./open-rollout.ts";
import { shareRow, shareTable } from "./share-table.ts";
import { firstSteps, heartbeatRequest, publishRequest } from "./first-steps.ts";
import { denialList } from "./denial-list.ts";
import { fleetCard } from "./fleet-card.ts";
import { beginOfDay, hourlyChart } from "./overview-chart.ts";
import { zoneWords } from "../zone.ts";
import { card, emptyState, facts, publishedFacts, type PageContext } from "./parts.ts";
import type { DataPage } from "./source.ts";

/** The model of the overview. */
export interface OverviewModel extends PageContext {
  readonly counts: DashboardCounts;
  readonly fleet: FleetSummary;
  readonly histogram: Histogram;
  /** The newest denied events, newest first; those of the last 24 hours are shown. */
  readonly denials: readonly AuditEvent[];
  /** Whether there is an API key; read only while the first steps are shown and runtimes need one. */
  readonly hasKey?: boolean | undefined;
  readonly rollouts: readonly Rollout[];
  /** The active version; `undefined` while there is none. */
  readonly policy: Omit<Policy, "yaml" | "organization_id"> | undefined;
}

/** The number of denials on the overview. */
const RECENT_DENIALS = 8;

const MOST_PROVIDERS = 8;

/** The front page: the last 24 hours at a glance. */
export const overview: DataPage<OverviewModel> = {
  path: "/",
  title: "Overview",
  module: "overview",
  parameters: {},
  async read(source, context) {
    const counts = await source.counts();
    const active = counts.policy_version;
    const [fleet, histogram, denied, policy, rollouts] = await Promise.all([
      source.fleetSummary(),
      source.hours(beginOfDay(context.now)),
      source.page(
        { decision: "DENIED", to: new Date(context.now + AHEAD_MS).toISOString() },
        RECENT_DENIALS,
        undefined,
      ),
      active === "" ? undefined : source.policy(active),
      active === "" ? [] : source.rollouts(),
    ]);
    const { events: denials } = denied;
    const model = { ...context, counts, fleet, histogram, denials, policy, rollouts };
    if (!context.needsCredential || hasCommands(model)) return model;
    return { ...model, hasKey: (await source.keys()).some(({ revoked }) => !revoked) };
  },
  render: renderOverview,
};

/** Renders the overview. */
export function renderOverview(model: OverviewModel): Html {
  return html`<div class="page-head">
      <h1>Overview</h1>
      <span class="faint">The last 24 hours</span>
    </div>
    ${openRolloutNotice(model.rollouts)} ${hasCommands(model) ? undefined : beginning(model)}
    ${tiles(model)}
    <div class="grid overview">
      <div class="wide">${eventsCard(model)}</div>
      ${card("denials-title", "Recent denials", denials(model), html`<a href="/portal/audit?decision=DENIED&amp;range=24h">All denials</a>`)}
      <div class="grid aside">
        ${policyCard(model)}
        ${model.fleet.total === 0 ? noRuntimes(model) : fleetCard(model.fleet, openRollout(model.rollouts)?.version)}
        ${providersCard(model)}
      </div>
    </div>`;
}

function eventsCard({ histogram, now }: OverviewModel): Html {
  const chart = html`<div class="inside">${hourlyChart(histogram, now)}</div>`;
  const title = `Events by hour, ${zoneWords()}`;
  return card("events-title", title, chart, chartLegend(histogram.buckets));
}

/** Whether any command was reported; until then the page begins with the first steps. */
export function hasCommands({
  counts,
  denials,
}: Pick<OverviewModel, "counts" | "denials">): boolean {
  return counts.commands_today > 0 || denials.length > 0;
}

function beginning(model: OverviewModel): Html {
  return firstSteps(model, {
    hasPolicy: model.policy !== undefined,
    hasKey: model.hasKey,
    hasRuntimes: model.fleet.total > 0,
    activeVersion: model.counts.policy_version,
  });
}

/** The numbers of the day. They count events: a runtime that reports before and after a command reports two. */
function tiles({ counts }: OverviewModel): Html {
  const { commands_today: events, allowed_today: allowed, denied_today: denied } = counts;
  const { runtimes_online: online, runtimes_total: runtimes, ai_operations: ai } = counts;
  const { runtimes_drifted: drifted, would_be_denied_today: wouldBe } = counts;
  const share = (part: number): Html =>
    html`<span class="note">${percent(part, allowed + denied)} of decisions</span>`;
  return html`<dl class="tiles card">
    ${tile("Events", html`<a href="/portal/audit?range=24h">${count(events)}</a>`)}
    ${tile("Allowed", html`<a href="/portal/audit?decision=ALLOWED&amp;range=24h">${count(allowed)}</a>`, share(allowed))}
    ${tile(
      "Denied",
      html`<a href="/portal/audit?decision=DENIED&amp;range=24h">${count(denied)}</a>`,
      wouldBe === 0
        ? share(denied)
        : html`<a class="note" href="/portal/audit?observed=DENIED&amp;range=24h"
            >${count(wouldBe)} more ran, in observe mode</a
          >`,
    )}
    ${tile("By AI", html`<a href="/portal/audit?consumer=ai&amp;range=24h">${percent(ai, events)}</a>`, html`<span class="note">${counted(ai, "event")}</span>`)}
    ${tile("Online", html`<a href="/portal/fleet?status=online">${count(online)}</a>`, html`<span class="note">of ${counted(runtimes, "runtime")}</span>`)}
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
  const recent = model.denials.filter(
    ({ timestamp }) => Date.parse(timestamp) > model.now - DAY_MS,
  );
  if (recent.length > 0) {
    return denialList(recent, model.now, { range: "24h" });
  }
  if (hasCommands(model)) {
    const earlier = html` <a href="/portal/audit?decision=DENIED">Earlier denials</a>`;
    return emptyState(
      "Nothing was denied",
      html`No command was denied in the last 24
      hours.${model.denials.length > 0 ? earlier : undefined}`,
    );
  }
  return emptyState("No commands yet", "Denied commands and their reasons will be listed here.");
}

function policyCard(model: OverviewModel): Html {
  const { policy, now } = model;
  const link = (version: string): Html =>
    html`<a class="mono" href="${policyLink(version)}">${version}</a>`;
  const body = policy
    ? facts([
        ["Version", link(policy.version)],
        ["Name", policy.name],
        ...publishedFacts(policy, now),
      ])
    : emptyState(
        "No policy yet",
        "Runtimes fetch the active one and decide by it.",
        hasCommands(model) ? publishRequest(model) : undefined,
      );
  const all = html`<a href="/portal/policies">All versions</a>`;
  return card("policy-title", "Active policy", body, all);
}

function noRuntimes(model: OverviewModel): Html {
  const advice = emptyState(
    "No runtimes yet",
    "A runtime appears with its first heartbeat.",
    hasCommands(model) ? heartbeatRequest(model, model.counts.policy_version) : undefined,
  );
  return card("fleet-title", "Fleet", advice, html`<a href="/portal/fleet">All runtimes</a>`);
}

function providersCard({ counts }: OverviewModel): Html {
  const used = Object.entries(counts.by_provider).sort(([, a], [, b]) => b - a);
  const most = used[0]?.[1] ?? 1;
  const rows = used.slice(0, MOST_PROVIDERS).map(([name, commands]) => {
    return shareRow(html`<a href="${providerLink(name)}">${shorten(name, 40)}</a>`, commands, most);
  });
  const all = html`<a href="/portal/catalog">Catalog</a>`;
  const advice = html`The <a href="/portal/catalog">catalog</a> lists ${count(counts.providers)}
    providers.`;
  const body =
    rows.length === 0
      ? emptyState("No provider used yet", advice)
      : html`<div class="inside">${shareTable("Provider", "Commands", rows)}</div>`;
  return card("providers-title", "Top providers", body, all);
}
