import { createLog } from "../core/log.ts";
import type { Database } from "../storage/postgres/database.ts";
import { UsageError, type Terminal } from "./command.ts";
import { locationOf, renamed } from "./storage-location.ts";

/** Reads from the database of the option `--database`, changing nothing. The driver is loaded only here. */
export async function readingDatabase<T>(
  url: string,
  { now }: Terminal,
  read: (database: Database) => Promise<T>,
): Promise<T> {
  const place = locationOf("--database", url);
  if (!place.isDatabase) throw new UsageError("--database: expected postgres://…");
  const log = createLog("silent", now, () => {});
  const { openDatabase } = await import("../storage/postgres/start.ts");
  const opening = openDatabase({ ...place, log }, true);
  const database = await opening.catch((error: unknown) => {
    throw renamed(error, "--database");
  });
  try {
    return await read(database);
  } finally {
    await database.close();
  }
}
