/** The servers that are measured, and how each is started over its own directory. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findPostgres, startCluster } from "./postgres.ts";
import { startProcess, type Started } from "./processes.ts";

/** The name of a server in tables. */
export type ContestantName =
  | "signalbox"
  | "signalbox, write"
  | "signalbox, watched"
  | "signalbox, unwatched"
  | "floor"
  | "fastify + sqlite NORMAL"
  | "fastify + sqlite FULL"
  | "fastify + postgres";

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
    case "signalbox, watched":
      return startService(setup, { LOG_LEVEL: "info", METRICS: "open" });
    case "signalbox, unwatched":
      return startService(setup, { LOG_LEVEL: "silent", METRICS: "off" });
    case "fastify + sqlite NORMAL":
      return startPeer(["sqlite", "NORMAL"], setup);
    case "fastify + sqlite FULL":
      return startPeer(["sqlite", "FULL"], setup);
    case "fastify + postgres":
      return startOnCluster(setup);
  }
}

/** Why a contestant cannot take part; `undefined` if it can. */
export function absenceOf(name: ContestantName): string | undefined {
  if (!name.startsWith("fastify")) return undefined;
  if (!existsSync(join(peers, "node_modules"))) return "not installed, see `npm run bench:peers`";
  if (name === "fastify + postgres" && findPostgres() === undefined) {
    return "no PostgreSQL on this machine";
  }
  return undefined;
}

/** Starts the built service on a free port; durable and with a quiet log, unless the settings say otherwise. */
export function startService(
  setup: Setup,
  settings: Readonly<Record<string, string>>,
): Promise<Started> {
  return startProcess([join(root, "dist", "server.js")], {
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

async function startOnCluster(setup: Setup): Promise<Started> {
  const cluster = await startCluster(setup.directory);
  try {
    const peer = await startPeer(["postgres", cluster.socketDirectory], setup);
    return {
      ...peer,
      async stop() {
        await peer.stop();
        await cluster.stop();
      },
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
