/**
 * An atomically replaced file: written aside, synced, renamed over the old one, and the directory synced. The
 * rename is the commit point: before it the file has the old content, after it the new one, and no reader
 * ever sees half of either. Rename is atomic within one file system only, so the file aside lies in the same
 * directory.
 */
import { dirname } from "node:path";
import { ifExists, type FileOperations } from "./file-operations.ts";
import { withFile, writeAll } from "./file-ranges.ts";

/** The suffix of files that are being written; such a file that is found at start was not committed. */
export const TEMPORARY_SUFFIX = ".tmp";

let sequence = 0;

/** Replaces a file by the given bytes, durably. The caller must serialize writes to one path. */
export function replaceFile(files: FileOperations, path: string, bytes: Uint8Array): Promise<void> {
  return replaceByPieces(files, path, [bytes]);
}

/**
 * Replaces a file by bytes in pieces, which are taken one by one and not joined: together they may be large. Otherwise
 * like `replaceFile`.
 */
export async function replaceByPieces(
  files: FileOperations,
  path: string,
  pieces: Iterable<Uint8Array>,
): Promise<void> {
  const aside = `${path}.${process.pid}-${++sequence}${TEMPORARY_SUFFIX}`;
  try {
    await writePieces(files, aside, pieces);
    await files.rename(aside, path);
  } catch (error) {
    await files.remove(aside).catch(() => {}); // the first failure is reported
    throw error;
  }
  await syncDirectory(files, dirname(path));
}

/** Creates a file with the given bytes and syncs it, but not the directory entry. */
export function writeWhole(files: FileOperations, path: string, bytes: Uint8Array): Promise<void> {
  return writePieces(files, path, [bytes]);
}

async function writePieces(
  files: FileOperations,
  path: string,
  pieces: Iterable<Uint8Array>,
): Promise<void> {
  await withFile(files, path, "w", async (descriptor) => {
    let at = 0;
    for (const piece of pieces) {
      await writeAll(files, descriptor, piece, at, path);
      at += piece.length;
    }
    await files.fsync(descriptor);
  });
}

/** Makes creations, renames and removals in a directory durable. */
export function syncDirectory(files: FileOperations, path: string): Promise<void> {
  return withFile(files, path, "r", (descriptor) => files.fsync(descriptor));
}

/** The text of a JSON snapshot. */
export function snapshotText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Replaces a JSON snapshot, durably. */
export function writeSnapshot(files: FileOperations, path: string, value: unknown): Promise<void> {
  return replaceFile(files, path, Buffer.from(snapshotText(value), "utf8"));
}

/**
 * Reads a JSON snapshot; `undefined` if it does not exist.
 *
 * @throws Error naming the file and the way out if it is damaged
 */
export async function readSnapshot(files: FileOperations, path: string): Promise<unknown> {
  const bytes = await readFileIfAny(files, path);
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(decode(bytes)) as unknown;
  } catch {
    throw damaged(path, "it is not JSON");
  }
}

/** The error for a damaged file. */
export function damaged(path: string, fault: string, cause?: unknown): Error {
  const message = `${path} is damaged (${fault}): restore it from a backup, or move it away`;
  return new Error(message, { cause });
}

/** Reads the content of a file; any error of `read` becomes the error for a damaged file. */
export function readContent<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw damaged(path, (error as Error).message, error);
  }
}

/** Decodes UTF-8, without a byte order mark; throws for other bytes, since they are damage too. */
function decode(bytes: Buffer): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

/** Reads a file; `undefined` if it does not exist. */
export async function readFileIfAny(
  files: FileOperations,
  path: string,
): Promise<Buffer | undefined> {
  return ifExists(files.readFile(path));
}
