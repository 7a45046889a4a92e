import type { Engine, EngineParts } from "./engine.ts";

/**
 * Opens the storage engine of a deployment: a PostgreSQL database if the settings name one, otherwise files in the
 * data directory. Only the chosen engine is loaded.
 *
 * @throws Error if the database or the directory cannot be used
 */
export async function openEngine(parts: EngineParts): Promise<Engine> {
  if (parts.config.databaseUrl !== undefined) {
    const { openPostgresEngine } = await import("./storage/postgres/engine.ts");
    return openPostgresEngine(parts);
  }
  const { openFileEngine } = await import("./storage/files/engine.ts");
  return openFileEngine(parts);
}
