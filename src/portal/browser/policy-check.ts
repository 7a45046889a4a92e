import { SCHEMA_NAME, UNCHECKED } from "../../policies/document-keys.ts";
import type { PolicyProblem } from "../../policies/schema.ts";
import { html } from "../html.ts";
import { call, reasonOf } from "./api.ts";
import { morph } from "./morph.ts";

const VALID = "Valid: it could be published";
const UNCHANGED = "Valid, without a change";
const IS_CHECKED = new RegExp(`\\bschema["']?\\s*:\\s*["']?${SCHEMA_NAME}\\b`);

/** The pause before a failed check is repeated. */
const AGAIN_MS = 3_000;
const LONGEST_SHOWN = 200;

/** The checks of a text. */
export interface Check {
  /** Has the service check the text; aborts a check in progress. */
  run(): Promise<void>;
  /** Shows that the result is of an earlier text. */
  expire(): void;
  /** Whether the text as it is now was found valid. */
  isValid(): boolean;
}

/** The parts of the page that show the result of a check. */
export interface CheckPlaces {
  readonly area: HTMLTextAreaElement;
  /** The list of problems. */
  readonly list: HTMLElement;
  readonly verdict: HTMLElement;
}

/** The editor around a check. */
export interface CheckListener {
  /** Whether the text differs from the version that it is meant to replace. */
  isChanged(): boolean;
  /** Called after each check. */
  onChecked(problems: readonly PolicyProblem[]): void;
}

/** Connects a text area with its list of problems and its verdict. */
export function serveCheck({ area, list, verdict }: CheckPlaces, listener: CheckListener): Check {
  let valid: string | undefined;
  let problems: readonly PolicyProblem[] = [];
  let underWay: AbortController | undefined;
  const show = (words: string, tone: string): void => {
    verdict.textContent = words;
    verdict.className = `small ${tone}`;
    area.setAttribute("aria-invalid", String(problems.length > 0));
    const lines = area.value.split("\n");
    morph(
      list,
      html`${problems.map(
        ({ line, column, message }) =>
          html`<li>
            <button type="button" class="quiet" data-line="${line}" data-column="${column}">
              Line ${line}, column ${column}</button
            ><span>${message}</span><code>${lines[line - 1]?.slice(0, LONGEST_SHOWN)}</code>
          </li>`,
      )}`,
    );
  };
  const run = async (): Promise<void> => {
    underWay?.abort();
    const own = new AbortController();
    underWay = own;
    const yaml = area.value;
    try {
      const found = await call<{ readonly problems: readonly PolicyProblem[] }>(
        "POST",
        "/policies/validate",
        { body: { yaml }, signal: own.signal },
      );
      if (own.signal.aborted) return;
      problems = found.problems;
      valid = problems.length === 0 ? yaml : undefined;
      if (problems.length === 0) {
        const words = listener.isChanged() ? VALID : UNCHANGED;
        show(IS_CHECKED.test(yaml) ? words : words + UNCHECKED, "ok-text");
      } else show(problems.length === 1 ? "1 problem" : `${problems.length} problems`, "error");
    } catch (error) {
      if (own.signal.aborted) return;
      problems = [];
      valid = undefined;
      show(`Not checked: ${reasonOf(error)}`, "error");
      setTimeout(() => {
        if (underWay === own) void run();
      }, AGAIN_MS);
    }
    listener.onChecked(problems);
  };
  list.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (button) goToPlace(area, Number(button.dataset["line"]), Number(button.dataset["column"]));
  });
  return {
    run,
    expire() {
      verdict.textContent = "Checking…";
      verdict.className = "small faint";
    },
    isValid: () => valid === area.value,
  };
}

/** Moves the caret to the line with a text that is nearest to a line, since lines may have moved. */
export function goToLine(area: HTMLTextAreaElement, line: number, text: string): void {
  const found = area.value.split("\n").flatMap((one, i) => (one === text ? [i + 1] : []));
  const [nearest = line] = found.sort((a, b) => Math.abs(a - line) - Math.abs(b - line));
  goToPlace(area, nearest, text.search(/\S/) + 1);
}

/** Moves the caret to a place and selects the rest of its line. */
export function goToPlace(area: HTMLTextAreaElement, line: number, column: number): void {
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  const text = lines[line - 1] ?? "";
  area.focus();
  area.setSelectionRange(start + Math.min(column - 1, text.length), start + text.length);
  area.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(area).lineHeight));
}
