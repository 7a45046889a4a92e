/** A temporary PostgreSQL cluster over a Unix socket. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stopProcess } from "./processes.ts";

/** A running cluster. */
export interface Cluster {
  readonly socketDirectory: string;
  stop(): Promise<void>;
}

const VERSIONS = "/usr/lib/postgresql";
const SETTINGS = {
  listen_addresses: "''",
  shared_buffers: "512MB",
  max_connections: "40",
  max_wal_size: "8GB",
  // The default, stated here because every durable figure depends on it.
  fsync: "on",
  synchronous_commit: "on",
};

/** The directory of `initdb` and `postgres`, of the newest installed version; `undefined` if there is none. */
export function findPostgres(): string | undefined {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).map(Number) : [];
  return versions
    .sort((a, b) => b - a)
    .map((version) => join(VERSIONS, String(version), "bin"))
    .find((path) => existsSync(join(path, "initdb")) && existsSync(join(path, "postgres")));
}

/**
 * Starts a cluster in a directory, which is created on first use. PostgreSQL refuses to run as
 * root, so root starts it as a user without rights.
 */
export async function startCluster(directory: string): Promise<Cluster> {
  const binaries = findPostgres();
  if (binaries === undefined) throw new Error("There is no PostgreSQL on this machine");
  const user = unprivilegedUser();
  const data = join(directory, "cluster");
  // The path of a Unix socket must be short, and its directory the database's own.
  const socketDirectory = mkdtempSync(join(tmpdir(), "sbpg-"));
  if (user !== undefined) chownSync(socketDirectory, user.uid, user.gid);
  if (!existsSync(data)) {
    mkdirSync(data, { mode: 0o700 });
    if (user !== undefined) chownSync(data, user.uid, user.gid);
    const args = ["-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C"];
    execFileSync(join(binaries, "initdb"), args, { ...user, cwd: "/", stdio: "ignore" });
  }
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: `'${socketDirectory}'` });
  const server = spawn(
    join(binaries, "postgres"),
    [
      "-D",
      data,
      ...settings.flatMap(([key, value]) => ["-c", `${key}=${value.replaceAll("'", "")}`]),
    ],
    { ...user, cwd: "/", stdio: "ignore" },
  );
  const stop = async (): Promise<void> => {
    // SIGINT is the fast shutdown; SIGTERM would wait for clients.
    server.kill("SIGINT");
    await stopProcess(server);
    rmSync(socketDirectory, { recursive: true, force: true });
  };
  try {
    await ready(binaries, socketDirectory);
    return { socketDirectory, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Collects the statistics of all tables, as the database itself would some minutes later. */
export function vacuum(socketDirectory: string): void {
  const args = ["-h", socketDirectory, "-U", "bench", "-d", "postgres", "-qc", "VACUUM ANALYZE"];
  execFileSync(join(findPostgres() ?? "", "psql"), args);
}

async function ready(binaries: string, socketDirectory: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const args = ["-h", socketDirectory, "-U", "bench", "-d", "postgres", "-q"];
    if (spawnSync(join(binaries, "pg_isready"), args).status === 0) return;
    await sleep(100);
  }
  throw new Error("PostgreSQL did not come up within 30 s");
}

/** The user that root switches to; `undefined` if this process is not root. */
function unprivilegedUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const found = spawnSync("id", ["-u", name], { encoding: "utf8" });
    const group = spawnSync("id", ["-g", name], { encoding: "utf8" });
    if (found.status === 0 && group.status === 0) {
      return { uid: Number(found.stdout), gid: Number(group.stdout) };
    }
  }
  throw new Error("PostgreSQL cannot run as root, and there is no user postgres or nobody");
}
