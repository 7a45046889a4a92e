/** The pool of connections of the driver `pg`, which is loaded on first use. */
import type { EventEmitter } from "node:events";
import type pg from "pg";
import type { Pool, PoolClient } from "pg";
import { ConfigError } from "../../core/config-error.ts";
import { Unavailable } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { systemStopwatch } from "../../core/timers.ts";
import { codeOf, isBroken, NO_CONNECTION, READ_ONLY, refusalFor, unreachable } from "./faults.ts";

/** The driver, an optional peer dependency. */
export type Driver = typeof pg;

export type { PoolClient };

/** The extra time for which the client waits after the statement's time limit in the database. */
const GRACE_MS = 1_000;
/** The time for which a request waits for a connection, and for which a new connection is awaited. */
export const WAIT_MS = 5_000;
const IDLE_MS = 30_000;
const ATTEMPTS = 3;
/** After this time the database ends an idle transaction, which frees its locks. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** The settings of a connection, whatever those of the database and its user are. */
const SETTINGS: readonly string[] = [
  "jit=off", // the compilation of a search over many partitions takes longer than the search
  // Statements mean something else, or have other answers, under other values of these.
  "array_nulls=on",
  "datestyle=ISO",
  "gin_fuzzy_search_limit=0",
  "standard_conforming_strings=on",
];

/** The time for which requests fail at once after a failed connection, instead of queueing for the next attempt. */
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;

/** The time for which a pool does not grow after the database has refused a connection for lack of room. */
const GROW_AGAIN_MS = 1_000;

/**
 * Counts the fail-overs that a server has seen. A connection from before the last fail-over may lead to the old
 * primary, which answers reads with old data. So it is not used again.
 */
export interface FailOvers {
  count: number;
}

/** The common options of the pools of one database. */
export interface PoolShape {
  readonly driver: Driver;
  readonly url: string;
  readonly log: Log;
  readonly failOvers: FailOvers;
  /** Whether nothing can be changed: then a standby will do. */
  readonly isReadOnly: boolean;
}

/** A pool whose waiting requests are bounded in number and time. */
export class LimitedPool {
  readonly #driver: Driver;
  readonly #pool: Pool;
  readonly #log: Log;
  readonly #failOvers: FailOvers;
  readonly #max: number;
  readonly #maxWaiting: number;
  /** The number of fail-overs when a connection was made; -1 once its database is read-only. */
  readonly #madeAfter = new WeakMap<PoolClient, number>();
  /** The number of established connections; the pool's own count includes connections under way. */
  #connected = 0;
  #wasConnected = false;
  #backoffMs = 0;
  #blockedUntil = 0;
  #growsAt = 0;

  constructor(
    { driver, url, log, failOvers, isReadOnly }: PoolShape,
    max: number,
    statementMs: number,
    maxWaiting: number,
  ) {
    this.#driver = driver;
    this.#log = log;
    this.#failOvers = failOvers;
    this.#max = max;
    this.#maxWaiting = maxWaiting;
    this.#pool = new driver.Pool({
      ...addressOf(url, isReadOnly ? [...SETTINGS, "default_transaction_read_only=on"] : SETTINGS),
      max,
      application_name: "signalbox",
      connectionTimeoutMillis: WAIT_MS,
      idleTimeoutMillis: IDLE_MS,
      statement_timeout: statementMs,
      query_timeout: statementMs + GRACE_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      keepAlive: true,
      types: { getTypeParser: parserOf(driver) },
      ...(!isReadOnly && {
        verify: (client, done) => void checkWritable(client).then(() => done(), done),
      }),
    });
    // Without an error listener, a connection that the database closes would end the process.
    this.#pool.on("error", () => undefined);
    this.#pool.on("remove", () => this.#connected--);
    this.#pool.on("connect", (client) => {
      this.#connected++;
      client.on("error", () => undefined);
      this.#madeAfter.set(client, failOvers.count);
      if (isReadOnly) return;
      onReadOnly(client, () => {
        this.#madeAfter.set(client, -1);
        failOvers.count++;
      });
    });
  }

  async use<T>(work: (client: PoolClient) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const client = await this.take();
    let failure: unknown;
    try {
      const result = await work(client);
      if (this.#madeAfter.get(client) === -1) throw readOnly(); // the answer may be outdated
      return result;
    } catch (error) {
      failure = error;
      signal?.throwIfAborted();
      throw refusalFor(error, this.#driver);
    } finally {
      this.give(client, failure);
    }
  }

  async take(): Promise<PoolClient> {
    if (systemStopwatch() < this.#blockedUntil) throw refusalFor(undefined, this.#driver);
    if (this.#pool.waitingCount >= this.#maxWaiting) {
      throw new Unavailable("Too many requests are waiting for the database: try again", 1);
    }
    this.#grow();
    for (let attempt = 1; ; attempt++) {
      try {
        const client = await this.#pool.connect();
        if (this.#backoffMs > 0) this.#log.info("the database can be reached again");
        this.#backoffMs = 0;
        this.#wasConnected = true;
        if (this.#leadsToPrimary(client)) return client;
        client.release(true);
      } catch (error) {
        const isFull = codeOf(error) === NO_CONNECTION && this.#pool.totalCount > 0;
        if (isFull) this.#stopGrowing();
        if (isFull && attempt < ATTEMPTS) continue; // waits for a connection of the pool
        // If the pool has connections, the fault was only a long wait for one of them.
        if (this.#pool.totalCount === 0) this.#backOff(error);
        throw unreachable(error, this.#driver);
      }
    }
  }

  give(client: PoolClient, failure?: unknown): void {
    if (codeOf(failure) === READ_ONLY) this.#failOvers.count++;
    const isBad = failure !== undefined && isBroken(failure, this.#driver);
    client.release(isBad || !this.#leadsToPrimary(client));
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  #leadsToPrimary(client: PoolClient): boolean {
    return this.#madeAfter.get(client) === this.#failOvers.count;
  }

  /** Continues with the existing connections: otherwise each request would try to open a connection, and fail. */
  #stopGrowing(): void {
    this.#pool.options.max = Math.max(1, this.#connected);
    this.#growsAt = systemStopwatch() + GROW_AGAIN_MS;
  }

  #grow(): void {
    const { options } = this.#pool;
    if (options.max >= this.#max || systemStopwatch() < this.#growsAt) return;
    options.max++;
    this.#growsAt = systemStopwatch() + GROW_AGAIN_MS;
  }

  #backOff(error: unknown): void {
    // Before the first connection, the start fails and reports the reason itself.
    if (this.#backoffMs === 0 && this.#wasConnected) {
      this.#log.warn("the database cannot be reached", { reason: reasonOf(error) });
    }
    this.#backoffMs = Math.min(this.#backoffMs * 2 || FIRST_BACKOFF_MS, MAX_BACKOFF_MS);
    this.#blockedUntil = systemStopwatch() + this.#backoffMs;
  }
}

const GIVEN_OPTIONS = /(?<=[?&])options=[^&#]*/g;

/** The address without its `options`, which would replace these settings, and the options of both. */
function addressOf(
  url: string,
  settings: readonly string[],
): { readonly connectionString: string; readonly options: string } {
  const end = url.includes("?") ? url.indexOf("?") : url.length;
  const query = url.slice(end);
  const own = new URLSearchParams(query.match(GIVEN_OPTIONS)?.at(-1)).get("options") ?? "";
  const options = [own, ...settings.map((setting) => `-c ${setting}`)].join(" ");
  return { connectionString: url.slice(0, end) + query.replaceAll(GIVEN_OPTIONS, ""), options };
}

function readOnly(): Error {
  return Object.assign(new Error("the database is read-only"), { code: READ_ONLY });
}

/** PostgreSQL reports a change of these settings with its next answer. */
const READ_ONLY_SETTINGS = ["default_transaction_read_only", "in_hot_standby"];

function onReadOnly(client: PoolClient, seen: () => void): void {
  type Report = { readonly parameterName: string; readonly parameterValue: string };
  const { connection } = client as PoolClient & { readonly connection: EventEmitter };
  connection.on("parameterStatus", ({ parameterName, parameterValue }: Report) => {
    if (READ_ONLY_SETTINGS.includes(parameterName) && parameterValue === "on") seen();
  });
}

/** Refuses a connection to a standby: an address may lead to the old primary for some time. */
async function checkWritable(client: PoolClient): Promise<void> {
  const question = {
    text: "SELECT current_setting('transaction_read_only') AS readonly",
    query_timeout: WAIT_MS,
  };
  const { rows } = await client.query<{ readonly: string }>(question);
  if (rows[0]?.readonly === "on") throw readOnly();
}

const INT8 = 20;

/** Reads `bigint` as a number: counts, positions and milliseconds are far below 2^53. */
function parserOf(driver: Driver): Driver["types"]["getTypeParser"] {
  const { getTypeParser } = driver.types;
  const parser = (oid: number, format?: "text" | "binary") =>
    oid === INT8 && format !== "binary" ? Number : getTypeParser(oid, format as "text");
  return parser as Driver["types"]["getTypeParser"];
}

/**
 * Loads the driver.
 *
 * @throws ConfigError if the driver is not installed
 */
export async function loadDriver(): Promise<Driver> {
  try {
    return (await import("pg")).default;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new ConfigError(
      "DATABASE_URL: the PostgreSQL driver is not installed, add it with: npm install pg",
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : String(error);
}
