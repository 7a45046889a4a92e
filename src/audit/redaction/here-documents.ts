/** Finds the here-documents of a text: in their lines, quotes and what ends a command are text. */
import type { Quotes } from "./quotes.ts";
import type { Span } from "./spans.ts";

/** The lines of a here-document. */
export interface HereDocument extends Span {
  /** Whether its delimiter is quoted: then substitutions are text, too. */
  readonly isQuoted: boolean;
}

const OPENS =
  /(?<!<)<<-?[ \t]{0,8}(?:'(?<single>[^'\n]{1,80})'|"(?<double>[^"\n]{1,80})"|(?<escape>\\?)(?<bare>[^\s'"\\;&|<>()]{1,80}))/g;
/** Later here-documents of a text are not found. */
const MOST = 16;

/** The first here-documents of a text. */
export function hereDocumentsOf(text: string, quotes: Quotes): readonly HereDocument[] {
  const found: HereDocument[] = [];
  OPENS.lastIndex = 0;
  while (found.length < MOST) {
    const open = OPENS.exec(text);
    if (open === null) break;
    if (quotes.around(open.index)) continue;
    const { single, double, escape, bare = "" } = open.groups ?? {};
    const start = text.indexOf("\n", OPENS.lastIndex);
    if (start === -1) break;
    const end = endOf(text, single ?? double ?? bare, start);
    found.push({ start: start + 1, end, isQuoted: bare === "" || escape === "\\" });
    OPENS.lastIndex = Math.max(end, start);
  }
  return found;
}

/** The beginning of the line with the delimiter, or the end of the text. */
function endOf(text: string, delimiter: string, from: number): number {
  for (let at = text.indexOf(delimiter, from); at !== -1; at = text.indexOf(delimiter, at + 1)) {
    let before = at;
    while (text[before - 1] === "\t") before--;
    const after = text[at + delimiter.length];
    if (text[before - 1] === "\n" && (after === undefined || after === "\n")) return before;
  }
  return text.length;
}
