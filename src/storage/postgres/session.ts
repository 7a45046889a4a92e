/** Runs the statements of a store: by themselves, or in the transaction of a unit of work. */
import type { ActivityStore } from "../../activity/store.ts";
import type { UnitOfWork } from "../../activity/unit-of-work.ts";
import type { Database, Statements, Transaction } from "./database.ts";
import { isToRepeat } from "./faults.ts";
import { repeatedly } from "./repeat.ts";

/** The database as a store sees it. */
export interface Session {
  /** Reads; within a unit of work that has changed something, its changes are seen. */
  readonly query: Statements["query"];

  /** Makes a change: in a transaction of its own, or as a part of the unit's. May run its work again. */
  change<T>(work: (transaction: Statements) => Promise<T>): Promise<T>;

  /** Present in a unit of work. */
  readonly isUnit?: true;
}

/** The session of stores outside of any unit of work. Its changes are made in the order of their calls. */
export function plainSession(database: Database): Session {
  let last: Promise<unknown> = Promise.resolve();
  return {
    query: (...statement) => database.query(...statement),
    change: (work) => {
      const own = last.then(() => database.transaction(work));
      last = own.catch(() => undefined);
      return own;
    },
  };
}

/**
 * The unit of work of this engine: a change and its entry are committed together, or neither is. The
 * transaction begins with the first change, so that a handler that hashes a password before it holds no
 * connection meanwhile.
 */
export function unitOfWork<Stores extends { readonly activity: Pick<ActivityStore, "append"> }>(
  database: Database,
  storesOver: (session: Session) => Stores,
): UnitOfWork<Stores> {
  return async (change) => {
    const unit = new Unit(database);
    try {
      const stores = storesOver(unit);
      const { result, entry } = await change(stores);
      if (entry !== undefined) await stores.activity.append(entry.organization_id, entry);
      await unit.commit();
      return result;
    } catch (error) {
      await unit.rollback();
      throw error;
    }
  };
}

class Unit implements Session {
  readonly isUnit = true;
  readonly #database: Database;
  #transaction: Transaction | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  readonly query: Session["query"] = (...statement) =>
    (this.#transaction ?? this.#database).query(...statement);

  async change<T>(work: (transaction: Statements) => Promise<T>): Promise<T> {
    if (this.#transaction) return work(this.#transaction);
    // The first change of a unit can be made again; a later one would lose those before it.
    return repeatedly(
      async () => work((this.#transaction = await this.#database.begin())),
      async (error) => {
        if (isToRepeat(error)) await this.rollback();
        return isToRepeat(error);
      },
    );
  }

  async commit(): Promise<void> {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    await transaction?.commit();
  }

  async rollback(): Promise<void> {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    await transaction?.rollback();
  }
}
