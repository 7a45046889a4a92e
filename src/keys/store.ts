import type { Awaitable } from "../core/caller.ts";
import type { Quota } from "../core/quota.ts";
import type { StoredKey } from "./schema.ts";

/** The number of revoked keys that an organization keeps: the newest by creation. */
export const KEPT_REVOKED = 1_000;

/** Keeps the API keys of every organization. */
export interface KeyStore {
  /** The keys of an organization, newest first, revoked ones included. */
  list(organization: string): Awaitable<readonly StoredKey[]>;

  /** The key with a hash, in any organization, even if revoked. */
  findByHash(hash: string): Awaitable<StoredKey | undefined>;

  /**
   * Adds a key. Of the revoked keys the newest `KEPT_REVOKED` are kept; older ones are dropped.
   *
   * @param quota checked with the number of keys that are not revoked; without it there is no limit
   */
  create(organization: string, key: StoredKey, quota?: Quota): Promise<void>;

  /**
   * Revokes a key permanently; a revoked key stays revoked.
   *
   * @returns the key as it was before; `undefined` if the organization has no such key
   */
  revoke(organization: string, id: string): Promise<StoredKey | undefined>;

  /**
   * Records that a key was accepted at `now` (milliseconds). Lists show it at once; it is durable
   * within a minute.
   */
  touch(organization: string, id: string, now: number): void;
}
