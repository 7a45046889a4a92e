import type { KeyObject } from "node:crypto";
import { newPrivateKey, pemOf, privateKeyOf } from "../../../proof/note.ts";
import type { Database } from "../database.ts";
import { LOG_KEY, readValue, firstValue } from "../deployment.ts";

/** The key that signs checkpoints: the first server draws it, and all servers share it. */
export async function sharedLogKey(database: Database): Promise<KeyObject> {
  return keyIn(await firstValue(database, LOG_KEY, pemOf(newPrivateKey())));
}

/**
 * Reads the key that signs checkpoints; `undefined` if none was drawn.
 *
 * @throws Error with the way out if it is damaged
 */
export async function readLogKey(database: Database): Promise<KeyObject | undefined> {
  const pem = await readValue(database, LOG_KEY);
  return pem === undefined ? undefined : keyIn(pem);
}

function keyIn(pem: string): KeyObject {
  try {
    return privateKeyOf(pem);
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(
      `DATABASE_URL: ${LOG_KEY} in the table deployment is damaged (${reason}): put it back, since another key is another log to those who verify`,
      { cause: error },
    );
  }
}
