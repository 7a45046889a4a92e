/**
 * Opens files and closes them, and reads and writes ranges of them in full: a single call of the system may transfer
 * fewer bytes than it was given.
 */
import { ifExists, type FileOperations, type OpenFlags } from "./file-operations.ts";

/**
 * Reads a range of a file.
 *
 * @throws Error if the file is shorter than the range
 */
export async function readExactly(
  files: FileOperations,
  descriptor: number,
  offset: number,
  length: number,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  await readInto(files, descriptor, bytes, offset);
  return bytes;
}

/**
 * Fills a buffer from a position in a file.
 *
 * @throws Error if the file ends before the buffer is full
 */
export async function readInto(
  files: FileOperations,
  descriptor: number,
  target: Uint8Array,
  offset: number,
): Promise<void> {
  for (let filled = 0; filled < target.length;) {
    const count = await files.read(descriptor, target.subarray(filled), offset + filled);
    filled += checkedCount(count, offset + filled);
  }
}

/**
 * The number of bytes that a read at a position got.
 *
 * @throws Error if it got none, since the file ends there
 */
export function checkedCount(count: number, position: number): number {
  if (count === 0) throw new Error(`The file ends at byte ${position}, sooner than expected`);
  return count;
}

/**
 * Writes all of some bytes at a position in a file.
 *
 * @param path named in the error
 */
export async function writeAll(
  files: FileOperations,
  descriptor: number,
  bytes: Uint8Array,
  position: number,
  path: string,
): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const count = await files.write(descriptor, bytes.subarray(written), position + written);
    if (count === 0) throw new Error(`Nothing could be written to ${path}`);
    written += count;
  }
}

/** Opens a file or a directory, calls `use` with its descriptor, and closes it. */
export async function withFile<T>(
  files: FileOperations,
  path: string,
  flags: OpenFlags,
  use: (descriptor: number) => Promise<T>,
): Promise<T> {
  return closing(files, await files.open(path, flags), use);
}

/** Does the same with a file to read, and its size; `undefined` if the file does not exist. */
export async function withFileIfAny<T>(
  files: FileOperations,
  path: string,
  read: (descriptor: number, size: number) => Promise<T>,
): Promise<T | undefined> {
  const opened = await ifExists(files.open(path, "r"));
  if (opened === undefined) return undefined;
  return closing(files, opened, async (descriptor) => {
    const { size } = await files.stat(path);
    return read(descriptor, size);
  });
}

async function closing<T>(
  files: FileOperations,
  descriptor: number,
  use: (descriptor: number) => Promise<T>,
): Promise<T> {
  try {
    return await use(descriptor);
  } finally {
    await files.close(descriptor);
  }
}
