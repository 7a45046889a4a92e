/** The files of a log that begins as `NAME.jsonl`, and goes on as `NAME-2.jsonl`, `NAME-3.jsonl` and so on. */
import { basename, dirname } from "node:path";
import { listDirectory } from "./directories.ts";
import type { FileOperations } from "./file-operations.ts";

/** The path of a file by its number, beside the first one. */
export function numberedPath(first: string, number: number): string {
  return number === 1 ? first : first.replace(/\.jsonl$/, `-${number}.jsonl`);
}

/** The numbers of the existing files, oldest first. */
export async function listNumbers(files: FileOperations, first: string): Promise<number[]> {
  const names = await listDirectory(files, dirname(first));
  const numbers = names.flatMap((name) => {
    const [, log, number = "1"] = /^(.*?)(?:-([1-9]\d*))?\.jsonl$/.exec(name) ?? [];
    return log === basename(first, ".jsonl") ? [Number(number)] : [];
  });
  return numbers.sort((a, b) => a - b);
}
