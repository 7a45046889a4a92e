import type { Awaitable } from "../core/caller.ts";
import type { Quota } from "../core/quota.ts";
import type { StoredKey } from "./schema.ts";

/** Keeps the API keys of every organization. */
export interface KeyStore {
  /** The keys of an organization, newest first, revoked ones included. */
  list(organization: string): Awaitable<readonly StoredKey[]>;

  /** The key with a hash, whose organization the caller learns from it; revoked ones included. */
  findByHash(hash: string): Awaitable<StoredKey | undefined>;

  /**
   * Adds a key. Of revoked keys the 1,000 that were created last stay, older ones are dropped.
   *
   * @param quota asked with the number of keys that are not revoked; without one there is no limit
   */
  create(organization: string, key: StoredKey, quota?: Quota): Promise<void>;

  /**
   * Revokes a key for good; one that is revoked already stays so.
   *
   * @returns whether the organization has such a key
   */
  revoke(organization: string, id: string): Promise<boolean>;

  /**
   * Notes that a key was accepted at `now` (milliseconds). Lists show it at once; it is safe within
   * a minute.
   */
  touch(organization: string, id: string, now: number): void;
}
