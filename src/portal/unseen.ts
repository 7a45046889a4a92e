/**
 * Runs of invisible characters that change how a text is read: controls, direction marks, tags. Joiners
 * do not count, since emoji and some scripts need them.
 */
const UNSEEN = /((?:(?![\t\n\r\u200c\u200d])[\p{Cc}\p{Cf}])+)/u;
const EVERY_UNSEEN = new RegExp(UNSEEN, "gu");
/** A quick test: most texts have none of the characters among which the invisible ones are. */
const SUSPECT = /[^\t\n\r -~]/;
const MOST_NAMED = 4;
/** The most runs that are named in a text; each further run becomes one replacement character. */
const MOST_RUNS = 1_000;

/**
 * Splits a text at its runs of invisible characters; `undefined` without any.
 *
 * @returns the pieces, of which each second one is a run
 */
export function splitAtUnseen(text: string): readonly string[] | undefined {
  if (!SUSPECT.test(text) || !UNSEEN.test(text)) return undefined;
  const pieces = text.split(UNSEEN, 2 * MOST_RUNS);
  const rest = text.slice(pieces.reduce((sum, { length }) => sum + length, 0));
  return rest === "" ? pieces : [...pieces, rest.replace(EVERY_UNSEEN, "\ufffd")];
}

/** The names of the code points of a run. */
export function namesOf(run: string): string {
  const points = Array.from(run);
  const names = points
    .slice(0, MOST_NAMED)
    .map((point) => `U+${point.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`);
  const rest = points.length - MOST_NAMED;
  return names.join(" ") + (rest > 0 ? ` and ${rest} more` : "");
}
