/**
 * The connection to PostgreSQL: a pool for short statements, a small pool for searches, transactions, time
 * limits, and errors as the service reports them.
 */
import type { Log } from "../../core/log.ts";
import type { Searcher } from "../../core/scheduling/fair-share.ts";
import { Turns, type Asker } from "../../core/scheduling/turns.ts";
import { isBroken, outcomeUnknown, refusalFor } from "./faults.ts";
import { LimitedPool, loadDriver, type Driver, type FailOvers, type PoolClient } from "./pool.ts";
import { repeatedly } from "./repeat.ts";
import { byOrganization, Searches, turnOf } from "./searches.ts";

/** A statement with its values. A named statement is prepared once on each connection. */
type Statement = readonly [text: string, values?: readonly unknown[], name?: string];

/** Runs statements: each in its own transaction, or all in one. */
export interface Statements {
  /** Runs a statement and returns its rows. */
  query<Row extends object>(...statement: Statement): Promise<readonly Row[]>;

  /** Runs a statement and returns the number of rows that it changed. */
  run(...statement: Statement): Promise<number>;
}

/** A transaction under way. It holds a connection until `commit` or `rollback` is called. */
export interface Transaction extends Statements {
  /** @throws Unavailable saying that the outcome is unknown, if the connection is lost meanwhile */
  commit(): Promise<void>;
  /** Undoes all changes; never throws. */
  rollback(): Promise<void>;
}

/** The address of the database, and one server's limits on its use. */
export interface DatabaseOptions {
  readonly url: string;
  /** The most connections, apart from those for searches. */
  readonly poolSize: number;
  readonly log: Log;
  /** Whether nothing can be changed: then a standby will do. */
  readonly isReadOnly?: boolean;
}

/** The time limit of a short statement in milliseconds. */
const STATEMENT_MS = 10_000;

/** The most requests that wait for a connection; further ones are refused at once. */
const MAX_WAITING = 2_000;
const TOO_MANY_CHANGES = "Too many changes are waiting for the database: try again";

/** A PostgreSQL database. */
export class Database implements Statements {
  readonly #driver: Driver;
  readonly #failOvers: FailOvers = { count: 0 };
  readonly #pool: LimitedPool;
  readonly #searches: Searches;
  /**
   * The turns of clients' transactions. Those of one organization wait for each other's locks, each with a
   * connection. Without turns, a burst of them would take every connection, and all other requests would wait. An
   * organization leaves a turn to the others, and one prefix of it a turn to the other, unless there are only one or two.
   */
  readonly #changes: Turns;

  private constructor(driver: Driver, options: DatabaseOptions) {
    const { url, poolSize, log, isReadOnly = false } = options;
    this.#driver = driver;
    const shape = { driver, url, log, isReadOnly, failOvers: this.#failOvers };
    this.#pool = new LimitedPool(shape, poolSize, STATEMENT_MS, MAX_WAITING);
    const searches = Math.max(1, Math.floor(poolSize / 4));
    this.#searches = new Searches(shape, searches, (processId) => this.#cancel(processId));
    const atOnce = Math.max(1, Math.floor(poolSize / 2));
    const limits = {
      ...{ atOnce, atOnceOfOne: 1, waiting: MAX_WAITING },
      atOnceOfGroups: [Math.max(2, atOnce - 1), Math.max(2, atOnce - 2)],
      areShort: true,
    } as const;
    this.#changes = new Turns(limits, TOO_MANY_CHANGES);
  }

  /**
   * Loads the driver. The first statement opens the first connection.
   *
   * @throws ConfigError when the driver is not installed
   */
  static async load(options: DatabaseOptions): Promise<Database> {
    return new Database(await loadDriver(), options);
  }

  query<Row extends object>(...statement: Statement): Promise<readonly Row[]> {
    return this.#pool.use(async (client) => rowsOf<Row>(await ask(client, ...statement)));
  }

  /**
   * Reads in a client's turn, as a change does before it begins its transaction. Without a turn, a burst of changes
   * would fill the line for connections.
   */
  async queryInTurn<Row extends object>(
    asker: Asker | undefined,
    ...statement: Statement
  ): Promise<readonly Row[]> {
    const endTurn = asker && (await this.#turnOf(asker));
    try {
      return await this.query<Row>(...statement);
    } finally {
      endTurn?.();
    }
  }

  /**
   * Runs one statement in its own transaction.
   *
   * @throws Unavailable saying that the outcome is unknown, if the connection is lost meanwhile
   */
  run(...statement: Statement): Promise<number> {
    return this.#pool.use(async (client) => {
      try {
        return (await ask(client, ...statement)).rowCount ?? 0;
      } catch (error) {
        throw this.#isRefusedByServer(error) ? error : outcomeUnknown(error);
      }
    });
  }

  /**
   * Runs a query that may take long, on the connections for searches, which clients share; it ends when its client leaves.
   *
   * @param values the first is the organization
   */
  search<Row extends object>(
    text: string,
    values: readonly unknown[],
    searcher?: Searcher,
  ): Promise<readonly Row[]> {
    const search = async (client: PoolClient) => rowsOf<Row>(await ask(client, text, values));
    return this.#searches.run(String(values[0]), search, searcher);
  }

  /** Runs statements without parameters as one transaction that may take an hour. */
  maintain(text: string): Promise<void> {
    return this.#searches.maintain(text);
  }

  /**
   * Begins a transaction. The caller must end it by `commit` or `rollback`.
   *
   * @param asker waits for its turn first
   */
  async begin(asker?: Asker): Promise<Transaction> {
    const endTurn = asker && (await this.#turnOf(asker));
    let client: PoolClient;
    try {
      await asker?.recheck?.();
      client = await this.#pool.take();
    } catch (error) {
      endTurn?.();
      throw error;
    }
    const driver = this.#driver;
    let broken: unknown;
    let isOver = false;
    const end = (failure?: unknown): void => {
      if (!isOver) this.#pool.give(client, failure);
      isOver = true;
      endTurn?.();
    };
    const step = async (...statement: Statement) => {
      try {
        return await ask(client, ...statement);
      } catch (error) {
        if (isBroken(error, driver)) broken = error;
        throw refusalFor(error, driver);
      }
    };
    const rollback = async (): Promise<void> => {
      if (broken === undefined && !isOver) await step("ROLLBACK").catch(() => undefined);
      end(broken);
    };
    try {
      await step("BEGIN");
    } catch (error) {
      await rollback();
      throw error;
    }
    return {
      query: async <Row extends object>(...statement: Statement) =>
        rowsOf<Row>(await step(...statement)),
      run: async (...statement) => (await step(...statement)).rowCount ?? 0,
      commit: async () => {
        try {
          await step("COMMIT");
        } catch (error) {
          end(broken);
          throw broken === undefined ? error : outcomeUnknown(broken);
        }
        end();
      },
      rollback,
    };
  }

  /**
   * Does work in a transaction, and commits it. The work is repeated if the database ended it because of a
   * deadlock or a conflict with another transaction, so it must not have other effects.
   *
   * @param asker waits for its turn first
   */
  transaction<T>(work: (transaction: Statements) => Promise<T>, asker?: Asker): Promise<T> {
    return repeatedly(async () => {
      const transaction = await this.begin(asker);
      try {
        const result = await work(transaction);
        await transaction.commit();
        return result;
      } catch (error) {
        await transaction.rollback();
        throw error;
      }
    });
  }

  /** Replaces all connections, because one of them leads to a database that cannot be written. */
  reconnect(): void {
    this.#failOvers.count++;
  }

  /** Waits for the statements under way, and closes every connection. */
  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#searches.close()]);
  }

  #turnOf(asker: Asker): Promise<() => void> {
    const [, organization = ""] = asker.party;
    return turnOf(this.#changes, byOrganization(organization, asker), TOO_MANY_CHANGES);
  }

  #isRefusedByServer(error: unknown): boolean {
    return error instanceof this.#driver.DatabaseError && !isBroken(error, this.#driver);
  }

  async #cancel(processId: number | null): Promise<void> {
    await this.query("SELECT pg_cancel_backend($1)", [processId]).catch(() => undefined);
  }
}

/** The number that a statement selects as `n`. */
export async function numberFrom(
  statements: Pick<Statements, "query">,
  text: string,
  values: readonly unknown[] = [],
): Promise<number> {
  const [row] = await statements.query<{ n: number | null }>(text, values);
  return row?.n ?? 0;
}

function ask(client: PoolClient, ...[text, values, name]: Statement) {
  return client.query({
    text,
    ...(values && { values: values as unknown[] }),
    ...(name !== undefined && { name }),
  });
}

function rowsOf<Row>(result: { readonly rows: readonly unknown[] }): readonly Row[] {
  return result.rows as readonly Row[];
}
