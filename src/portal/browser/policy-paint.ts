import type { PolicyProblem } from "../../policies/schema.ts";
import { html } from "../html.ts";
import { paintedLines } from "../pages/painted-lines.ts";
import { DOCUMENT_CHARACTERS } from "../pages/policy-text.ts";
import { highlighter, type Token } from "../yaml-highlight.ts";
import { parsed } from "./markup.ts";

/** Lines that are painted above and below those in sight. */
const BEYOND = 8;

/** The colours of the text in a text area, and the line numbers and problems in its margin. */
export interface PolicyPaint {
  /** Paints the text as it is now. */
  draw(): void;
  /** Marks problems of the text from now on. */
  mark(problems: readonly PolicyProblem[]): void;
}

/**
 * Paints over a text area, whose own text is transparent: an element in front of it has the same text in
 * colours, line by line, as far as it is in sight. Both have the same font, so every letter covers its own.
 *
 * @param onMark called with a problem when its line number is pressed
 */
export function servePaint(
  area: HTMLTextAreaElement,
  paint: HTMLElement,
  gutter: HTMLElement,
  onMark: (problem: PolicyProblem) => void,
): PolicyPaint {
  let problems: ReadonlyMap<number, PolicyProblem> = new Map();
  let painted: string | undefined;
  let lines: readonly string[] = [];
  let tokens: readonly (readonly Token[])[] | undefined;

  const read = (): void => {
    if (painted === area.value) return;
    painted = area.value;
    lines = painted.split("\n");
    tokens = painted.length > DOCUMENT_CHARACTERS ? undefined : lines.map(highlighter());
  };
  const draw = (): void => {
    read();
    const height = parseFloat(getComputedStyle(area).lineHeight);
    const first = Math.max(0, Math.floor(area.scrollTop / height) - BEYOND);
    const end = Math.min(lines.length, first + Math.ceil(area.clientHeight / height) + 2 * BEYOND);
    const top = first * height - area.scrollTop;
    const { text, numbers } = paintedLines({ lines, tokens, problems }, first, end);
    paint.replaceChildren(parsed(text));
    paint.style.transform = `translate(${-area.scrollLeft}px, ${top}px)`;
    gutter.replaceChildren(parsed(html`<div>${numbers}</div>`));
    (gutter.firstChild as HTMLElement).style.transform = `translateY(${top}px)`;
  };
  gutter.addEventListener("click", ({ target }) => {
    const at = target instanceof HTMLElement ? target.dataset["line"] : undefined;
    const problem = at === undefined ? undefined : problems.get(Number(at));
    if (problem) onMark(problem);
  });
  area.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(area);
  area.parentElement?.classList.add("painted");
  return {
    draw,
    mark(found) {
      problems = new Map(found.toReversed().map((problem) => [problem.line, problem]));
      draw();
    },
  };
}
