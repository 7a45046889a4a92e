import { html, type HtmlValue } from "./html.ts";

/**
 * Runs of invisible characters that change how a text is read: controls, direction marks, tags. Joiners
 * do not count, since emoji and some scripts need them.
 */
const UNSEEN = /((?:(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}])+)/u;
const EVERY_UNSEEN = new RegExp(UNSEEN, "gu");
const MOST_NAMED = 4;
/** The most runs that are named in a text; each further run becomes one replacement character. */
const MOST_RUNS = 1_000;

/**
 * Makes invisible characters visible: with them `rm txt.exe` may read as `rm exe.txt`. Each run is put into
 * an element of its own, which ends its effect on the text around it and names its code points.
 */
export function withUnseen(text: string): HtmlValue {
  if (!UNSEEN.test(text)) return text;
  const pieces = text.split(UNSEEN, 2 * MOST_RUNS);
  const rest = text.slice(pieces.reduce((sum, { length }) => sum + length, 0));
  return [
    pieces.map((piece, i) =>
      i % 2 === 0 ? piece : html`<span class="unseen" title="${namesOf(piece)}">${piece}</span>`,
    ),
    rest.replace(EVERY_UNSEEN, "\ufffd"),
  ];
}

function namesOf(run: string): string {
  const points = Array.from(run);
  const names = points
    .slice(0, MOST_NAMED)
    .map((point) => `U+${point.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`);
  return (
    names.join(" ") + (points.length > MOST_NAMED ? ` and ${points.length - MOST_NAMED} more` : "")
  );
}
