import type { PolicyReplayReport } from "../../replay/report.ts";
import { byNoRule } from "../../policies/reported-command.ts";
import { DAY_MS } from "../../core/clock.ts";
import { count, counted } from "../format.ts";
import { html, type Html } from "../html.ts";
import { executorLink, pageLink, providerLink, runtimeLink } from "../page-link.ts";
import { yesterdayOf } from "./audit-view.ts";
import { choice, option } from "./fields.ts";
import { unbroken } from "../unbroken.ts";
import { card, decisionBadge, numberHeading, table } from "./parts.ts";

/** The times of the commands that are decided again. */
const SPANS = [
  ["1", "the last 24 hours"],
  ["yesterday", "yesterday"],
  ["7", "the last 7 days"],
  ["30", "the last 30 days"],
] as const;
const USUAL_SPAN = "7";

/** Renders the choice of the commands. */
export function replaySpan(): Html {
  const options = SPANS.map(([span, word]) => option(span, word, USUAL_SPAN));
  return choice({ id: "replay-span", label: "Commands of", options });
}

/** The filters that a choice of `replaySpan` stands for. */
export function spanFilter(
  span: string,
  now: number,
): { readonly from: string; readonly to?: string } {
  if (span === "yesterday") {
    const { from, to } = yesterdayOf(now);
    return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  }
  const days = Number(span) || Number(USUAL_SPAN);
  return { from: new Date(now - days * DAY_MS).toISOString() };
}

/** Renders the part of the editor that tests the text on recorded commands. */
export function replayCard(): Html {
  return card(
    "replay-title",
    "Test on real commands",
    html`<div class="inside replay" id="replay">
      <p class="faint small">
        Decides recorded commands by this text, and shows which decisions would change. Nothing is
        stored.
      </p>
      <noscript
        ><p>From a shell, <code>POST /policies/replay</code> does so.</p></noscript
      >
      <div class="span needs-modules">
        ${replaySpan()}
        <button type="button" data-run>Test on real commands</button>
      </div>
      <p class="small" role="status" data-state></p>
      <div data-report></div>
    </div>`,
  );
}

/**
 * Renders the report of a replay.
 *
 * @param hasActive whether the text was compared with the active version, or with what was recorded
 * @param isEdited whether the examples can be added to the text
 */
export function renderReplay(
  report: PolicyReplayReport,
  hasActive: boolean,
  isEdited = true,
): Html {
  const { evaluated, newly_denied, newly_allowed, not_replayable, top, examples } = report;
  const left = not_replayable.reduce((sum, { events }) => sum + events, 0);
  const base = hasActive ? "the active version" : "what was recorded";
  return html`<p>
      <b>${counted(newly_denied, "event")}</b> newly denied and
      <b>${counted(newly_allowed, "event")}</b> newly allowed, of ${counted(evaluated, "event")}
      compared with ${base}.
    </p>
    ${left > 0 ? html`<p class="faint small">${leftOut(left, not_replayable)}</p>` : undefined}
    ${changedRules(report)} ${names("People and agents", top.executors, executorLink)}
    ${names("Providers", top.providers, providerLink)}
    ${names("Runtimes", top.runtimes, runtimeLink)}
    ${
      examples.length === 0
        ? undefined
        : html`<h3>Examples</h3>
            <ol class="decisions" aria-label="Examples">
              ${examples.map((example) => exampleRow(example, isEdited))}
            </ol>`
    }`;
}

const REASONS: Readonly<Record<PolicyReplayReport["not_replayable"][number]["reason"], string>> = {
  no_decision: "no decision was reported",
  command_redacted: "a secret was removed from the command",
  resource_redacted: "a secret was removed from the resource",
  command_missing: "the event has no command",
  capability_missing: "the event has no capability",
  executor_missing: "the event has no executor",
  resource_missing: "the event has no resource, or several",
};

function leftOut(left: number, gaps: PolicyReplayReport["not_replayable"]): Html {
  const parts = gaps.map(({ reason, events }) => `${REASONS[reason]} (${count(events)})`);
  return html`${counted(left, "event")} could not be compared: ${parts.join("; ")}.`;
}

function changedRules({ rules }: PolicyReplayReport): Html | undefined {
  const changing = rules.filter(
    ({ newly_denied, newly_allowed }) => newly_denied + newly_allowed > 0,
  );
  if (changing.length === 0) return undefined;
  const rows = changing.map(
    ({ id, newly_denied, newly_allowed }) =>
      html`<tr>
        <td>${id === null ? "the default" : html`<code>${id}</code>`}</td>
        <td class="num">${count(newly_denied)}</td>
        <td class="num">${count(newly_allowed)}</td>
      </tr>`,
  );
  const headings = ["Rule", ...["Newly denied", "Newly allowed"].map(numberHeading)];
  return table("Rules that change decisions", "", headings, rows);
}

function names(
  title: string,
  all: PolicyReplayReport["top"]["executors"],
  linkOf: (name: string) => string,
): Html | undefined {
  if (all.length === 0) return undefined;
  const links = all.map(
    ({ name, newly_denied, newly_allowed }, i) =>
      html`${i === 0 ? "" : ", "}<a href="${linkOf(name)}">${name}</a>
        (${count(newly_denied + newly_allowed)})`,
  );
  return html`<p><span class="faint">${title}:</span> ${links}</p>`;
}

function exampleRow(
  { event, now, rule, reason }: PolicyReplayReport["examples"][number],
  isEdited: boolean,
): Html {
  const by = rule === null ? byNoRule(event.command) : html`by rule <code>${rule}</code>`;
  const change = now === "DENIED" ? "Newly denied" : "Newly allowed";
  return html`<li>
    ${decisionBadge({ policy_decision: now })}
    <code>${unbroken(event.command ?? event.capability ?? event.provider ?? event.id)}</code>
    <div>
      ${change} ${by}${event.executor === undefined ? undefined : html`, run by ${event.executor}`}
    </div>
    ${reason === null ? undefined : html`<div class="faint">${reason}</div>`}
    <div>
      <a href="${pageLink("/portal/audit", { event: event.id })}">Show the event</a>
      ${
        isEdited && (event.command ?? event.capability) !== undefined
          ? html`<button type="button" class="quiet" data-test="${event.id}" data-effect="test">
              Add as a test
            </button>`
          : undefined
      }
      ${
        isEdited && now === "DENIED"
          ? html`<button type="button" class="quiet" data-test="${event.id}" data-effect="allow">
              Allow it
            </button>`
          : undefined
      }
    </div>
  </li>`;
}
