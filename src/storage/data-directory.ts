import { randomBytes } from "node:crypto";
import { isObject } from "../core/validate.ts";
import type { FileOperations } from "./file-operations.ts";
import type { Layout } from "./layout.ts";
import { readFileIfAny, readSnapshot, replaceFile, writeSnapshot } from "./snapshot.ts";

/** The version of the layout on disk; raised when an older program could no longer read it. */
const FORMAT = 1;

/**
 * Checks that the files of a data directory are of a format that this program knows, and marks a
 * new directory with it.
 *
 * @throws Error naming the file and the way out when they are not
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

/** Reads the secret that signs tokens, and draws one of 32 random bytes when there is none yet. */
export async function readOrCreateSecret(files: FileOperations, layout: Layout): Promise<string> {
  const kept = (await readFileIfAny(files, layout.secret))?.toString("utf8").trim();
  if (kept !== undefined && kept !== "") return kept;
  const secret = randomBytes(32).toString("base64url");
  await replaceFile(files, layout.secret, Buffer.from(`${secret}\n`, "utf8"));
  return secret;
}
