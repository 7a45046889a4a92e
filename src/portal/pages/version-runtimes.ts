import type { FleetSummary } from "../../fleet/schema.ts";
import type { Policy } from "../../policies/schema.ts";
import { count, counted } from "../format.ts";
import { html, type Html } from "../html.ts";
import { badge } from "./parts.ts";

/** The number of runtimes that report each version and are not offline. */
export function runtimesOf(fleet: FleetSummary): ReadonlyMap<string, number> {
  return new Map(fleet.policy_versions.map(({ version, present }) => [version, present]));
}

/** The number of runtimes that have a version, of those that are not offline. */
export function versionRuntimes(
  fleet: FleetSummary,
  { version, active }: Policy,
): Html | undefined {
  const has = runtimesOf(fleet).get(version) ?? 0;
  const all = fleet.online + fleet.idle;
  if (!active) {
    const href = `/portal/fleet?policy=${encodeURIComponent(version)}`;
    const verb = has === 1 ? "has" : "have";
    return has > 0 ? html`<a href="${href}">${counted(has, "runtime")}</a> ${verb} it` : undefined;
  }
  if (all === 0) return undefined;
  // While a rollout is open, a drifted runtime may have this version, and one with another may not be drifted.
  const others = fleet.policy_versions
    .filter((reported) => reported.version !== version)
    .reduce((sum, { present }) => sum + present, 0);
  const unsaid = Math.max(0, all - has - others);
  const words = others > 0 ? `${count(others)} on another version` : undefined;
  return html`<span role="status"
      >${count(has)} of ${counted(all, "runtime")} ${all === 1 ? "has" : "have"}
      <span class="mono">${version}</span></span
    >
    ${
      has === all
        ? badge("all", "ok")
        : html`<progress
            value="${has}"
            max="${all}"
            aria-label="Runtimes with ${version}"
          ></progress>`
    }
    ${words && others === fleet.drifted ? html`<a href="/portal/fleet?drifted=true">${words}</a>` : words}
    ${unsaid > 0 ? html`<span class="faint">${count(unsaid)} did not say</span>` : undefined}`;
}
