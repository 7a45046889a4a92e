import { labelTexts } from "../../core/labels.ts";
import type { Decided, Rollout, RolloutStage } from "../../rollouts/schema.ts";
import { stateWord } from "../../rollouts/state.ts";
import { count, percent } from "../format.ts";
import { html, type Html } from "../html.ts";
import { pageLink, runtimeLink } from "../page-link.ts";
import { gateWords, whoWords } from "../rollout-words.ts";
import { badge, card, numberHeading, table, timeAgo } from "./parts.ts";

const FIGURES = ["Assigned", "Fetched", "Report it", "Denied before", "Denied since"] as const;

/** Renders the stages of a rollout with their figures. */
export function stagesCard(shown: Rollout, now: number): Html {
  const headings = ["Stage", "Runtimes", ...FIGURES.map(numberHeading)];
  const rows = shown.stages.map((stage, i) => stageRow(shown, stage, i + 1, now));
  return card(
    "stages-title",
    "Stages",
    html`${table("Stage by stage", "rows fleet stacked", headings, rows)}
      <p class="inside faint small">
        The figures of a stage count its runtimes and those of the stages before it. “Before” is the
        seven days before the rollout; “since” is what the version decided in the stage.
      </p>`,
  );
}

function stageRow(shown: Rollout, stage: RolloutStage, number: number, now: number): Html {
  const { version } = shown;
  const { figures } = stage;
  const numberCell = (value: Html | string, i: number): Html =>
    html`<td class="num" data-label="${FIGURES[i]}">${value}</td>`;
  return html`<tr>
    <th scope="row">${number} ${progressBadge(shown, number)}${startedWords(stage, now)}</th>
    <td>
      ${whoLink(stage)}
      <span class="under">ends when ${gateWords(stage).join("; ")}</span>
    </td>
    ${
      figures === undefined
        ? html`<td colspan="5" class="faint">no figures</td>`
        : [
            count(figures.assigned),
            count(figures.fetched),
            html`<a
                href="${pageLink("/portal/fleet", { policy: version, label: labelTexts(stage.labels) })}"
                >${count(figures.reporting)}</a
              >${figures.silent > 0 ? html` (${count(figures.silent)} silent)` : ""}`,
            share(figures.before),
            figures.after === undefined ? "–" : share(figures.after),
          ].map(numberCell)
    }
  </tr>`;
}

function progressBadge({ state, current_stage: current }: Rollout, number: number): Html {
  if (number > current) return badge("not begun", "none");
  if (number < current || state === "completed") return badge("done", "ok");
  return state === "running" ? badge("now", "warn") : badge(stateWord(state), "idle");
}

function startedWords({ started_at: from, ended_at: to }: RolloutStage, now: number): Html {
  if (from === undefined) return html``;
  const ended = to === undefined ? undefined : html`, ended ${timeAgo(to, now)}`;
  return html`<div class="faint small">began ${timeAgo(from, now)}${ended}</div>`;
}

function share({ commands, denied }: Decided): string {
  return commands === 0
    ? "no commands"
    : `${count(denied)} of ${count(commands)} (${percent(denied, commands)})`;
}

/** The runtimes of a stage, as a link where the fleet can be filtered by them. */
function whoLink(stage: RolloutStage): Html {
  const words = whoWords(stage);
  const [name, ...others] = stage.names ?? [];
  const label = labelTexts(stage.labels);
  if (label.length > 0) {
    return html`<a href="${pageLink("/portal/fleet", { label })}">${words}</a>`;
  }
  if (name !== undefined && others.length === 0) {
    return html`<a href="${runtimeLink(name)}">${words}</a>`;
  }
  return html`<a href="/portal/fleet">${words}</a>`;
}
