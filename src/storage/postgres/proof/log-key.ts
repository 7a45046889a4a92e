import type { KeyObject } from "node:crypto";
import { newPrivateKey, pemOf, privateKeyOf } from "../../../proof/note.ts";
import type { Database } from "../database.ts";
import { LOG_KEY, readValue } from "../deployment.ts";

/** The key that signs checkpoints: the first server draws it, and all servers share it. */
export async function sharedLogKey(database: Database): Promise<KeyObject> {
  const drawn = newPrivateKey();
  await database.run(
    "INSERT INTO deployment (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
    [LOG_KEY, pemOf(drawn)],
  );
  return (await readLogKey(database)) ?? drawn;
}

/**
 * Reads the key that signs checkpoints; `undefined` if none was drawn.
 *
 * @throws Error with the way out if it is damaged
 */
export async function readLogKey(database: Database): Promise<KeyObject | undefined> {
  const pem = await readValue(database, LOG_KEY);
  try {
    return pem === undefined ? undefined : privateKeyOf(pem);
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(
      `DATABASE_URL: ${LOG_KEY} in the table deployment is damaged (${reason}): put it back, since another key is another log to those who verify`,
      { cause: error },
    );
  }
}
