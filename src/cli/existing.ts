import { systemFiles } from "../storage/file-operations.ts";
import type { Layout } from "../storage/layout.ts";
import { readFileIfAny } from "../storage/snapshot.ts";

/**
 * Makes sure that there is a data directory, and makes none.
 *
 * @throws Error when there is not
 */
export async function requireDataDirectory(layout: Layout): Promise<void> {
  if ((await readFileIfAny(systemFiles, layout.format)) === undefined) {
    throw new Error(`"${layout.root}" is no data directory: it holds no format.json`);
  }
}
