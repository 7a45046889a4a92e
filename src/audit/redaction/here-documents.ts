/** Finds the here-documents of a text: in their lines, quotes and what ends a command are text. */
import type { Quotes } from "./quotes.ts";
import type { Span } from "./spans.ts";

/** The lines of a here-document. */
export interface HereDocument extends Span {
  /** Whether its delimiter is quoted: then substitutions are text, too. */
  readonly isQuoted: boolean;
}

const OPENS =
  /(?<![<\\])<<(?<tabs>-?)[ \t]{0,8}(?:'(?<single>[^'\s]{1,80})'|"(?<double>[^"\s]{1,80})"|(?<escape>\\?)(?<bare>[^\s'"\\;&|<>()]{1,80}))/g;
/** Before a `<<` in a line: a comment, or arithmetic. */
const NO_DOCUMENT = /(?:^|[\s;])#|\(\(|\blet\s/;
const LINE_LENGTH = 1_024;
/** Later here-documents of a text are not found. */
const MOST = 16;

/** The first here-documents of a text that have the line with their delimiter. */
export function hereDocumentsOf(text: string, quotes: Quotes): readonly HereDocument[] {
  const found: HereDocument[] = [];
  OPENS.lastIndex = 0;
  for (let looks = 0; looks < MOST; looks++) {
    const open = OPENS.exec(text);
    if (open === null) break;
    const line = text.slice(Math.max(0, open.index - LINE_LENGTH), open.index);
    if (NO_DOCUMENT.test(line.slice(line.lastIndexOf("\n") + 1))) continue;
    if (quotes.around(open.index)) continue;
    const { tabs, single, double, escape, bare = "" } = open.groups ?? {};
    const start = text.indexOf("\n", OPENS.lastIndex);
    if (start === -1) break;
    const end = endOf(text, single ?? double ?? bare, start, tabs !== "");
    if (end === undefined) continue;
    found.push({ start: start + 1, end, isQuoted: bare === "" || escape === "\\" });
    OPENS.lastIndex = end;
  }
  return found;
}

/** The beginning of the line with the delimiter. */
function endOf(
  text: string,
  delimiter: string,
  from: number,
  mayIndent: boolean,
): number | undefined {
  const unindented = endBehind("\n", text, delimiter, from);
  const indented = mayIndent ? endBehind("\t", text, delimiter, from) : Infinity;
  const end = Math.min(unindented, indented);
  return end === Infinity ? undefined : end;
}

/**
 * The same where a character stands before the delimiter; `Infinity` if there is no such line. A delimiter has no white space,
 * so the tabs before each place where it stands are read once.
 */
function endBehind(lead: string, text: string, delimiter: string, from: number): number {
  const wanted = lead + delimiter;
  for (let at = text.indexOf(wanted, from); at !== -1; at = text.indexOf(wanted, at + 1)) {
    const after = text[at + wanted.length];
    if (after !== undefined && after !== "\n") continue;
    let before = at + 1;
    while (text[before - 1] === "\t") before--;
    if (text[before - 1] === "\n") return before;
  }
  return Infinity;
}
