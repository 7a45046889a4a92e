import { html } from "../html.ts";
import { decisionBadge } from "../pages/parts.ts";
import { call, isSignedOut, reasonOf } from "./api.ts";
import { morph } from "./morph.ts";

interface Simulation {
  readonly decision: string;
  readonly rule: string | null;
  readonly reason: string | null;
}

/** The simulator, which decides a command by the editor's text. */
export interface Simulator {
  /** Decides the last command again, if there was one. */
  runAgain(): void;
}

/** Connects the form of a command with the element that shows the decision. */
export function serveSimulator(
  form: HTMLFormElement,
  place: HTMLElement,
  area: HTMLTextAreaElement,
): Simulator {
  let underWay: AbortController | undefined;
  let wasAsked = false;
  const run = async (): Promise<void> => {
    underWay?.abort();
    const own = new AbortController();
    underWay = own;
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    try {
      const { decision, rule, reason } = await call<Simulation>("POST", "/policies/simulate", {
        body: { ...Object.fromEntries(fields), yaml: area.value },
        signal: own.signal,
      });
      if (own.signal.aborted) return;
      const by = rule === null ? "by the default" : html`by rule <code>${rule}</code>`;
      morph(
        place,
        html`${decisionBadge(decision)}
          <span>${by}${reason === null ? undefined : `: ${reason}`}</span>`,
      );
    } catch (error) {
      if (own.signal.aborted || isSignedOut(error)) return;
      morph(place, html`<span class="error">${reasonOf(error)}</span>`);
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    wasAsked = true;
    void run();
  });
  return {
    runAgain() {
      if (wasAsked) void run();
    },
  };
}
