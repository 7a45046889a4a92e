/** Writes, checks and restores backups. */
import { randomBytes } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import { listDirectory, makeDurableDirectory } from "../directories.ts";
import { faultAt } from "../disk-fault.ts";
import type { FileOperations } from "../file-operations.ts";
import { readFileIfAny, replaceFile, syncDirectory, TEMPORARY_SUFFIX } from "../snapshot.ts";
import { copyFile, digestFile } from "./copy.ts";
import { MANIFEST, manifestText, readManifest, type Manifest } from "./manifest.ts";
import type { StagedFile } from "./staging.ts";

export interface BackupSource {
  readonly directory: string;
  readonly files: readonly StagedFile[];
  /** The time at which the files of the backup were named, in RFC 3339. */
  readonly created_at: string;
  readonly version: string;
}

/**
 * Copies the files of one moment into a new or empty directory. The manifest is written last; a directory
 * without it is not a backup.
 *
 * @throws Error when the target is not empty, or something cannot be copied
 */
export async function writeBackup(
  files: FileOperations,
  { directory, files: named, created_at, version }: BackupSource,
  target: string,
): Promise<Manifest> {
  await refuseIfNotEmpty(files, target, "choose another TARGET");
  const to = resolve(target);
  await makeDurableDirectory(files, to, dirname(to));
  const copied: Manifest["files"][number][] = [];
  for (const file of named) {
    copied.push({ ...file, sha256: await copyFile(files, file, directory, to) });
  }
  const manifest = { created_at, version, files: copied };
  const path = join(to, MANIFEST);
  const bytes = Buffer.from(manifestText(manifest), "utf8");
  await replaceFile(files, path, bytes).catch((error: unknown) => {
    throw faultAt(path, error);
  });
  return manifest;
}

/**
 * Reads a backup's manifest and checks that exactly the files in it exist.
 *
 * @throws Error naming the fault
 */
export async function openBackup(files: FileOperations, backup: string): Promise<Manifest> {
  const path = join(backup, MANIFEST);
  const bytes = await readFileIfAny(files, path);
  if (bytes === undefined) {
    throw new Error(`"${backup}" is not a backup: it has no ${MANIFEST}, which is written last`);
  }
  let manifest: Manifest;
  try {
    manifest = readManifest(bytes);
  } catch (error) {
    throw new Error(`The backup is damaged: ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  const named = new Set(manifest.files.map((file) => file.path));
  for (const found of await filesBelow(files, backup, "")) {
    if (found !== MANIFEST && !named.has(found)) {
      throw new Error(`The backup is damaged: ${join(backup, found)} is not in its manifest`);
    }
  }
  return manifest;
}

/**
 * Checks every byte of a backup.
 *
 * @throws Error naming the first file that differs from the manifest
 */
export async function checkBackup(files: FileOperations, backup: string): Promise<Manifest> {
  const manifest = await openBackup(files, backup);
  for (const file of manifest.files) {
    await refuseOther(files, backup, file, () => digestFile(files, file, backup));
  }
  return manifest;
}

/**
 * Restores a backup as a data directory, which must be new or empty. The files are written aside and the
 * directory is renamed, so it exists as a whole or not at all.
 *
 * @throws Error naming the fault of the backup, or the reason why the directory cannot be created
 */
export async function restoreBackup(
  files: FileOperations,
  backup: string,
  target: string,
): Promise<Manifest> {
  await refuseIfNotEmpty(files, target, "choose another DIR, or move what is there away");
  const manifest = await openBackup(files, backup);
  const to = resolve(target);
  const token = randomBytes(6).toString("hex");
  const aside = join(dirname(to), `${asideOf(to)}${token}${TEMPORARY_SUFFIX}`);
  try {
    await makeDurableDirectory(files, aside, dirname(to)).catch((error: unknown) => {
      throw faultAt(target, error); // the caller knows the target, not the directory aside
    });
    for (const file of manifest.files) {
      await refuseOther(files, backup, file, () => copyFile(files, file, backup, aside));
    }
    await files.rename(aside, to); // commits, and replaces an empty directory of that name
  } catch (error) {
    await files.remove(aside).catch(() => {}); // the first failure is reported
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "EBUSY" || code === "EXDEV") {
      const wayOut = "restore into a directory below it, and name that as DATA_DIR";
      throw new Error(`"${target}" cannot be replaced (${code}): ${wayOut}`, { cause: error });
    }
    if (code === "ENOTDIR") {
      const wayOut = "name the directory itself instead of a link to it";
      throw new Error(`"${target}" cannot be replaced (${code}): ${wayOut}`, { cause: error });
    }
    throw error;
  }
  await syncDirectory(files, dirname(to));
  return manifest;
}

/** The beginning of the names under which a restore writes its files aside. */
function asideOf(to: string): string {
  return `.${basename(to)}-`;
}

/** The directories beside `target` that restores to it left when they were killed; one may still be in progress. */
export async function unfinishedRestores(
  files: FileOperations,
  target: string,
): Promise<readonly string[]> {
  const to = resolve(target);
  const names = await listDirectory(files, dirname(to)).catch((): readonly string[] => []);
  const start = asideOf(to);
  const isAside = (name: string): boolean =>
    name.startsWith(start) && /^[\da-f]{12}\.tmp$/.test(name.slice(start.length));
  return names.filter(isAside).map((name) => join(dirname(to), name));
}

async function refuseOther(
  files: FileOperations,
  backup: string,
  { path, bytes, sha256 }: Manifest["files"][number],
  digest: () => Promise<string>,
): Promise<void> {
  const place = `The backup is damaged: ${join(backup, path)}`;
  let size: number;
  try {
    ({ size } = await files.stat(join(backup, path)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new Error(`${place} is missing`, { cause: error });
  }
  if (size !== bytes) throw new Error(`${place} has ${size} bytes, expected ${bytes}`);
  if ((await digest()) !== sha256) throw new Error(`${place} is not what was copied`);
}

async function refuseIfNotEmpty(
  files: FileOperations,
  directory: string,
  wayOut: string,
): Promise<void> {
  if ((await listDirectory(files, directory)).length > 0) {
    throw new Error(`"${directory}" is not empty: ${wayOut}`);
  }
}

/**
 * The paths of all files below a directory, with `/` between names.
 *
 * @throws Error naming a link, which could lead out of the backup, a pipe or a device
 */
async function filesBelow(files: FileOperations, root: string, at: string): Promise<string[]> {
  const found: string[] = [];
  const [odd] = await files.readOddEntries(join(root, at));
  if (odd) throw new Error(`The backup is damaged: ${join(root, at, odd[0])} is ${odd[1]}`);
  for (const name of await listDirectory(files, join(root, at))) {
    const path = at === "" ? name : `${at}/${name}`;
    try {
      found.push(...(await filesBelow(files, root, path)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw error;
      found.push(path);
    }
  }
  return found;
}
