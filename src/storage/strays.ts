import { join } from "node:path";
import { listDirectory, listOrganizations } from "./directories.ts";
import type { FileOperations } from "./file-operations.ts";
import { directoriesOf, type Layout } from "./layout.ts";
import { inParallel } from "./parallel.ts";
import { TEMPORARY_SUFFIX } from "./snapshot.ts";

/**
 * Removes the unfinished files of a dead process. They were never committed, and later writes would not replace
 * them, since each write has its own name. Only the owner of the directory may call this.
 */
export async function removeStrays(files: FileOperations, layout: Layout): Promise<void> {
  const ids = await listOrganizations(files, layout);
  const directories = ids.flatMap((id) => directoriesOf(layout, id));
  await inParallel([layout.root, ...directories], async (directory) => {
    for (const name of await listDirectory(files, directory)) {
      if (name.endsWith(TEMPORARY_SUFFIX)) await files.remove(join(directory, name));
    }
  });
}
