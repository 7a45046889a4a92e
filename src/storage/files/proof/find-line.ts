import { idOfLine } from "../../../signed-logs/prove.ts";
import type { FileOperations } from "../../file-operations.ts";
import { readLines, type TakeLine } from "../../log-lines.ts";
import type { LogPart } from "./log-sources.ts";

/** A line of a log, and its place. */
export interface FoundLine {
  /** The name of its file. */
  readonly file: string;
  /** Its number in the file, from 0. */
  readonly at: number;
  readonly line: Buffer;
}

/** Finds the first line with an id by reading a log's files. */
export async function findLine(
  files: FileOperations,
  parts: readonly LogPart[],
  id: string,
): Promise<FoundLine | undefined> {
  for (const { name, path, end } of parts) {
    let found: FoundLine | undefined;
    let at = 0;
    const take: TakeLine = (line) => {
      if (line[0] === 0) return undefined; // a hole never was a line
      if (line.includes(id) && idOfLine(line.toString("utf8")) === id) {
        found = { file: name, at, line: Buffer.from(line) };
        return false;
      }
      at++;
      return undefined;
    };
    await readLines(files, path, take, { end });
    if (found !== undefined) return found;
  }
  return undefined;
}
