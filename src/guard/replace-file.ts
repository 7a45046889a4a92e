import { renameSync, rmSync, writeFileSync } from "node:fs";

/** Replaces a file atomically, or leaves it as it is. `mode` applies to a new file, before the umask. */
export function replaceFile(path: string, text: string, mode: number): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode, flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true }); // on a full disk it would take the space that becomes free
    throw error;
  }
}
