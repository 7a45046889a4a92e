/** Runs the statements of a store: individually, or in the transaction of a unit of work. */
import type { ActivityStore } from "../../activity/store.ts";
import type { UnitOfWork } from "../../activity/unit-of-work.ts";
import { Queue } from "../../core/scheduling/queue.ts";
import type { Database, Statements, Transaction } from "./database.ts";
import { isToRepeat } from "./faults.ts";
import { repeatedly } from "./repeat.ts";

/** The database as a store sees it. */
export interface Session {
  /** Reads. Within a unit of work, earlier changes of the unit are visible. */
  readonly query: Statements["query"];

  /** Makes a change in its own transaction, or in the unit's transaction. The work may be repeated. */
  change<T>(work: (transaction: Statements) => Promise<T>): Promise<T>;

  /** Present in a unit of work. */
  readonly isUnit?: true;
}

/**
 * Makes a change of an organization's small state. It locks the organization's row until the end of the transaction, so
 * that such changes happen one after another, on all servers.
 */
export function changeOf<T>(
  session: Session,
  organization: string,
  work: (transaction: Statements) => Promise<T>,
): Promise<T> {
  return session.change(async (transaction) => {
    await transaction.query("SELECT FROM organizations WHERE id = $1 FOR UPDATE", [organization]);
    return work(transaction);
  });
}

/** The session of stores outside a unit of work. Changes are made in the order of the calls. */
export function plainSession(database: Database): Session {
  const changes = new Queue();
  return {
    query: (...statement) => database.query(...statement),
    change: (work) => changes.run(() => database.transaction(work)),
  };
}

/**
 * The unit of work of this engine: a change and its activity entry are committed together or not at all. The
 * transaction begins with the first change, so a handler that hashes a password first does not hold a connection
 * meanwhile. Before that it waits for the client's turn, and so does a read before it.
 */
export function unitOfWork<Stores extends { readonly activity: Pick<ActivityStore, "append"> }>(
  database: Database,
  storesOver: (session: Session) => Stores,
): UnitOfWork<Stores> {
  return async (change, asker) => {
    let transaction: Transaction | undefined;
    const end = async (how: "commit" | "rollback"): Promise<void> => {
      const ended = transaction;
      transaction = undefined;
      await ended?.[how]();
    };
    const stores = storesOver({
      isUnit: true,
      query: (...statement) =>
        transaction?.query(...statement) ?? database.queryInTurn(asker, ...statement),
      async change(work) {
        if (transaction) return work(transaction);
        // Only the first change of a unit can be repeated: the rollback of a later one would lose the changes before it.
        return repeatedly(
          async () => work((transaction = await database.begin(asker))),
          async (error) => {
            if (isToRepeat(error)) await end("rollback");
            return isToRepeat(error);
          },
        );
      },
    });
    try {
      const { result, entry } = await change(stores);
      if (entry !== undefined) await stores.activity.append(entry.organization_id, entry);
      await end("commit");
      return result;
    } catch (error) {
      await end("rollback");
      throw error;
    }
  };
}
