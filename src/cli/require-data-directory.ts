import { systemFiles } from "../storage/file-operations.ts";
import type { Layout } from "../storage/layout.ts";
import { readFileIfAny } from "../storage/snapshot.ts";

/**
 * Checks that the data directory exists; never creates it.
 *
 * @throws Error if it does not exist
 */
export async function requireDataDirectory(layout: Layout): Promise<void> {
  if ((await readFileIfAny(systemFiles, layout.format)) === undefined) {
    throw new Error(`"${layout.root}" is not a data directory: it has no format.json`);
  }
}
