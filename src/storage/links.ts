import { join } from "node:path";
import { Conflict } from "../core/errors.ts";
import { printable } from "../core/printable.ts";
import { listDirectory } from "./directories.ts";
import type { FileOperations } from "./file-operations.ts";
import { isOrganizationId, type Layout } from "./layout.ts";
import { inParallel } from "./parallel.ts";

/**
 * Refuses symbolic links inside a data directory: a write through a link leaves the directory and the
 * protection of its modes and its lock, and a backup would copy the target. The directory itself may be a
 * link.
 *
 * @throws Conflict naming the link, so that a running server reports it to `signalbox backup`
 */
export async function refuseLinks(files: FileOperations, layout: Layout): Promise<void> {
  await refuseLinksIn(files, layout.root);
  await refuseLinksIn(files, layout.organizations);
  const ids = await listDirectory(files, layout.organizations).catch(() => []);
  const directories = ids.filter(isOrganizationId).flatMap((id) => {
    const { directory, policies, audit } = layout.organization(id);
    return [directory, policies, audit];
  });
  await inParallel(directories, (directory) => refuseLinksIn(files, directory));
}

async function refuseLinksIn(files: FileOperations, directory: string): Promise<void> {
  // A directory that cannot be read is reported by the code that needs it.
  const [link] = await files.readLinks(directory).catch(() => []);
  if (link === undefined) return;
  throw new Conflict(
    `"${printable(join(directory, link))}" is a symbolic link, which a data directory may not hold: ` +
      "put what it leads to in its place",
  );
}
