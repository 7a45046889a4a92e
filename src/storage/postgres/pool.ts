/** The pool of connections of the driver `pg`, which is loaded on first use. */
import type pg from "pg";
import type { Pool, PoolClient } from "pg";
import { ConfigError } from "../../core/config-error.ts";
import { Unavailable } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { systemStopwatch } from "../../core/timers.ts";
import { isBroken, refusalFor } from "./faults.ts";

/** The driver, an optional peer dependency. */
export type Driver = typeof pg;

export type { PoolClient };

/** How much longer the server waits for the answer of a database that should have given up itself. */
const GRACE_MS = 1_000;
const CONNECT_MS = 5_000;
const IDLE_MS = 30_000;
/** After so long a transaction is ended whose server does nothing, and its locks are free. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** How long a failed connection makes later requests fail at once, so that they do not queue for the next. */
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2_000;

/** The common options of the pools of one database. */
export interface PoolShape {
  readonly driver: Driver;
  readonly url: string;
  readonly log: Log;
}

/** A pool whose waiting requests are bounded in number and time. */
export class LimitedPool {
  readonly #driver: Driver;
  readonly #pool: Pool;
  readonly #log: Log;
  readonly #maxWaiting: number;
  #backoffMs = 0;
  #blockedUntil = 0;

  constructor(
    { driver, url, log }: PoolShape,
    max: number,
    statementMs: number,
    maxWaiting: number,
  ) {
    this.#driver = driver;
    this.#log = log;
    this.#maxWaiting = maxWaiting;
    this.#pool = new driver.Pool({
      connectionString: url,
      max,
      application_name: "signalbox",
      connectionTimeoutMillis: CONNECT_MS,
      idleTimeoutMillis: IDLE_MS,
      statement_timeout: statementMs,
      query_timeout: statementMs + GRACE_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      keepAlive: true,
      types: { getTypeParser: parserOf(driver) },
    });
    // Without these a connection that the database closes would end the process.
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => void client.on("error", () => undefined));
  }

  async use<T>(work: (client: PoolClient) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const client = await this.take();
    let failure: unknown;
    try {
      return await work(client);
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
    try {
      const client = await this.#pool.connect();
      if (this.#backoffMs > 0) this.#log.info("the database can be reached again");
      this.#backoffMs = 0;
      return client;
    } catch (error) {
      // With a connection left it is the limit of connections that was reached, here or in the database.
      if (this.#pool.totalCount === 0) this.#backOff(error);
      throw refusalFor(error, this.#driver);
    }
  }

  give(client: PoolClient, failure?: unknown): void {
    client.release(failure !== undefined && isBroken(failure, this.#driver));
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  #backOff(error: unknown): void {
    if (this.#backoffMs === 0) {
      this.#log.warn("the database cannot be reached", { reason: reasonOf(error) });
    }
    this.#backoffMs = Math.min(this.#backoffMs * 2 || FIRST_BACKOFF_MS, MAX_BACKOFF_MS);
    this.#blockedUntil = systemStopwatch() + this.#backoffMs;
  }
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
 * @throws ConfigError when it is not installed
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
