import type { AuditEvent } from "../../audit/schema.ts";
import type { Pieces } from "../../core/pieces.ts";
import { cutTexts, TextCutter } from "../../core/text-cutter.ts";

/** Rows as a store gives them: JSON objects, joined by commas. */
interface JsonRows {
  readonly json: Buffer | Pieces;
}

/** Characters of a text that a list is given; its rows show fewer. */
export const MOST_IN_LIST = 1_000;
/** Characters of a text of the event that a reader opened. */
export const MOST_IN_EVENT = 20_000;

/** The rows of a list, their long texts cut. */
export async function rowsOf<Row>({ json }: JsonRows): Promise<readonly Row[]> {
  const text = await cutText(json, new TextCutter(MOST_IN_LIST));
  return JSON.parse(`[${text}]`) as Row[];
}

/** The events of a list, their long texts cut. */
export function eventsOf(rows: JsonRows): Promise<readonly AuditEvent[]> {
  return rowsOf<AuditEvent>(rows);
}

/** One event; `isCut` says that a text of it was too long for a page. */
export async function eventOf(
  json: Buffer,
): Promise<{ readonly event: AuditEvent; readonly isCut: boolean }> {
  const cutter = new TextCutter(MOST_IN_EVENT);
  const event = JSON.parse(await cutText(json, cutter)) as AuditEvent;
  return { event, isCut: cutter.hasCut };
}

async function cutText(json: JsonRows["json"], cutter: TextCutter): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of cutTexts(json, cutter)) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}
