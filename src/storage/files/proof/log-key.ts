import type { KeyObject } from "node:crypto";
import { newPrivateKey, pemOf, privateKeyOf } from "../../../proof/note.ts";
import type { FileOperations } from "../../file-operations.ts";
import type { Layout } from "../../layout.ts";
import { readFileIfAny, replaceFile } from "../../snapshot.ts";

/**
 * Reads the key that signs checkpoints; if it does not exist, draws one.
 *
 * @throws Error naming the file and the way out if it is damaged
 */
export async function readOrCreateLogKey(
  files: FileOperations,
  layout: Layout,
): Promise<KeyObject> {
  const found = await readLogKey(files, layout);
  if (found !== undefined) return found;
  const key = newPrivateKey();
  await replaceFile(files, layout.logKey, Buffer.from(pemOf(key)));
  return key;
}

/**
 * Reads the key that signs checkpoints; `undefined` if it does not exist.
 *
 * @throws Error naming the file and the way out if it is damaged
 */
export async function readLogKey(
  files: FileOperations,
  { logKey }: Layout,
): Promise<KeyObject | undefined> {
  const bytes = await readFileIfAny(files, logKey);
  if (bytes === undefined) return undefined;
  try {
    return privateKeyOf(bytes.toString("utf8"));
  } catch (error) {
    const wayOut = "put the file back, since another key is another log to those who verify";
    throw new Error(`${logKey} is damaged (${(error as Error).message}): ${wayOut}`, {
      cause: error,
    });
  }
}
