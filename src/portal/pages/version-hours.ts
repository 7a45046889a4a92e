/**
 * The share of each policy version in the commands of every hour. The audit log is its source: runtimes name the version
 * that decided each command. So the past is known from the first event on, and nothing else has to be recorded.
 */
import type { FleetSummary } from "../../fleet/schema.ts";
import { HOUR_MS } from "../../core/clock.ts";
import { formatTimestamp } from "../../core/time.ts";
import type { PolicySummary } from "../../policies/schema.ts";
import { count, counted, percent } from "../format.ts";
import { html, type Html } from "../html.ts";
import { policyLink } from "../page-link.ts";
import { wallText, zoneWords } from "../zone.ts";
import { legendEntry, round } from "./bar-chart.ts";
import { chartLabels } from "./chart-labels.ts";
import { card, numberHeading, table } from "./parts.ts";
import type { PageSource } from "./source.ts";
import type { Counted } from "./time-chart.ts";

const HOURS = 72;
/** The most versions with a tone of their own; the rest is "other". Each takes one question to the audit. */
const SHOWN_VERSIONS = 4;
const HEIGHT = 130;
const TOP = 8;
const PLOT = HEIGHT - TOP - 20;

/** The commands of one hour that each shown version decided, in their order, and of all others together. */
interface Hour {
  readonly start: number;
  readonly end: number;
  readonly counts: readonly number[];
  readonly total: number;
}

/** The commands of the last hours by version. */
export interface VersionHours {
  readonly versions: readonly string[];
  /** Oldest first, without gaps. */
  readonly hours: readonly Hour[];
}

/** Counts the commands of the last three days by hour: those of the versions that matter now, and all others. */
export async function readVersionHours(
  source: Pick<PageSource, "histogram">,
  all: readonly PolicySummary[],
  fleet: FleetSummary,
  now: number,
): Promise<VersionHours> {
  const versions = shownVersions(all, fleet);
  const first = Math.floor(now / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS;
  const range = { from: formatTimestamp(first), to: formatTimestamp(first + HOURS * HOUR_MS) };
  const read = async (policy?: string): Promise<ReadonlyMap<number, number>> => {
    const buckets = await source.histogram({ ...range, ...(policy && { policy }) }, "1h");
    return new Map(
      buckets.map((bucket: Counted) => [bucket.start, bucket.allowed + bucket.denied]),
    );
  };
  const [totals, ...each] = await Promise.all([read(), ...versions.map(read)]);
  const hours = Array.from({ length: HOURS }, (_, i) => {
    const start = first + i * HOUR_MS;
    const counts = each.map((found) => found.get(start) ?? 0);
    // Events that arrive between two questions must not make the rest negative.
    const total = Math.max(totals.get(start) ?? 0, sumOf(counts));
    return { start, end: start + HOUR_MS, counts, total };
  });
  return { versions, hours };
}

/**
 * The active version, those that most runtimes report, and the newest ones. Names that only runtimes know are left
 * out, since anything can report any name.
 */
function shownVersions(
  all: readonly PolicySummary[],
  { policy_version: active, policy_versions: reported }: FleetSummary,
): readonly string[] {
  const newest = all.slice(0, SHOWN_VERSIONS).map(({ version }) => version);
  const stored = new Set(all.map(({ version }) => version));
  const spread = reported.slice(0, SHOWN_VERSIONS - 1).map(({ version = "" }) => version);
  const wanted = [active, ...spread, ...newest].filter((version) => stored.has(version));
  return [...new Set(wanted)].slice(0, SHOWN_VERSIONS);
}

/** Renders the shares as stacked bars, with the numbers in a table; nothing without a command. */
export function versionHoursCard({ versions, hours }: VersionHours): Html | undefined {
  const shown = [...versions.keys()].filter((i) => hours.some(({ counts }) => counts[i]));
  if (shown.length === 0) return undefined;
  const hasOther = hours.some(({ counts, total }) => total > sumOf(counts));
  const body = html`<div class="inside">
    ${chart(versions, hours)}
    <ul class="legend">
      ${shown.map((i) => legendEntry(`fill-version-${i}`, versionName(versions[i] ?? "")))}
      ${hasOther ? legendEntry("fill-version-other", OTHER) : undefined}
    </ul>
    ${hoursTable(versions, shown, hours)}
    <p class="small faint">
      The share of each version in the decisions that runtimes reported, hour by hour. A runtime
      that reports none is not counted.
    </p>
  </div>`;
  return card("version-hours-title", "Versions in use, last 3 days", body);
}

function chart(versions: readonly string[], hours: readonly Hour[]): Html {
  const labels = chartLabels(hours);
  const step = 100 / hours.length;
  return html`<div class="chart one" aria-hidden="true">
    <svg class="plot" width="100%" height="${HEIGHT}">
      <line class="base" x2="100%" y1="${TOP + PLOT}" y2="${TOP + PLOT}" />
      ${hours.map((hour, i) => {
        const label = labels.get(hour.start);
        const x = round(i * step);
        return html`${hour.total === 0 ? undefined : bar(versions, hour, x, round(step))}${
          label && html`<text x="${x}%" y="${HEIGHT - 4}">${label}</text>`
        }`;
      })}
    </svg>
  </div>`;
}

/** A bar in an `svg` of its own, so that the style sheet holds everything that all bars share. */
function bar(versions: readonly string[], hour: Hour, x: number, width: number): Html {
  const { start, counts, total } = hour;
  const parts = [...counts, total - sumOf(counts)];
  const words = parts.flatMap((commands, i) =>
    commands === 0
      ? []
      : [`${versions[i] ?? OTHER} ${percent(commands, total)} (${counted(commands, "command")})`],
  );
  let below = 0;
  return html`<svg x="${x}%" width="${width}%">
    <title>${hourName(start)} ${zoneWords()}: ${words.join(", ")}</title>
    <rect class="hit" />
    ${parts.map((commands, i) => {
      if (commands === 0) return undefined;
      const height = (PLOT * commands) / total;
      below += height;
      return html`<rect
        class="fill-version-${i < versions.length ? i : "other"}"
        y="${round(TOP + PLOT - below)}"
        height="${round(height)}"
      />`;
    })}
  </svg>`;
}

const OTHER = "other or none";

function versionName(version: string): Html {
  return html`<a class="mono" href="${policyLink(version)}">${version}</a>`;
}

/** The same numbers, newest hour first, without the hours that have no command. */
function hoursTable(
  versions: readonly string[],
  shown: readonly number[],
  hours: readonly Hour[],
): Html {
  const rows = hours
    .filter(({ total }) => total > 0)
    .toReversed()
    .map(
      ({ start, counts, total }) =>
        html`<tr>
          <th scope="row">${hourName(start)}</th>
          ${shown.map((i) => html`<td>${count(counts[i] ?? 0)}</td>`)}
          <td>${count(total - sumOf(counts))}</td>
        </tr>`,
    );
  const names = [...shown.map((i) => versions[i] ?? ""), OTHER];
  const headings = [`Hour (${zoneWords()})`, ...names.map(numberHeading)];
  return html`<details class="as-table" id="version-hours">
    <summary>Show as a table</summary>
    ${table("Commands by version and hour, newest first", "", headings, rows)}
  </details>`;
}

function hourName(start: number): string {
  return wallText(start).slice(0, 16);
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, one) => sum + one, 0);
}
