import { html } from "../html.ts";
import { reasonOf } from "./api.ts";
import { parsed } from "./markup.ts";
import { morphElement } from "./morph.ts";

const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;

/** Tries something again after a failure, at increasing intervals, when the browser is online again, or on request. */
export class Retry {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #stopping = new AbortController();

  /** Shows what failed and why, and runs `again` after a pause. */
  after(failed: string, error: unknown, again: () => void): void {
    this.stop();
    const ms = Math.min(FIRST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS);
    this.#failures++;
    const run = (): void => {
      this.stop();
      again();
    };
    this.#timer = setTimeout(run, ms);
    addEventListener("online", run, { signal: this.#stopping.signal });
    showProblem(`${failed}: ${reasonOf(error)}. Trying again in ${ms / 1_000} s.`, run);
  }

  /** Ends the waiting. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#stopping.abort();
    this.#stopping = new AbortController();
  }

  /** The next failure is a first one again. */
  succeeded(): void {
    this.stop();
    this.#failures = 0;
  }
}

/** Shows a problem above the page, with a button where `again` is given; the next rendering of the page removes it. */
export function showProblem(problem: string, again?: () => void): void {
  const shown = document.getElementById("problem");
  const button = html`<button type="button" id="retry">Try again</button>`;
  const notice = html`<p class="notice bad" id="problem" role="alert">
    ${problem} ${again ? button : undefined}
  </p>`;
  if (shown) morphElement(shown, notice);
  else document.getElementById("content")?.prepend(parsed(notice));
  const retry = document.getElementById("retry");
  if (retry && again) retry.onclick = again;
}
