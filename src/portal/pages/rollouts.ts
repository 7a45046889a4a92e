import { string } from "../../core/schema-parts.ts";
import type { QueryParameters } from "../../http/query.ts";
import type { Policy } from "../../policies/schema.ts";
import type { Rollout } from "../../rollouts/schema.ts";
import { GATE, stateWord } from "../../rollouts/state.ts";
import { ACTIVITY_PATH } from "../access-tabs.ts";
import { deedOf } from "../activity-words.ts";
import { counted, duration, exactly } from "../format.ts";
import { html, type Html } from "../html.ts";
import { pageLink, POLICIES_PATH, policyLink, rolloutLink } from "../page-link.ts";
import { holdLeft } from "../rollout-words.ts";
import { allowedOrNote, ifAllowed, type OperationName } from "../withheld.ts";
import { actorName } from "./access-activity.ts";
import {
  badge,
  callsV1,
  card,
  emptyCard,
  facts,
  subpageHead,
  table,
  timeAgo,
  type PageContext,
  type Tone,
} from "./parts.ts";
import { observeNotice } from "./policy-text.ts";
import { stagesCard } from "./rollout-stages.ts";
import type { ActivitySlice, DataPage } from "./source.ts";

/** The most steps that are shown; the activity log has all of them. */
const MOST_STEPS = 50;
/** The most rollouts in the list. */
const MOST_LISTED = 100;

const parameters = {
  id: string("The rollout to show. The default is the newest one."),
} as const satisfies QueryParameters;

/** The model of the rollouts page. */
export interface RolloutsModel extends PageContext {
  /** Newest first, without figures. */
  readonly rollouts: readonly Rollout[];
  readonly shown: Rollout | undefined;
  /** The version that the shown rollout gives to runtimes. */
  readonly policy: Policy | undefined;
  /** The steps of the shown rollout; `undefined` where the activity log cannot be read. */
  readonly steps: ActivitySlice | undefined;
}

/** The page of the rollouts: the open one with the figures of its stages, and the past ones. */
export const rollouts: DataPage<RolloutsModel, typeof parameters> = {
  path: POLICIES_PATH,
  title: "Rollouts",
  module: "rollouts",
  parameters,
  async read(source, context, { id }) {
    const all = await source.rollouts();
    const known = id === undefined ? all[0] : all.find((one) => one.id === id);
    const [shown, policy, steps] = await Promise.all([
      known && source.rollout(known.id),
      known && source.policy(known.version),
      known && callsV1(context) ? source.activity({ target: known.id }, MOST_STEPS, 0) : undefined,
    ]);
    return { ...context, rollouts: all, shown, policy, steps };
  },
  render: renderRollouts,
};

/** Renders a rollout with its stages and steps, above the list of all. */
function renderRollouts(model: RolloutsModel): Html {
  const { rollouts: all, shown } = model;
  const number = html`<span class="faint">${counted(all.length, "rollout")}</span>`;
  return html`${subpageHead(POLICIES_PATH, "Policies", "Rollouts", number)}
    ${allowedOrNote(model, "POST /rollouts", "Rolling out a version")}
    <div class="grid">
      ${
        all.length === 0
          ? emptyCard(
              "No rollout yet",
              html`A rollout gives a version to a part of the fleet first. Choose a version that is
                not active under <a href="/portal/policies">Policies</a>, and roll it out from
                there.`,
            )
          : shown === undefined
            ? emptyCard("No such rollout", "It does not exist, or it is too old.")
            : html`${summaryCard(model, shown)} ${stagesCard(shown, model.now)}
              ${stepsCard(model, shown)}`
      }
      ${all.length > 1 ? listCard(model) : undefined}
    </div>`;
}

const TONES: Readonly<Record<Rollout["state"], Tone>> = {
  running: "ok",
  paused: "warn",
  completed: "ok",
  rolled_back: "bad",
  superseded: "none",
};

function summaryCard(model: RolloutsModel, shown: Rollout): Html {
  const { version, base_version: base, state, stages, current_stage: current } = shown;
  const { now } = model;
  const body = html`${judgementNotice(shown, now)}
  ${model.policy && observeNotice(model.policy.yaml)}
  ${facts([
    ["Version", html`<a class="mono" href="${policyLink(version)}">${version}</a>`],
    [
      "Instead of",
      html`<a class="mono" href="${policyLink(base)}">${base}</a> ·
        <a href="${policyLink(version, base)}">What it changes</a>`,
    ],
    ["Stage", `${current} of ${stages.length}`],
    ["On a breach", shown.on_breach === "pause" ? "it is paused" : "it is rolled back"],
    ["Began", html`${timeAgo(shown.created_at, now)} by ${shown.created_by}`],
    ["Ended", shown.ended_at && html`${timeAgo(shown.ended_at, now)} by ${shown.updated_by}`],
    [
      "Its commands",
      html`<a href="${pageLink("/portal/audit", { policy: version })}">in the audit</a> ·
        <a href="${pageLink("/portal/audit", { policy: version, decision: "DENIED" })}"
          >those it denied</a
        >`,
    ],
  ])}`;
  const title = html`Rollout of <span class="mono">${version}</span>`;
  const aside = html`${badge(stateWord(state), TONES[state])}${actions(model, shown)}`;
  return card("rollout-title", title, body, aside);
}

/** Renders the conditions that the rollout waits for, or the reason why it stopped. */
function judgementNotice(shown: Rollout, now: number): Html | undefined {
  const { state, reason, judgement, current_stage: stage } = shown;
  if (reason !== undefined)
    return html`<p class="notice warn inside">${withTimes(reason, now)}</p>`;
  if (state === "paused") {
    const words = "Paused: runtimes keep their versions, and no gate acts.";
    return html`<p class="notice warn inside">${words}</p>`;
  }
  if (judgement === undefined) return undefined;
  const { outcome, reasons } = judgement;
  if (outcome === "passed") {
    const words = `Stage ${stage} has passed its gates: it ends within a minute.`;
    return html`<p class="notice inside" role="status">${words}</p>`;
  }
  const left = holdLeft(shown, now);
  return html`<div class="notice ${outcome === "breached" ? "bad" : ""} inside" role="status">
    Stage ${stage} ${outcome === "breached" ? "is breached" : "waits"}:
    <ul>
      ${reasons.map((one) => html`<li>${withTimes(one, now)}</li>`)}
    </ul>
    ${left > 0 ? html`<p>Hold time left: ${duration(left)}.</p>` : undefined}
  </div>`;
}

/** A sentence of the service with its past times as ages. */
function withTimes(sentence: string, now: number): readonly (Html | string)[] {
  return sentence.split(/(\d{4}-\d\d-\d\dT[\d:.]+Z)/).map((part, i) => {
    if (i % 2 === 0) return part;
    if (Date.parse(part) <= now) return timeAgo(part, now);
    return html`<time datetime="${part}">${exactly(part)}</time>`;
  });
}

const STEPS = [
  { step: "advance", label: "Advance…", states: ["running"] },
  { step: "pause", label: "Pause…", states: ["running"] },
  { step: "resume", label: "Resume…", states: ["paused"] },
  { step: "roll_back", label: "Roll back…", states: ["running", "paused"] },
] as const;
/** A step that a person takes. */
export type PersonStep = (typeof STEPS)[number]["step"];

function actions(model: RolloutsModel, { state, id }: Rollout): Html | undefined {
  const allowed = STEPS.filter(({ states }) => states.some((one) => one === state));
  if (allowed.length === 0) return undefined;
  return html`<div class="actions">
    ${allowed.map(({ step, label }) => {
      const operation: OperationName = `POST /rollouts/{id}/${step}`;
      const button = html`<button
        type="button"
        class="needs-modules ${step === "roll_back" ? "danger" : ""}"
        data-step="${step} ${id}"
      >
        ${label}
      </button>`;
      return ifAllowed(model, operation, button);
    })}
  </div>`;
}

function stepsCard({ steps, now }: RolloutsModel, shown: Rollout): Html {
  const { id } = shown;
  if (steps === undefined) return stepsOnRecord(shown, now);
  const all = html`<a href="${pageLink(ACTIVITY_PATH, { target: id })}">In the activity log</a>`;
  const rows = steps.entries.map(
    ({ actor, action, timestamp, after, outcome }) =>
      html`<li>
        <b>${actorName(actor)}</b> ${deedOf(action)}${afterWords(after)}
        ${outcome === "done" ? undefined : badge(outcome, "bad")}
        <span class="faint">${timeAgo(timestamp, now)}</span>
      </li>`,
  );
  return stepList(rows, all);
}

function stepList(steps: readonly Html[], aside?: Html): Html {
  const list = html`<ol class="inside decisions" aria-label="Steps">
    ${steps}
  </ol>`;
  return card("steps-title", "Steps", list, aside);
}

/** The steps that the rollout itself tells, where the activity log cannot be read, as on the open surface. */
function stepsOnRecord(shown: Rollout, now: number): Html {
  const { stages, state, created_by: by, updated_at: at, updated_by: last, reason } = shown;
  const begun = stages.flatMap(({ started_at: from }, i) =>
    i === 0 || from === undefined ? [] : [{ words: html`Stage ${i + 1} began`, at: from }],
  );
  const first = { words: html`<b>${by}</b> began the rollout: stage 1`, at: shown.created_at };
  const who = last === GATE ? "A gate" : last;
  const end = { words: html`<b>${who}</b>: ${stateWord(state)}${reason && `, ${reason}`}`, at };
  const all = [first, ...begun, ...(state === "running" ? [] : [end])].reverse();
  return stepList(
    all.map(
      (step) => html`<li>${step.words} <span class="faint">${timeAgo(step.at, now)}</span></li>`,
    ),
  );
}

function afterWords(after: Readonly<Record<string, unknown>> = {}): string {
  const { state, stage, reason } = after;
  if (reason !== undefined) return `: ${String(reason)}`;
  if (state === "running") return `: stage ${String(stage)}`;
  return "";
}

function listCard({ rollouts: all, shown, now }: RolloutsModel): Html {
  const rows = all.slice(0, MOST_LISTED).map(
    (one) =>
      html`<tr>
        <th scope="row">
          <a
            class="mono"
            href="${rolloutLink(one.id)}"
            ${one.id === shown?.id ? html` aria-current="true"` : undefined}
            >${one.version}</a
          >
        </th>
        <td>${badge(stateWord(one.state), TONES[one.state])}</td>
        <td data-label="Stage">${one.current_stage} of ${one.stages.length}</td>
        <td data-label="Began">${timeAgo(one.created_at, now)} by ${one.created_by}</td>
      </tr>`,
  );
  const headings = ["Version", "State", "Stage", "Began"];
  return card("rollouts-title", "All rollouts", table("Rollouts", "rows stacked", headings, rows));
}
