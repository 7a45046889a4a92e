import type { PolicyProblem } from "../../policies/schema.ts";
import { html, type Html } from "../html.ts";
import { highlighter, type Token } from "../yaml-highlight.ts";
import { colouredToken, LONGEST_COLOURED } from "./policy-text.ts";

/** As many lines as a tall window shows. */
const OPENING_LINES = 60;
const OPENING_CHARACTERS = 8_192;

/** The lines of a text that is edited. */
export interface EditedText {
  readonly lines: readonly string[];
  /** The tokens of each line; `undefined` where the text is too long for colours. */
  readonly tokens: readonly (readonly Token[])[] | undefined;
  /** By the number of their line. */
  readonly problems?: ReadonlyMap<number, PolicyProblem>;
}

/** Lines in colours, each with a line break, and their numbers for the margin. */
export interface PaintedLines {
  readonly text: Html;
  readonly numbers: Html;
}

/** Renders the lines from `first` up to `end`, both counted from 0. */
export function paintedLines(edited: EditedText, first: number, end: number): PaintedLines {
  const shown = Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i);
  return {
    text: html`${shown.map((at) => html`${line(edited, at)}${"\n"}`)}`,
    numbers: html`${shown.map((at) => number(edited, at + 1))}`,
  };
}

/** Renders the first lines of a text, so that they have their colours before any module is loaded. */
export function openingLines(text: string): PaintedLines {
  const lines = text.slice(0, OPENING_CHARACTERS).split("\n").slice(0, OPENING_LINES);
  if (text.length > OPENING_CHARACTERS) lines.pop(); // it may be cut
  return paintedLines({ lines, tokens: lines.map(highlighter()) }, 0, lines.length);
}

function line({ lines, tokens, problems }: EditedText, at: number): Html {
  const text = lines[at] ?? "";
  const found = text.length <= LONGEST_COLOURED ? tokens?.[at] : undefined;
  const content = found?.map(colouredToken) ?? text;
  const problem = problems?.get(at + 1);
  if (!problem) return html`${content}`;
  return html`<u>${content}</u> <i>${problem.message}</i>`;
}

function number({ problems }: EditedText, at: number): Html {
  const problem = problems?.get(at);
  if (!problem) return html`${at}${"\n"}`;
  return html`<b data-line="${at}" title="${problem.message}">${at}</b>${"\n"}`;
}
