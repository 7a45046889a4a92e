/**
 * PostgreSQL for tests: one throw-away cluster for each test process, and a database of its own for each
 * test. Without an installation the tests skip and say so, unless `REQUIRE_POSTGRES=1`.
 */
import { execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import pg from "pg";
import { Database } from "../../src/storage/postgres/database.ts";
import { migrate } from "../../src/storage/postgres/migrations.ts";
import { programs, withoutPostgres } from "./postgres-programs.ts";
import { silent } from "./silent-log.ts";

export { withoutPostgres };

/** PostgreSQL refuses to run as root; Debian's package has a user for it. */
const isRoot = process.getuid?.() === 0;

/** The user that the programs run as; `undefined` for the one who runs the tests. */
function owner(): { readonly uid: number; readonly gid: number } | undefined {
  if (!isRoot) return undefined;
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"]).toString());
  return { uid: id("-u"), gid: id("-g") };
}

/**
 * A free port below those that systems give to connections and to port 0: one of these could be taken
 * until the cluster starts, or while it is down. The same port of another address is held as long as this process
 * lives, so that no other process of the tests chooses it.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_240, 32_768);
    const held = await listenAt(port, "127.0.0.2");
    if (held === "taken") continue;
    const tried = await listenAt(port, "127.0.0.1");
    if (tried !== "taken") {
      tried.close();
      await once(tried, "close");
      return port;
    }
    held.close();
  }
}

/** Listens at an address, unless the system does not have it. */
async function listenAt(port: number, host: string): Promise<Server | "taken"> {
  const server = createServer().listen(port, host).unref();
  const fault = await once(server, "listening").then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );
  return fault === "EADDRINUSE" ? "taken" : server;
}

/** How a cluster differs from the plain one. */
export interface ClusterOptions {
  /** Whether commits wait for the disk; they do when absent. */
  readonly fsync?: boolean;
  /** Lines for `postgresql.conf`. */
  readonly settings?: readonly string[];
}

/** A running cluster of PostgreSQL in a temporary directory, on 127.0.0.1. */
export class Cluster {
  readonly directory: string;
  readonly port: number;
  readonly #bin: string;

  private constructor(bin: string, directory: string, port: number) {
    this.#bin = bin;
    this.directory = directory;
    this.port = port;
  }

  /** Makes and starts a cluster. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = await Cluster.#prepare();
    await cluster.#run(
      "initdb",
      "-D",
      cluster.directory,
      "-U",
      "postgres",
      "-A",
      "trust",
      "-E",
      "UTF8",
      "--no-sync",
      "--locale=C.UTF-8",
    );
    cluster.#demandPassword("guarded");
    cluster.configure(options);
    await cluster.up();
    return cluster;
  }

  /** Makes and starts a streaming replica of a cluster. */
  static async replicaOf(primary: Cluster): Promise<Cluster> {
    const cluster = await Cluster.#prepare();
    await cluster.#run(
      "pg_basebackup",
      "-D",
      cluster.directory,
      "-R",
      "-c",
      "fast",
      "-X",
      "stream",
      "-h",
      "127.0.0.1",
      "-p",
      String(primary.port),
      "-U",
      "postgres",
    );
    cluster.configure({});
    await cluster.up();
    return cluster;
  }

  static async #prepare(): Promise<Cluster> {
    const bin = programs;
    if (bin === undefined) throw new Error("There is no PostgreSQL here");
    const directory = mkdtempSync(join(tmpdir(), "signalbox-postgres-"));
    const user = owner();
    if (user) chownSync(directory, user.uid, user.gid);
    return new Cluster(bin, directory, await freePort());
  }

  /** Writes the settings of the cluster; they hold from its next start on. */
  configure({ fsync = true, settings = [] }: ClusterOptions): void {
    const lines = [
      `port = ${this.port}`,
      "listen_addresses = '127.0.0.1'",
      "unix_socket_directories = ''",
      `fsync = ${fsync ? "on" : "off"}`,
      "max_connections = 200",
      "wal_level = replica",
      ...settings,
    ];
    writeFileSync(join(this.directory, "postgresql.auto.conf"), `${lines.join("\n")}\n`, {
      flag: "a",
    });
  }

  /** Lets a user in with a password alone; all others need none. */
  #demandPassword(user: string): void {
    const path = join(this.directory, "pg_hba.conf");
    const rules = readFileSync(path, "utf8");
    writeFileSync(path, `host all ${user} 127.0.0.1/32 scram-sha-256\n${rules}`);
  }

  /** The URL of a database. */
  url(database: string, user = "postgres"): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  /** The process id of the server. */
  get pid(): number {
    const [pid] = readFileSync(join(this.directory, "postmaster.pid"), "utf8").split("\n");
    return Number(pid);
  }

  up(): Promise<unknown> {
    return this.#run(
      "pg_ctl",
      "-D",
      this.directory,
      "-w",
      "-l",
      join(this.directory, "log"),
      "start",
    );
  }

  /** Stops the server; `immediate` as a power cut would. */
  down(mode: "fast" | "immediate" = "fast"): Promise<unknown> {
    return this.#run("pg_ctl", "-D", this.directory, "-w", "-m", mode, "stop");
  }

  /** Makes a replica a primary. */
  promote(): Promise<unknown> {
    return this.#run("pg_ctl", "-D", this.directory, "-w", "promote");
  }

  /** Stops the server and removes its directory. */
  async remove(): Promise<void> {
    await this.down("immediate").catch(() => undefined);
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Runs statements as the superuser, and gives what they answer, as `psql -At` prints it, in a third of its time. */
  async sql(text: string, database = "postgres"): Promise<string> {
    const types = { getTypeParser: () => String };
    const client = new pg.Client({ connectionString: this.url(database), types });
    client.on("error", () => {}); // the server may end before the connection
    await client.connect();
    try {
      const given: unknown = await client.query({ text, rowMode: "array" });
      const results = [given].flat() as readonly { readonly rows: readonly (string | null)[][] }[];
      return results.flatMap(({ rows }) => rows.map((row) => row.join("|"))).join("\n");
    } finally {
      await client.end();
    }
  }

  async #run(program: string, ...words: readonly string[]): Promise<string> {
    const child = spawn(join(this.#bin, program), words, {
      ...owner(),
      cwd: tmpdir(),
      // The server would keep the pipes of `pg_ctl` open.
      stdio: program === "pg_ctl" ? "ignore" : "pipe",
    });
    const texts = { out: "", error: "" };
    child.stdout?.on("data", (data: Buffer) => (texts.out += data.toString()));
    child.stderr?.on("data", (data: Buffer) => (texts.error += data.toString()));
    const [status] = (await once(child, "close")) as [number | null];
    if (status !== 0) {
      const log = program === "pg_ctl" ? readFileSync(join(this.directory, "log"), "utf8") : "";
      throw new Error(`${program} ${words.join(" ")} failed: ${texts.error}${log.slice(-2_000)}`);
    }
    return texts.out.trim();
  }
}

const TEMPLATE = "signalbox_template";

let shared: Promise<Cluster> | undefined;
let databases = 0;

/** The cluster of this process, with a database whose tables are made, to copy from. */
export function sharedCluster(): Promise<Cluster> {
  return (shared ??= startShared());
}

async function startShared(): Promise<Cluster> {
  const cluster = await Cluster.start({ fsync: process.env["POSTGRES_FSYNC"] === "1" });
  process.once("exit", () => endAtOnce(cluster));
  await cluster.sql(`CREATE DATABASE ${TEMPLATE}`);
  const database = await openDatabase(cluster.url(TEMPLATE), 2);
  await migrate(database);
  await database.close();
  return cluster;
}

/** The runner may end this process without running what is registered to run after the tests. */
function endAtOnce(cluster: Cluster): void {
  try {
    process.kill(cluster.pid, "SIGQUIT"); // an immediate shutdown
  } catch {
    // it has ended already
  }
  rmSync(cluster.directory, { recursive: true, force: true, maxRetries: 5 });
}

after(async () => (await shared)?.remove());

/** Makes a database in the shared cluster, with the tables made or empty, and gives its URL. */
export async function createDatabase(content: "migrated" | "empty" = "migrated"): Promise<string> {
  const cluster = await sharedCluster();
  const name = `test_${++databases}`;
  const template = content === "migrated" ? TEMPLATE : "template0";
  await cluster.sql(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  return cluster.url(name);
}

/** Copies or renames a database, where no server reaches the old one any more, and gives the new URL. */
export async function moveDatabase(url: string, how: "copy" | "rename"): Promise<string> {
  const cluster = await sharedCluster();
  const old = new URL(url).pathname.slice(1);
  const name = `test_${++databases}`;
  await cluster.sql(`ALTER DATABASE ${old} ALLOW_CONNECTIONS false`);
  await cluster.sql(
    `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '${old}'`,
  );
  if (how === "copy") {
    await cluster.sql(`CREATE DATABASE ${name} TEMPLATE ${old}`);
  } else {
    await cluster.sql(`ALTER DATABASE ${old} RENAME TO ${name}`);
    await cluster.sql(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  }
  return cluster.url(name);
}

/** Runs statements on a database of the shared cluster as the superuser, and gives what they answer. */
export async function statementsAt(url: string, text: string): Promise<string> {
  return (await sharedCluster()).sql(text, new URL(url).pathname.slice(1));
}

/** Connects to a database, with a silent log. */
export function openDatabase(url: string, poolSize = 10): Promise<Database> {
  return Database.load({
    url,
    poolSize,
    log: silent,
  });
}
