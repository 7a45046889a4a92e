import type { Pieces } from "../../core/pieces.ts";
import { cutTexts, TextCutter } from "../../core/text-cutter.ts";

/** Characters of each text of an event in a list; rows show fewer. */
export const MOST_IN_LIST = 1_000;
/** Characters of each text of the event that a reader opened. */
export const MOST_IN_EVENT = 20_000;

/** Reads rows of a store, which are JSON objects joined by commas. Long texts are cut. */
export async function rowsOf<Row>(json: Buffer | Pieces): Promise<readonly Row[]> {
  return JSON.parse(`[${await cutText(json, new TextCutter(MOST_IN_LIST))}]`) as Row[];
}

/** Reads JSON whose long texts are cut. */
export async function cutText(json: Buffer | Pieces, cutter: TextCutter): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of cutTexts(json, cutter)) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}
