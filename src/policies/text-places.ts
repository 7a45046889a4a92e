/** The place of an offset in a text; line and column are counted from 1. */
interface TextPlace {
  readonly line: number;
  readonly column: number;
}

const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/**
 * Finds the places of offsets, in UTF-16 code units. Lines end at LF, CR LF or CR. The offsets must ascend:
 * the text may consist of line breaks, so it is read only once.
 */
export function placesIn(text: string): (offset: number) => TextPlace {
  let line = 1;
  let start = text.startsWith("\uFEFF") ? 1 : 0; // a byte order mark has no column
  let at = start;
  return (offset) => {
    for (; at < offset; at++) {
      const code = text.charCodeAt(at);
      const isBreak =
        code === LINE_FEED || (code === RETURN && text.charCodeAt(at + 1) !== LINE_FEED);
      if (!isBreak) continue;
      line++;
      start = at + 1;
    }
    return { line, column: Math.max(offset - start, 0) + 1 };
  };
}
