import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import { basename, join } from "node:path";
import type { Log } from "../core/log.ts";
import { isObject } from "../core/validate.ts";
import { listDirectory } from "./directories.ts";
import type { FileOperations } from "./file-operations.ts";
import { GUIDE, type Layout } from "./layout.ts";
import { readFileIfAny, readSnapshot, replaceFile, writeSnapshot } from "./snapshot.ts";

/** The version of the layout on disk; raised when an older program could no longer read it. */
export const FORMAT = 1;

/**
 * Checks that this program knows the format of a data directory, and marks a new directory with the current
 * one.
 *
 * @throws Error naming the file and the way out for an unknown format
 */
export async function checkFormat(files: FileOperations, layout: Layout): Promise<void> {
  const marker = await readSnapshot(files, layout.format);
  if (marker === undefined) return writeSnapshot(files, layout.format, { format: FORMAT });
  const format = isObject(marker) ? marker["format"] : undefined;
  if (format !== FORMAT) {
    throw new Error(
      `${layout.format} says format ${JSON.stringify(format)}, this version reads format ${FORMAT}: ` +
        "run the version that wrote the directory, or restore a backup",
    );
  }
}

/** Replaces the secret that signs tokens. */
export function writeSecret(files: FileOperations, layout: Layout, secret: string): Promise<void> {
  return replaceFile(files, layout.secret, Buffer.from(`${secret}\n`, "utf8"));
}

/**
 * Reads the secret that signs tokens; if it does not exist, creates one of 32 random bytes.
 *
 * @throws Error naming the file and the way out if it is empty or not text
 */
export async function readOrCreateSecret(files: FileOperations, layout: Layout): Promise<string> {
  const bytes = await readFileIfAny(files, layout.secret);
  if (bytes === undefined) {
    const secret = randomBytes(32).toString("base64url");
    await writeSecret(files, layout, secret);
    return secret;
  }
  const fault = secretFault(bytes);
  if (fault === undefined) return textOf(bytes);
  throw new Error(
    `${layout.secret} is damaged (${fault}): restore it from a backup, or remove it: a new one is ` +
      "then created, and all users must sign in again",
  );
}

/** The fault in the bytes of that file; `undefined` for a valid secret. */
export function secretFault(bytes: Buffer): string | undefined {
  if (textOf(bytes) === "") return "it is empty";
  // oxlint-disable-next-line no-control-regex -- a crash can leave a hole of zeros
  const isText = isUtf8(bytes) && !/[\u0000-\u001f\u007f]/.test(textOf(bytes));
  return isText ? undefined : "it is not text";
}

function textOf(bytes: Buffer): string {
  return bytes
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .trim();
}

const OTHERS = 0o077;

/**
 * Closes a new data directory to other users, since `mkdir` makes it open to all. A directory with data is only
 * logged as a warning, since a group may have access on purpose. The same holds for a directory with other
 * files, such as /tmp.
 */
export async function closeToOthers(
  files: FileOperations,
  layout: Layout,
  log: Log,
): Promise<void> {
  const { root, lock } = layout;
  const { mode } = await files.stat(root);
  if ((mode & OTHERS) === 0) return;
  const names = await listDirectory(files, root);
  const isNew = names.every(
    (name) =>
      name.startsWith(".") ||
      name === GUIDE ||
      name === basename(lock) ||
      layout.isSocketName(join(root, name)),
  );
  if (isNew) {
    try {
      return await files.changeMode(root, mode & 0o7777 & ~OTHERS);
    } catch {
      // another user's directory, or a file system without modes
    }
  }
  log.warn(`the data directory is open to other users: chmod 700 ${JSON.stringify(root)}`, {
    mode: (mode & 0o777).toString(8).padStart(4, "0"),
  });
}
