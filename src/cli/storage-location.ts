/** The directory or the database that a command works on. */
import { randomBytes } from "node:crypto";
import { configFromEnvironment, configFromOptions, type Config } from "../config.ts";

/** A data directory or a database that an option names. */
export interface StorageLocation {
  readonly option: string;
  readonly isDatabase: boolean;
  readonly config: Config;
}

/**
 * Reads the value of an option that names a directory or, by a URL, a database.
 *
 * @throws Error naming the option if the URL is invalid. It never shows the URL, which may contain a password
 */
export function locationOf(option: string, given: string): StorageLocation {
  const isDatabase = /^[a-z][a-z0-9+.-]*:\/\//i.test(given);
  const text = isDatabase ? named(given) : given;
  try {
    // Of eight connections two are for searches; they build the search indexes at the same time.
    const config = configFromOptions(
      isDatabase ? { databaseUrl: text, databasePoolSize: 8 } : { dataDir: text },
    );
    // The activity log must not be trimmed during the move.
    return { option, isDatabase, config: { ...config, maxActivityBytes: Infinity } };
  } catch (error) {
    throw renamed(error, option);
  }
}

/** Gives the connections of this process their own name, which distinguishes them from those of servers. */
function named(url: string): string {
  if (!URL.canParse(url)) return url; // refused later
  const parsed = new URL(url);
  parsed.searchParams.set("application_name", `signalbox move ${randomBytes(4).toString("hex")}`);
  return parsed.href;
}

/** Rewrites an error of the database, which names the setting of a server, so that it names the option. */
export function renamed(error: unknown, option: string): Error {
  const message = error instanceof Error ? error.message : String(error);
  return new Error(message.replace(/^(?:DATABASE_URL|databaseUrl|dataDir): /, `${option}: `), {
    cause: error,
  });
}

/** The database that the environment names. */
export function databaseOfEnvironment(): string | undefined {
  return configFromEnvironment().databaseUrl;
}
