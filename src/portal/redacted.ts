import { html, type Html, type HtmlValue } from "./html.ts";

/** A mark in place of a secret. */
const MARK = /\[redacted:([\w-]{1,40})\]/;
/** The most marks of a text that become elements; reports may contain any number. */
const MOST_MARKS = 1_000;

/**
 * Sets off the marks in place of secrets.
 *
 * @param show renders the text beside marks
 */
export function withMarks(
  text: string,
  show: (text: string) => HtmlValue = (plain) => plain,
): HtmlValue {
  if (!text.includes("[redacted:")) return show(text);
  const pieces = text.split(MARK, 2 * MOST_MARKS);
  const end = pieces.reduce(
    (sum, piece, i) => sum + piece.length + (i % 2) * "[redacted:]".length,
    0,
  );
  return [
    pieces.map((piece, i) => (i % 2 === 0 ? show(piece) : mark(piece))),
    show(text.slice(end)),
  ];
}

/** How many marks the texts of an event have. */
export function marksIn(texts: readonly (string | undefined)[]): number {
  const every = new RegExp(MARK, "g");
  return texts.reduce((sum, text) => sum + (text?.match(every)?.length ?? 0), 0);
}

function mark(rule: string): Html {
  return html`<span class="redacted" title="A secret was taken out by the rule ${rule}"
    >[redacted:${rule}]</span
  >`;
}
