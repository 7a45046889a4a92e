import type { Policy } from "../../policies/schema.ts";
import type { Rollout } from "../../rollouts/schema.ts";
import { isOpen } from "../../rollouts/state.ts";
import { html, type Html } from "../html.ts";
import { rolloutLink } from "../page-link.ts";

/** The open rollout; `undefined` without one. */
export function openRollout(all: readonly Rollout[]): Rollout | undefined {
  return all.find(isOpen);
}

/** A line about the open rollout, for other pages; `undefined` without one. */
export function openRolloutNotice(all: readonly Rollout[]): Html | undefined {
  const open = openRollout(all);
  if (open === undefined) return undefined;
  return html`<p class="notice">
    <b class="mono">${open.version}</b> is being rolled out: stage ${open.current_stage} of
    ${open.stages.length}${open.state === "paused" ? ", paused" : undefined}.
    <a href="${rolloutLink(open.id)}">Show the rollout</a>
  </p>`;
}

/** Says that the last activation of a version was the end of its rollout; `undefined` if it was not. */
export function endOfRollout(
  all: readonly Rollout[],
  { version, activated_at: at }: Policy,
): Html | undefined {
  const found = all.find((one) => one.version === version && one.state === "completed");
  if (found === undefined || found.ended_at !== at) return undefined;
  return html`, at the end of <a href="${rolloutLink(found.id)}">its rollout</a>`;
}
