/** Lines of a file of checkpoints, such as `checkpoints.jsonl`. */
import { jsonOrUndefined } from "../core/json/json.ts";
import { isObject } from "../core/validate.ts";

/** The line of a checkpoint. */
export function noteLine(note: string): string {
  return `${JSON.stringify({ note })}\n`;
}

/** The note in a line. */
export function readNote(line: string): string {
  const value = jsonOrUndefined(line);
  const note = isObject(value) ? value["note"] : undefined;
  if (typeof note !== "string") throw new Error("is not a record of a checkpoint");
  return note;
}
