import type { Awaitable } from "../core/caller.ts";
import { changeFor } from "../core/change-asker.ts";
import { Unavailable, Unrecorded } from "../core/errors.ts";
import type { Asker } from "../core/scheduling/turns.ts";
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

/**
 * The changes of an engine without transactions: each is made, then its entry is written.
 *
 * A change begins when its turn in the queue of its first store comes. A stop waits for the changes that have begun,
 * also for those of clients that have left, and refuses the others before they store anything.
 */
export class RecordedChanges<Stores extends { readonly activity: Pick<ActivityStore, "append"> }> {
  readonly #stores: Stores;
  #isClosed = false;
  /** The changes that have begun and not ended. */
  #begun = 0;
  #onEnd: (() => void) | undefined;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** The unit of work. */
  readonly commit: UnitOfWork<Stores> = async (change, asker) => {
    let hasBegun = false;
    const begin = (): void => {
      if (hasBegun) return;
      if (this.#isClosed) throw new Unavailable("The service is stopping", 1);
      hasBegun = true;
      this.#begun++;
    };
    const recheck = (): Awaitable<void> => {
      begin();
      return asker?.recheck?.();
    };
    try {
      const { result, entry } = await changeFor(recheck, () => change(this.#stores));
      if (entry === undefined) return result;
      begin(); // a change that stores nothing but its entry, such as a sign-in
      await this.#append(entry);
      return result;
    } finally {
      if (hasBegun && --this.#begun === 0) this.#onEnd?.();
    }
  };

  /** Refuses further changes, and resolves when those that have begun are made and recorded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#begun > 0) await new Promise<void>((resolve) => (this.#onEnd = resolve));
  }

  async #append(entry: ActivityEntry): Promise<void> {
    try {
      await this.#stores.activity.append(entry.organization_id, entry);
    } catch (error) {
      throw unrecorded(entry.action, "but it was done", error);
    }
  }
}

/** The error of an entry that could not be written. */
export function unrecorded(
  action: string,
  outcome: "but it was done" | "so it was not done",
  cause: unknown,
): Unrecorded {
  return new Unrecorded(`The record of "${action}" could not be written, ${outcome}`, { cause });
}
