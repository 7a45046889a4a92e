/** Finds the programs of PostgreSQL on this machine. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const DEBIAN = "/usr/lib/postgresql";

/** The folder of the newest installation; `undefined` without one. */
function findPrograms(): string | undefined {
  if (!existsSync(DEBIAN)) return undefined;
  const versions = readdirSync(DEBIAN).filter((version) =>
    existsSync(join(DEBIAN, version, "bin/initdb")),
  );
  const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1);
  return newest === undefined ? undefined : join(DEBIAN, newest, "bin");
}

/** The directory of the newest installation's programs. */
export const programs = findPrograms();

if (programs === undefined && process.env["REQUIRE_POSTGRES"] === "1") {
  throw new Error(`REQUIRE_POSTGRES is 1, and there is no PostgreSQL in ${DEBIAN}`);
}

/** Why tests over PostgreSQL are skipped here; `false` where they run. Given to `test` as `skip`. */
export const withoutPostgres: string | false =
  programs === undefined && `there is no PostgreSQL in ${DEBIAN}`;
