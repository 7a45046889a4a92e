/** Tests the text of the policy editor on recorded commands, and adds examples to the text. */
import type { RuleDraft } from "../../policies/schema.ts";
import type { Compared, PolicyReplayReport } from "../../replay/report.ts";
import { html, type Html } from "../html.ts";
import { ApiError } from "../pages/api-source.ts";
import { observes } from "../pages/policy-text.ts";
import { renderReplay, replaySpan, spanFilter } from "../pages/policy-replay.ts";
import { messagesOf } from "./server-sent-events.ts";
import { call, isSignedOut, open, reasonOf } from "./api.ts";
import { serviceNow } from "./clock.ts";
import { openDialog } from "./dialog.ts";
import { parsed } from "./markup.ts";
import { morph } from "./morph.ts";

const PERCENT = 100;

/** The data of an event of the stream. */
type Told =
  | PolicyReplayReport
  | { readonly evaluated: number; readonly total: number }
  | { readonly error: string };

/** The document that decides, a text or a stored version, and what is compared. */
type Replayed = ({ readonly yaml: string } | { readonly version: string }) & {
  readonly compare: Compared;
};

/** Connects the button, the state and the report below a place with the editor's text. */
export function serveReplay(
  place: HTMLElement,
  area: HTMLTextAreaElement,
  render: (report: PolicyReplayReport) => Html,
): { readonly show: (report: PolicyReplayReport, words: string) => void } {
  const state = place.querySelector<HTMLElement>("[data-state]");
  const shown = place.querySelector<HTMLElement>("[data-report]");
  if (!state || !shown) throw new Error("The editor has no place for the replay");
  let tested: string | undefined;
  const say = (text: string): void => void (state.textContent = text);
  const runner = new ReplayRunner(place, say);
  const run = (): void => {
    const yaml = area.value;
    // Of a text that observes, the reader wants to know what it would deny.
    const compare = observes(yaml) ? "decisions" : "effects";
    void runner.run({ yaml, compare }, (report) => {
      tested = yaml;
      morph(shown, render(report));
      showAge();
    });
  };
  const showAge = (): void => {
    if (tested !== undefined) {
      say(tested === area.value ? "" : "The text has changed since: test it again.");
    }
  };
  const add = async (event: string, effect: string): Promise<void> => {
    try {
      const body = { event, effect, yaml: area.value };
      const { yaml, changes } = await call<RuleDraft>("POST", "/policies/draft-rule", { body });
      const isNewTest = effect === "test" && yaml !== area.value;
      area.value = yaml;
      area.dispatchEvent(new Event("input"));
      const change = changes.find((one) => one.change !== "none") ?? changes[0];
      const said = `${change?.message ?? "Added"}.`;
      const more = effect === "test" ? "" : " Test the text again.";
      say(isNewTest ? "The test was added to the text." : said + more);
    } catch (error) {
      if (!isSignedOut(error)) say(reasonOf(error));
    }
  };
  place.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("button") : null;
    const { test, effect = "test" } = button?.dataset ?? {};
    if (button?.matches("[data-run]")) run();
    else if (test !== undefined) void add(test, effect);
  });
  place.addEventListener("change", () => {
    if (tested !== undefined) run(); // the report is of other commands
  });
  area.addEventListener("input", showAge);
  return {
    show(report, words) {
      runner.abort();
      tested = area.value;
      morph(shown, render(report));
      say(words);
      place.scrollIntoView({ block: "center" });
    },
  };
}

/** The filter of the commands that the reader chose below an element. */
function chosenSpan(place: HTMLElement): ReturnType<typeof spanFilter> {
  const { value = "" } = place.querySelector<HTMLSelectElement>("#replay-span") ?? {};
  return spanFilter(value, serviceNow());
}

/** Shows which decisions on recorded commands a stored version would change. */
export function showReplayOf(version: string): void {
  const dialog = openDialog(
    html`<h2 id="dialog-title">What <span class="mono">${version}</span> would change</h2>
      <p class="faint small">Decides recorded commands by this version. Nothing is stored.</p>
      <div class="span">${replaySpan()}</div>
      <p class="small" role="status" data-state>Waiting for the first events…</p>
      <div class="replay" data-report></div>
      <form method="dialog" class="buttons"><button type="submit">Close</button></form>`,
    "wide",
  );
  const state = dialog.querySelector("[data-state]");
  const shown = dialog.querySelector("[data-report]");
  const say = (text: string): void => void (state && (state.textContent = text));
  const runner = new ReplayRunner(dialog, say);
  const run = (): void =>
    void runner.run({ version, compare: "effects" }, (report) =>
      shown?.replaceChildren(parsed(renderReplay(report, true, false))),
    );
  dialog.addEventListener("close", () => runner.abort());
  dialog.addEventListener("change", run);
  run();
}

/** Runs the replays of a place, of which the last one counts, and says how far it is. */
class ReplayRunner {
  readonly #place: HTMLElement;
  readonly #say: (text: string) => void;
  #underWay = new AbortController();

  constructor(place: HTMLElement, say: (text: string) => void) {
    this.#place = place;
    this.#say = say;
  }

  async run(document: Replayed, show: (report: PolicyReplayReport) => void): Promise<void> {
    this.#underWay.abort();
    const { signal } = (this.#underWay = new AbortController());
    this.#say("Waiting for the first events…");
    try {
      const body = { ...document, ...chosenSpan(this.#place) };
      const report = await replay(body, signal, (evaluated, total) =>
        this.#say(progressWords(evaluated, total)),
      );
      this.#say("");
      show(report);
    } catch (error) {
      if (!signal.aborted && !isSignedOut(error)) this.#say(reasonOf(error));
    }
  }

  abort(): void {
    this.#underWay.abort();
  }
}

function progressWords(evaluated: number, total: number): string {
  return `${Math.floor((PERCENT * evaluated) / Math.max(total, 1))} % of the events decided`;
}

/** Runs a replay; resolves with its report. */
async function replay(
  body: ReturnType<typeof spanFilter> & Replayed,
  signal: AbortSignal,
  onProgress: (evaluated: number, total: number) => void,
): Promise<PolicyReplayReport> {
  const headers = { Accept: "text/event-stream" };
  const options = { body, headers, signal, isEndless: true };
  const response = await open("POST", "/policies/replay", options);
  for await (const messages of messagesOf(response)) {
    for (const { data } of messages) {
      if (data === undefined) continue;
      const told = JSON.parse(data) as Told;
      if ("error" in told) throw new ApiError(0, told.error);
      if ("total" in told) onProgress(told.evaluated, told.total);
      else return told;
    }
  }
  throw new ApiError(0, "The service ended the test before its result: try again");
}
