import type { AppendLogOptions } from "../../src/storage/append-log-options.ts";
import { AppendLog } from "../../src/storage/append-log.ts";
import { makeDurableDirectory } from "../../src/storage/directories.ts";
import type { FileOperations } from "../../src/storage/file-operations.ts";
import { setImmediate as turn } from "node:timers/promises";
import { ForgetfulFiles, type HeldSync } from "../support/forgetful-files.ts";

export const FIRST = "/log/1";
export const SECOND = "/log/2";

interface Place {
  readonly sequence: number;
  readonly offset: number;
  readonly length: number;
}

/** A disk with an empty log directory, or with one file of a log. */
export async function disk(text?: string): Promise<ForgetfulFiles> {
  const files = new ForgetfulFiles();
  await makeDurableDirectory(files, "/log", "/");
  if (text !== undefined) {
    const descriptor = await files.open(FIRST, "w");
    files.writeSync(descriptor, Buffer.from(text), 0);
    await files.close(descriptor);
  }
  return files;
}

/** Opens the log of that directory. */
export function open(
  files: FileOperations,
  last?: number,
  options?: Partial<AppendLogOptions>,
): Promise<AppendLog> {
  const pathOf = (sequence: number): string => `/log/${sequence}`;
  return AppendLog.open({ files, now: () => 0, pathOf, ...options }, last);
}

/** Appends a text, and returns its place. */
export function append(
  log: AppendLog,
  text: string | Buffer,
  durability: "sync" | "write" = "sync",
) {
  return new Promise<Place>((resolve, reject) => {
    log.append(text, durability, (error, sequence, offset, length) => {
      if (error === null) resolve({ sequence, offset, length });
      else reject(error);
    });
  });
}

/** Lets the log run until it only waits for the disk. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await turn();
}

/** Makes syncs wait, and returns the list of waiting ones. */
export function hold(files: ForgetfulFiles): HeldSync[] {
  files.held = [];
  return files.held;
}

/** Starts one append in each turn, each with a write and a sync of its own; notes their results. */
export async function startAppends(log: AppendLog, texts: readonly string[]): Promise<string[]> {
  const ended: string[] = [];
  for (const text of texts) {
    append(log, `${text}\n`).then(
      () => ended.push(`${text} stored`),
      (error: NodeJS.ErrnoException) => ended.push(`${text} ${error.code}`),
    );
    await settle();
  }
  return ended;
}
