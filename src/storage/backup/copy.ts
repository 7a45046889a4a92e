import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { makeDurableDirectory } from "../directories.ts";
import { faultAt } from "../disk-fault.ts";
import type { FileOperations } from "../file-operations.ts";
import { withFile, writeAll } from "../file-ranges.ts";
import { syncDirectory } from "../snapshot.ts";

const PIECE_BYTES = 1 << 20;

/**
 * Copies the beginning of a file below one directory to the same path below another, and syncs it.
 *
 * @returns its SHA-256 in hexadecimal digits
 * @throws Error when the file is shorter
 */
export async function copyFile(
  files: FileOperations,
  { path, bytes }: { readonly path: string; readonly bytes: number },
  from: string,
  to: string,
): Promise<string> {
  const target = join(to, path);
  await makeDurableDirectory(files, dirname(target), to);
  const source = await files.open(join(from, path), "r");
  try {
    const copy = await files.open(target, "wx");
    try {
      const digest = await pour(files, source, bytes, path, copy);
      await files.fsync(copy);
      return digest;
    } catch (error) {
      throw faultAt(target, error);
    } finally {
      await files.close(copy);
    }
  } finally {
    await files.close(source);
    await syncDirectory(files, dirname(target)).catch(() => {}); // it may not exist
  }
}

/** The SHA-256 of the beginning of a file, in hexadecimal digits. */
export function digestFile(
  files: FileOperations,
  { path, bytes }: { readonly path: string; readonly bytes: number },
  directory: string,
): Promise<string> {
  return withFile(files, join(directory, path), "r", (source) => pour(files, source, bytes, path));
}

async function pour(
  files: FileOperations,
  source: number,
  bytes: number,
  path: string,
  target?: number,
): Promise<string> {
  const digest = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(PIECE_BYTES, bytes)));
  for (let at = 0; at < bytes;) {
    const piece = buffer.subarray(0, Math.min(buffer.length, bytes - at));
    const count = await files.read(source, piece, at).catch((error: unknown) => {
      throw faultAt(path, error); // the error of an open file does not name it
    });
    if (count === 0) throw new Error(`${path} ends at byte ${at}, sooner than expected`);
    digest.update(piece.subarray(0, count));
    if (target !== undefined) await writeAll(files, target, piece.subarray(0, count), at, path);
    at += count;
  }
  return digest.digest("hex");
}
