/** The servers that are measured, and how each is started over its own directory. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadHistory } from "./load-history.ts";
import { findPostgres, startCluster, vacuum } from "./postgres.ts";
import { startProcess, type Started } from "./processes.ts";

/** The name of a server in tables. */
export type ContestantName =
  | "signalbox"
  | "signalbox, write"
  | "signalbox, named"
  | "signalbox, watched"
  | "signalbox, unwatched"
  | "signalbox + postgres"
  | "2 signalbox + postgres"
  | "floor"
  | "fastify + sqlite NORMAL"
  | "fastify + sqlite FULL"
  | "fastify + postgres";

/** The runtime that fetches under its name. */
export const NAMED = "build-1";

/** The parameters of starting a server. */
export interface Setup {
  /** Used by this contestant alone; survives its restarts. */
  readonly directory: string;
  /** A generated data directory with the events that the server starts with; absent for an empty one. */
  readonly history: string | undefined;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const peers = join(root, "bench", "peers");

/** Starts a contestant; a peer loads the history on its first start. */
export async function startContestant(name: ContestantName, setup: Setup): Promise<Started> {
  switch (name) {
    case "floor":
      return startProcess(["--import", "tsx", join(root, "bench", "floor.ts")]);
    case "signalbox":
      return startService(setup, {});
    case "signalbox, write":
      return startService(setup, { AUDIT_DURABILITY: "write" });
    case "signalbox, named":
      return { ...(await startService(setup, {})), headers: { "x-runtime-name": NAMED } };
    case "signalbox, watched":
      return startService(setup, { LOG_LEVEL: "info", METRICS: "open" });
    case "signalbox, unwatched":
      return startService(setup, { LOG_LEVEL: "silent", METRICS: "off" });
    case "signalbox + postgres":
      return startOnCluster(setup, (socket) => startOnDatabase(setup, socket));
    case "2 signalbox + postgres":
      return startOnCluster(setup, async (socket) => {
        const first = await startOnDatabase(setup, socket);
        return { ...first, second: await startOnDatabase(setup, socket) };
      });
    case "fastify + sqlite NORMAL":
      return startPeer(["sqlite", "NORMAL"], setup);
    case "fastify + sqlite FULL":
      return startPeer(["sqlite", "FULL"], setup);
    case "fastify + postgres":
      return startOnCluster(setup, (socket) => startPeer(["postgres", socket], setup));
  }
}

/** Why a contestant cannot take part; `undefined` if it can. */
export function absenceOf(name: ContestantName): string | undefined {
  if (name.endsWith("postgres") && findPostgres() === undefined) {
    return "no PostgreSQL on this machine";
  }
  if (!name.startsWith("fastify")) return undefined;
  const modules = join(peers, "node_modules");
  if (!existsSync(modules)) return "not installed, see `npm run bench:peers`";
  // A binary: `npm ci --ignore-scripts` leaves it out where nothing can be compiled.
  const hasBinary = existsSync(join(modules, "better-sqlite3", "build"));
  return name.includes("sqlite") && !hasBinary ? "SQLite is not compiled" : undefined;
}

/**
 * Starts the built service on a free port; durable and with a quiet log, unless the settings say otherwise.
 *
 * @param watch the file for the longest turn of its event loop, see `longestTurn`; threads start more slowly then
 */
export function startService(
  setup: Setup,
  settings: Readonly<Record<string, string>>,
  watch?: string,
): Promise<Started> {
  const program = join(root, "dist", "server.js");
  const watcher = ["--import", "tsx", join(root, "bench", "watched.ts")];
  return startProcess(watch === undefined ? [program] : [...watcher, watch, program], {
    PORT: "0",
    HOST: "127.0.0.1",
    DATA_DIR: setup.history ?? join(setup.directory, "data"),
    AUDIT_DURABILITY: "sync",
    LOG_LEVEL: "warn",
    ...settings,
  });
}

function startPeer(
  store: readonly string[],
  { directory, history }: Setup,
  environment: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const args = [join(peers, "server.js"), ...store, directory];
  return startProcess(history === undefined ? args : [...args, history], environment);
}

/** Starts the built service over a database, into which the first start loads the history. */
async function startOnDatabase({ directory, history }: Setup, socket: string): Promise<Started> {
  const url = `postgres://bench@localhost/postgres?host=${socket}`;
  const loaded = join(directory, "loaded");
  if (history !== undefined && !existsSync(loaded)) {
    await loadHistory(url, history);
    vacuum(socket);
    writeFileSync(loaded, "");
  }
  return startService({ directory, history: undefined }, { DATABASE_URL: url });
}

/** Starts a throw-away database, and what `start` starts over its socket. */
async function startOnCluster(
  { directory }: Setup,
  start: (socketDirectory: string) => Promise<Started>,
): Promise<Started> {
  const cluster = await startCluster(directory);
  try {
    const server = await start(cluster.socketDirectory);
    return {
      ...server,
      async stop() {
        await server.second?.stop();
        await server.stop();
        await cluster.stop();
      },
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
