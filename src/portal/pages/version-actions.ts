import type { Policy, PolicySummary } from "../../policies/schema.ts";
import type { Rollout } from "../../rollouts/schema.ts";
import { EDITOR_PATH } from "../editor-draft.ts";
import { html, type Html } from "../html.ts";
import { ifAllowed } from "../withheld.ts";
import { openRollout } from "./open-rollout.ts";
import type { PageContext } from "./parts.ts";
import { activeOf, isEarlier } from "./source.ts";

interface Known extends PageContext {
  readonly versions: readonly PolicySummary[];
  readonly rollouts: readonly Rollout[];
}

/** Renders the actions on a version that the reader's role includes. */
export function versionActions(model: Known, { version, active }: Policy): Html {
  const { versions, rollouts } = model;
  const hasOther = !active && activeOf(versions) !== undefined;
  const isFree = openRollout(rollouts) === undefined;
  return html`<div class="actions">
    ${active ? undefined : ifAllowed(model, "POST /policies/{version}/activate", activate(versions, version))}
    ${
      hasOther
        ? html`<button type="button" class="needs-modules" data-replay="${version}">
            What it would change
          </button>`
        : undefined
    }
    ${hasOther && isFree ? ifAllowed(model, "POST /rollouts", rollOut(version)) : undefined}
    ${editLink(model, version)}
  </div>`;
}

/** The link to the editor with the text of a version, for readers whose role includes publishing. */
export function editLink(reader: PageContext, version: string): Html | undefined {
  const link = html`<a class="button" href="${EDITOR_PATH}?from=${encodeURIComponent(version)}"
    >Edit as a new version</a
  >`;
  return ifAllowed(reader, "POST /policies", link);
}

function activate(versions: readonly PolicySummary[], version: string): Html {
  return html`<button type="button" class="needs-modules" data-activate="${version}">
    ${isEarlier(versions, version) ? "Roll back to this version…" : "Activate…"}
  </button>`;
}

function rollOut(version: string): Html {
  return html`<button type="button" class="needs-modules" data-rollout="${version}">
    Roll out…
  </button>`;
}
