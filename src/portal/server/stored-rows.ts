import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COMMA } from "../../core/json/json-tokens.ts";
import { OPEN_LIST, OPEN_OBJECT, QUOTE } from "../../core/json/json-tokens.ts";
import type { Pieces } from "../../core/pieces.ts";
import { cutTexts, TextCutter } from "../../core/json/text-cutter.ts";
import type { Work } from "../../core/scheduling/work.ts";
import { Yielder } from "../../core/scheduling/yielder.ts";

/** Characters of each text of an event in a list; rows show fewer. */
export const MOST_IN_LIST = 1_000;
/** Characters of each text of the event that a reader opened. */
export const MOST_IN_EVENT = 20_000;

/** Reads rows of a store, which are JSON objects joined by commas. Long texts are cut. */
export async function rowsOf<Row>(json: Buffer | Pieces): Promise<readonly Row[]> {
  const parts = await cutParts(json, new TextCutter(MOST_IN_LIST));
  return new Yielder().run(rowsIn<Row>(parts));
}

/** Reads JSON whose long texts are cut. */
export async function cutText(json: Buffer | Pieces, cutter: TextCutter): Promise<string> {
  return Buffer.concat(await cutParts(json, cutter)).toString("utf8");
}

async function cutParts(json: Buffer | Pieces, cutter: TextCutter): Promise<readonly Buffer[]> {
  const parts: Buffer[] = [];
  for await (const part of cutTexts(json, cutter)) parts.push(part);
  return parts;
}

/**
 * Parses rows one by one: 500 rows with long texts in all of their fields have 10 MB and more, and one parse of them
 * would block the event loop.
 *
 * @param parts valid JSON objects, joined by commas, in parts of any length
 */
export function* rowsIn<Row>(parts: Iterable<Buffer>): Work<readonly Row[]> {
  const rows: Row[] = [];
  let row: Buffer[] = [];
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  for (const part of parts) {
    let start = 0;
    for (let at = 0; at < part.length; at++) {
      const code = part[at];
      if (isEscaped) isEscaped = false;
      else if (isInText && code === BACKSLASH) isEscaped = true;
      else if (code === QUOTE) isInText = !isInText;
      else if (isInText) continue;
      else if (code === OPEN_OBJECT || code === OPEN_LIST) depth++;
      else if (code === COMMA && depth === 0) start = at + 1;
      else if ((code === CLOSE_OBJECT || code === CLOSE_LIST) && --depth === 0) {
        row.push(part.subarray(start, at + 1));
        rows.push(JSON.parse(Buffer.concat(row).toString("utf8")) as Row);
        row = [];
        start = at + 1;
        yield;
      }
    }
    row.push(part.subarray(start));
    yield;
  }
  return rows;
}
