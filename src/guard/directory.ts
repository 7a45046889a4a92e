import { lstatSync, mkdirSync, type Stats } from "node:fs";

/** The mode bits that let group and others write. */
const WRITABLE_BY_OTHERS = 0o022;
const ROOT = 0;

/**
 * Makes the guard's directory if it is missing. A policy that others can write cannot be trusted, so the
 * directory must belong to the user, and no other user may write to it.
 *
 * @returns the fault of the directory; `undefined` if it can be used
 */
export function directoryFault(path: string): string | undefined {
  if (path === "")
    return "GUARD_DIR: expected a directory, because this user has no home directory";
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const stats = lstatSync(path);
    if (!stats.isDirectory()) return `GUARD_DIR: "${path}" is not a directory`;
    return ownershipFault("GUARD_DIR", path, stats);
  } catch (error) {
    return `GUARD_DIR: "${path}" cannot be used: ${(error as NodeJS.ErrnoException).code}`;
  }
}

/** Describes a wrong owner or mode of a file; `undefined` if it can be trusted. */
export function ownershipFault(name: string, path: string, stats: Stats): string | undefined {
  const user = process.getuid?.();
  if (user === undefined) return undefined; // Windows, where the profile protects its files
  // An administrator may provide files, but the directory must be the user's to write in it.
  const isTrusted = stats.uid === user || (stats.uid === ROOT && stats.isFile());
  if (!isTrusted) return `${name}: "${path}" belongs to another user`;
  if ((stats.mode & WRITABLE_BY_OTHERS) === 0) return undefined;
  return `${name}: "${path}" can be written by other users: chmod go-w it`;
}
