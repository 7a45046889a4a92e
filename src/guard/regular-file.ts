/**
 * Opens files that may be something else by now. A pipe would let every command wait for its other end. A device, such
 * as a link to `/dev/zero` in a project, would fill the memory, and so would a huge file.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { ownershipFault } from "./directory.ts";

/**
 * Opens a file without waiting. `flags` are those of `open`; a new file is the user's alone.
 *
 * @throws Error if it is not a regular file
 */
export function openRegular(path: string, flags: number): number {
  const file = openSync(path, flags | constants.O_NONBLOCK, 0o600);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new Error(`"${path}" is not a regular file`);
}

/**
 * Reads a text, which any user may have written.
 *
 * @throws Error if it is not a regular file, or has more than `maxBytes`
 */
export function readRegular(path: string, maxBytes: number): string {
  const file = openRegular(path, constants.O_RDONLY);
  try {
    return readOpened(file, path, maxBytes);
  } finally {
    closeSync(file);
  }
}

/** A file that another user may have written. */
export class Untrusted extends Error {}

/**
 * Reads a text that decides what may run.
 *
 * @param name names the file in the error
 * @throws Untrusted if another user may have written it
 * @throws Error if it is not a regular file, or has more than `maxBytes`
 */
export function readTrusted(name: string, path: string, maxBytes: number): string {
  const file = openRegular(path, constants.O_RDONLY);
  try {
    const fault = ownershipFault(name, path, fstatSync(file));
    if (fault !== undefined) throw new Untrusted(fault);
    return readOpened(file, path, maxBytes);
  } finally {
    closeSync(file);
  }
}

function readOpened(file: number, path: string, maxBytes: number): string {
  if (fstatSync(file).size <= maxBytes) return readFileSync(file, "utf8");
  throw new Error(`"${path}" has more than ${maxBytes >> 20} MiB`);
}
