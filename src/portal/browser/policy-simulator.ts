import type { Decision } from "../../core/decision.ts";
import type { Mode } from "../../policies/schema.ts";
import { byNoRule } from "../../policies/reported-command.ts";
import { html, type Html } from "../html.ts";
import { decisionBadge } from "../pages/parts.ts";
import { unbroken } from "../unbroken.ts";
import { call, isSignedOut, reasonOf } from "./api.ts";
import { morph } from "./morph.ts";
import { goToPlace } from "./policy-check.ts";

const PAUSE_MS = 400;
const MOST_COMMANDS = 20;

interface Simulation {
  readonly decision: Decision;
  readonly mode: Mode;
  readonly rule: string | null;
  readonly reason: string | null;
  readonly doubt?: string;
  readonly program?: string;
  readonly line?: number;
}

/** The simulator, which decides commands by the editor's text. */
export interface Simulator {
  /** Decides the commands again, if there are any. */
  runAgain(): void;
}

/** Connects the form of the commands with the list of their decisions. */
export function serveSimulator(
  form: HTMLFormElement,
  place: HTMLElement,
  area: HTMLTextAreaElement,
): Simulator {
  let underWay: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = async (): Promise<void> => {
    clearTimeout(timer);
    underWay?.abort();
    const own = new AbortController();
    underWay = own;
    const given = [...new FormData(form)].filter(([, value]) => value !== "");
    const { command = "", ...facts } = Object.fromEntries(given) as Record<string, string>;
    const lines = command.split(/\r?\n/).filter((line) => line.trim() !== "");
    const tool = facts["capability"];
    const commands = lines.length === 0 && tool !== undefined ? [undefined] : lines;
    const rows: Html[] = [];
    for (const one of commands.slice(0, MOST_COMMANDS)) {
      try {
        const simulation = await call<Simulation>("POST", "/policies/simulate", {
          body: { ...facts, command: one, yaml: area.value },
          signal: own.signal,
        });
        rows.push(decided(one, tool, simulation));
      } catch (error) {
        if (own.signal.aborted || isSignedOut(error)) return;
        rows.push(html`<li><span class="error small">${reasonOf(error)}</span></li>`);
        break; // the others would fail for the same reason
      }
    }
    if (commands.length > MOST_COMMANDS) {
      rows.push(html`<li class="faint">Only the first ${MOST_COMMANDS} commands are tried.</li>`);
    }
    if (!own.signal.aborted) morph(place, html`${rows}`);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void run();
  });
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), PAUSE_MS);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void run();
  });
  place.addEventListener("click", ({ target }) => {
    const line = target instanceof Element ? target.getAttribute("data-line") : null;
    if (line !== null) goToPlace(area, Number(line), 1);
  });
  return {
    runAgain() {
      if (place.childElementCount > 0) void run();
    },
  };
}

function decided(command: string | undefined, tool = "", simulation: Simulation): Html {
  const { decision, mode, rule, doubt, program, line } = simulation;
  const observed = mode === "observe" ? { observed_decision: decision } : {};
  const place =
    line === undefined
      ? undefined
      : html`<button type="button" class="quiet" data-line="${line}">Line ${line}</button>`;
  const unallowed =
    program === undefined ? simulation.reason : `No rule allows this use of ${program}.`;
  const reason = doubt === undefined ? unallowed : `It cannot be split because of ${doubt}.`;
  const by = rule === null ? byNoRule(command) : html`by rule <code>${rule}</code>`;
  return html`<li>
    ${decisionBadge({ policy_decision: decision, ...observed })}
    <code>${unbroken(command ?? tool)}</code>
    <div>${by} ${place}</div>
    ${reason === null ? undefined : html`<div class="faint">${reason}</div>`}
  </li>`;
}
