import type { FleetSummary } from "../../fleet/schema.ts";
import { count, counted, shorten } from "../format.ts";
import { html, type Html } from "../html.ts";
import { shareRow, shareTable } from "./share-table.ts";
import { badge, card } from "./parts.ts";

const MOST_VERSIONS = 5;
const VERSION_LENGTH = 40;

/**
 * Renders the policy versions of the runtimes seen in the last day, the active version first.
 *
 * @param rollingOut the version of the open rollout, which runtimes are expected to have, too
 */
export function fleetCard(fleet: FleetSummary, rollingOut?: string): Html {
  const { online, idle, offline } = fleet;
  const away = html`, <a href="/portal/fleet?status=offline">${count(offline)} offline</a>`;
  const body = html`<div class="inside">
    ${versionTable(fleet, rollingOut)}
    <p class="small faint">
      ${count(online + idle)} seen in the last 24 hours${offline > 0 ? away : undefined}
    </p>
  </div>`;
  const all = html`<a href="/portal/fleet">All runtimes</a>`;
  return card("fleet-title", "Fleet by policy version", body, all);
}

function versionTable(fleet: FleetSummary, rollingOut: string | undefined): Html | undefined {
  const { shown, others, unsaid } = versionsOf(fleet, rollingOut);
  if (shown.length === 0 && unsaid === 0) return undefined;
  const most = Math.max(1, ...shown.map(({ present }) => present), others.present, unsaid);
  const active = fleet.policy_version;
  const tone = active === "" ? "" : "warn";
  const rows = shown.map(({ version, present }) => {
    const isActive = version === active;
    const isExpected = isActive || version === rollingOut;
    const name = html`<a class="mono" href="/portal/fleet?policy=${encodeURIComponent(version)}"
        >${shorten(version, VERSION_LENGTH)}</a
      >
      ${isActive ? badge("Active", "ok") : isExpected ? badge("Rolling out", "idle") : undefined}`;
    return shareRow(name, present, most, isExpected ? "" : tone);
  });
  const rest = html`<a href="/portal/fleet">${counted(others.versions, "other")}</a>`;
  return shareTable("Policy version", "Runtimes", [
    rows,
    others.versions === 0 ? undefined : shareRow(rest, others.present, most, tone),
    unsaid === 0
      ? undefined
      : shareRow(html`<span class="faint">Not said</span>`, unsaid, most, "none"),
  ]);
}

interface Shares {
  readonly shown: readonly { readonly version: string; readonly present: number }[];
  /** The versions without a row of their own. */
  readonly others: { readonly versions: number; readonly present: number };
  /** The number of runtimes that never reported a version. */
  readonly unsaid: number;
}

function versionsOf(
  { policy_version: active, policy_versions: all, online, idle }: FleetSummary,
  rollingOut = "",
): Shares {
  const presentOf = new Map(all.map(({ version, present }) => [version, present]));
  const expected = [...new Set([active, rollingOut])].filter((version) => version !== "");
  const drifted = all
    .filter(({ version, present }) => !expected.includes(version) && present > 0)
    .toSorted((a, b) => b.present - a.present);
  const rows = [
    ...expected.map((version) => ({ version, present: presentOf.get(version) ?? 0 })),
    ...drifted,
  ];
  const rest = rows.slice(MOST_VERSIONS);
  const sum = (some: readonly { readonly present: number }[]): number =>
    some.reduce((total, { present }) => total + present, 0);
  return {
    shown: rows.slice(0, MOST_VERSIONS),
    others: { versions: rest.length, present: sum(rest) },
    // The summary of a fleet with very many versions leaves some out.
    unsaid: Math.max(0, online + idle - sum(rows)),
  };
}
