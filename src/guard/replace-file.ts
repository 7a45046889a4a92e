import { renameSync, writeFileSync } from "node:fs";

/** Replaces a file atomically. `mode` applies to a new file, before the umask. */
export function replaceFile(path: string, text: string, mode: number): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode, flush: true });
  renameSync(temporary, path);
}
