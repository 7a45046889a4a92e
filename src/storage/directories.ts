import { dirname } from "node:path";
import { ifExists, type FileOperations } from "./file-operations.ts";
import { isOrganizationId, type Layout } from "./layout.ts";
import { syncDirectory } from "./snapshot.ts";

/**
 * Makes a directory below `root`, and its parents, so that they survive a power cut. Existing ones are synced
 * as well: the server that made them may have died before their sync.
 */
export async function makeDurableDirectory(
  files: FileOperations,
  path: string,
  root: string,
): Promise<void> {
  await files.makeDirectory(path);
  for (let at = path; at !== root && at !== dirname(at); at = dirname(at)) {
    await syncDirectory(files, dirname(at));
  }
}

/**
 * Makes the data directory itself. Its parents are not synced if this process may not read them: the program
 * that made them is responsible.
 */
export async function makeRootDirectory(files: FileOperations, root: string): Promise<void> {
  await files.makeDirectory(root);
  for (let at = root; at !== dirname(at); at = dirname(at)) {
    await syncDirectory(files, dirname(at)).catch(() => {});
  }
}

/** The ids of the organizations in a data directory, in order. */
export async function listOrganizations(
  files: FileOperations,
  layout: Layout,
): Promise<readonly string[]> {
  return (await listDirectory(files, layout.organizations)).filter(isOrganizationId);
}

/** The names in a directory, in order; empty if the directory does not exist. */
export async function listDirectory(files: FileOperations, path: string): Promise<string[]> {
  const names = (await ifExists(files.readDirectory(path))) ?? [];
  return names.sort();
}
