import type { Expected } from "../core/assignment.ts";
import type { Awaitable } from "../core/caller.ts";
import { Conflict } from "../core/errors.ts";
import type { Rollout } from "./schema.ts";
import { isOpen } from "./state.ts";

/** An open rollout and its organization. */
export interface OpenOf {
  readonly organization: string;
  readonly rollout: Rollout;
}

/** The most rollouts of an organization that are kept. */
export const KEPT_ROLLOUTS = 500;
/** The most characters of them as JSON. They are in memory, listed together, and written whole at each change. */
export const KEPT_LENGTH = 2 << 20;

/** The rollouts that are kept: all but the oldest of too many or too long ones. Only the newest may be open. */
export function kept(oldestFirst: readonly Rollout[]): readonly Rollout[] {
  let first = oldestFirst.length;
  let length = 0;
  while (first > 0 && oldestFirst.length - first < KEPT_ROLLOUTS) {
    length += JSON.stringify(oldestFirst[first - 1]).length;
    if (length > KEPT_LENGTH) break;
    first--;
  }
  return oldestFirst.slice(first);
}

/**
 * Refuses a further rollout while the newest one is open.
 *
 * @throws Conflict naming the version that is rolled out
 */
export function refuseSecond(newest: Rollout | undefined): void {
  if (newest === undefined || !isOpen(newest)) return;
  throw new Conflict(
    `A rollout of "${newest.version}" is open: finish it or roll it back before another one begins`,
  );
}

/** Keeps the rollouts of every organization, of which at most one is open. */
export interface RolloutStore {
  /**
   * The active version and the open rollout. A rollout whose base is not the active version is left out. A store should
   * return the same `rollout` object until it changes, since results for all runtimes are cached by it.
   */
  expected(organization: string): Awaitable<Expected>;

  /** @throws Conflict if a rollout is open */
  create(organization: string, rollout: Rollout): Promise<void>;

  /**
   * Replaces a rollout by what `change` makes of it, after all earlier changes. What `change` does through other stores
   * is done before the rollout is stored, and with transactions in the same one.
   *
   * @returns the changed rollout, or `undefined` if there is none with that id
   */
  update(
    organization: string,
    id: string,
    change: (rollout: Rollout) => Awaitable<Rollout>,
  ): Promise<Rollout | undefined>;

  get(organization: string, id: string): Awaitable<Rollout | undefined>;

  /** All rollouts, newest first. */
  list(organization: string): Awaitable<readonly Rollout[]>;

  /** The open rollouts of all organizations. */
  open(): Awaitable<readonly OpenOf[]>;

  /** The names of the runtimes that have fetched the version of an open rollout. */
  fetched(organization: string, id: string): Awaitable<ReadonlySet<string>>;

  /** Adds runtimes to those that have fetched the version of an open rollout; does nothing for any other rollout. */
  addFetched(organization: string, id: string, runtimes: readonly string[]): Promise<void>;

  /** Stores rollouts of another store unchanged, oldest first. */
  restore(organization: string, rollouts: readonly Rollout[]): Promise<void>;
}
