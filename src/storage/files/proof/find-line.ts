import { isObject } from "../../../core/validate.ts";
import type { FileOperations } from "../../file-operations.ts";
import { readLines } from "../../log-lines.ts";
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
    await readLines(files, path, (line, offset) => {
      if (offset >= end) return false;
      if (line[0] === 0) return undefined; // a hole never was a line
      if (line.includes(id) && idOf(line) === id) {
        found = { file: name, at, line: Buffer.from(line) };
        return false;
      }
      at++;
      return undefined;
    });
    if (found !== undefined) return found;
  }
  return undefined;
}

function idOf(line: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return isObject(value) ? value["id"] : undefined;
  } catch {
    return undefined;
  }
}
