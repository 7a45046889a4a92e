/**
 * Tells whether a data directory belongs to the demo. A demo is wiped every day, so a mistake would destroy
 * real data. A marker is written into a directory without organizations, before anything else, and only a
 * directory with that marker is ever wiped. A service that is not a demo removes the marker: from then on the
 * directory has real data.
 */
import { isObject } from "../core/validate.ts";
import { listDirectory } from "./directories.ts";
import type { FileOperations } from "./file-operations.ts";
import type { Layout } from "./layout.ts";
import { readFileIfAny, readSnapshot, syncDirectory, writeSnapshot } from "./snapshot.ts";

/**
 * `foreign`: has data that no demo made; `empty`: to be seeded; else the time of the seeding, in
 * milliseconds.
 */
export type DemoDirectory = "foreign" | "empty" | { readonly seededAt: number };

/**
 * Prepares a directory for a demo. Wipes its organizations if they are the demo's own and either half seeded
 * or due for a reset.
 *
 * @param isDue whether data that was seeded at a moment (milliseconds) is due for a reset
 */
export async function prepareDemoDirectory(
  files: FileOperations,
  layout: Layout,
  isDue: (seededAt: number) => boolean,
): Promise<DemoDirectory> {
  const marker = await readSnapshot(files, layout.demoMarker);
  const organizations = await listDirectory(files, layout.organizations);
  if (marker === undefined && organizations.length > 0) return "foreign";
  const seededAt = isObject(marker) ? marker["seeded_at"] : undefined;
  if (typeof seededAt === "number" && organizations.length > 0 && !isDue(seededAt)) {
    return { seededAt };
  }
  // Marks the wipe and the seeding as unfinished: the next start begins them again.
  await writeSnapshot(files, layout.demoMarker, { seeded_at: null });
  await files.remove(layout.organizations);
  await syncDirectory(files, layout.root);
  return "empty";
}

/** Marks a directory as seeded; until then the next start seeds it anew. */
export function markSeeded(files: FileOperations, layout: Layout, seededAt: number): Promise<void> {
  return writeSnapshot(files, layout.demoMarker, { seeded_at: seededAt });
}

/** Turns a demo's directory into one that is never wiped again. */
export async function disownDemo(files: FileOperations, layout: Layout): Promise<void> {
  if ((await readFileIfAny(files, layout.demoMarker)) === undefined) return;
  await files.remove(layout.demoMarker);
  await syncDirectory(files, layout.root);
}
