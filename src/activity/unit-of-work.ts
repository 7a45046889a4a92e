import { changeFor } from "../core/change-asker.ts";
import { Unrecorded } from "../core/errors.ts";
import type { Asker } from "../core/turns.ts";
import type { ActivityEntry } from "./schema.ts";
import type { ActivityStore } from "./store.ts";

/** The result of a change and its entry; without an entry nothing is recorded. */
export interface Changed<T> {
  readonly result: T;
  readonly entry: ActivityEntry | undefined;
}

/**
 * Makes a change over the given stores and writes its entry, as one unit. If the change throws,
 * nothing is recorded and the error is passed on.
 *
 * An engine with transactions commits both or neither. An engine without them commits the change
 * first, and rejects with `Unrecorded` if the entry cannot be written.
 *
 * @param asker the client that asks for the change. Its credentials must still be accepted when the turn of the change
 *   comes. An engine in which changes take connections lets clients take turns; work of the service itself has no asker,
 *   and need not wait
 */
export type UnitOfWork<Stores> = <T>(
  change: (stores: Stores) => Promise<Changed<T>>,
  asker?: Asker,
) => Promise<T>;

/** The unit of work of an engine without transactions: the change, then its entry. */
export function changeThenEntry<
  Stores extends { readonly activity: Pick<ActivityStore, "append"> },
>(stores: Stores): UnitOfWork<Stores> {
  return async (change, asker) => {
    const { result, entry } = await changeFor(asker, () => change(stores));
    if (entry === undefined) return result;
    try {
      await stores.activity.append(entry.organization_id, entry);
    } catch (error) {
      throw unrecorded(entry.action, "but it was done", error);
    }
    return result;
  };
}

/** The error of an entry that could not be written. */
export function unrecorded(
  action: string,
  outcome: "but it was done" | "so it was not done",
  cause: unknown,
): Unrecorded {
  return new Unrecorded(`The record of "${action}" could not be written, ${outcome}`, { cause });
}
