import { renameSync, rmSync, writeFileSync } from "node:fs";

/**
 * Replaces a file atomically, or leaves it as it is. `mode` applies to a new file, before the umask. The folder may be one
 * of a project that others wrote, with links to any file: so the name of the new file cannot be known before, and no link
 * is followed.
 */
export function replaceFile(path: string, text: string, mode: number): void {
  const temporary = `${path}.${Math.random().toString(36).slice(2, 12)}.tmp`;
  try {
    writeFileSync(temporary, text, { mode, flush: true, flag: "wx" });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true }); // on a full disk it would take the space that becomes free
    throw error;
  }
}
