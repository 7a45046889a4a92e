import { join } from "node:path";
import { Conflict } from "../core/errors.ts";
import { printable } from "../core/printable.ts";
import { listOrganizations } from "./directories.ts";
import { SOCKET, SYMBOLIC_LINK, type FileOperations } from "./file-operations.ts";
import { directoriesOf, type Layout } from "./layout.ts";
import { inParallel } from "./parallel.ts";

/**
 * Refuses symbolic links, pipes, sockets and devices inside a data directory. A write through a link leaves the
 * directory and the protection of its modes and its lock, and a backup would copy the target; a pipe would stop
 * the start until a program writes to it. The directory itself may be a link, and the server's own sockets stay.
 *
 * @throws Conflict naming the entry, so that a running server reports it to `signalbox backup`
 */
export async function refuseOddEntries(files: FileOperations, layout: Layout): Promise<void> {
  await refuseIn(files, layout.root, layout);
  await refuseIn(files, layout.organizations, layout);
  const ids = await listOrganizations(files, layout).catch(() => []);
  const directories = ids.flatMap((id) => directoriesOf(layout, id));
  await inParallel(directories, (directory) => refuseIn(files, directory, layout));
}

/**
 * The entries of a directory inside a data directory that are neither files nor directories, with what they are.
 * The sockets of the server are not among them.
 */
export async function oddEntries(
  files: FileOperations,
  directory: string,
  layout: Layout,
): Promise<ReadonlyMap<string, string>> {
  // A directory that cannot be read is reported by the code that needs it.
  const found = await files.readOddEntries(directory).catch(() => new Map<string, string>());
  const isOdd = ([name, kind]: [string, string]): boolean =>
    kind !== SOCKET || !layout.isSocketName(join(directory, name));
  return new Map([...found].filter(isOdd));
}

async function refuseIn(files: FileOperations, directory: string, layout: Layout): Promise<void> {
  const [odd] = await oddEntries(files, directory, layout);
  if (odd === undefined) return;
  const [name, kind] = odd;
  const wayOut =
    kind === SYMBOLIC_LINK ? "put what it leads to in its place" : "remove it, or move it away";
  throw new Conflict(
    `"${printable(join(directory, name))}" is ${kind}, which a data directory may not hold: ${wayOut}`,
  );
}
