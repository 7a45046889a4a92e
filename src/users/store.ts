import type { Awaitable } from "../core/caller.ts";
import type { Quota } from "../core/quota.ts";
import type { StoredUser } from "./schema.ts";

/** Keeps the users of every organization. */
export interface UserStore {
  /** The users of an organization, oldest first. */
  list(organization: string): Awaitable<readonly StoredUser[]>;

  /** The number of an organization's users. */
  count(organization: string): Awaitable<number>;

  /** The active admins of an organization. */
  activeAdmins(organization: string): Awaitable<readonly StoredUser[]>;

  /** A user of the organization; `undefined` for one of another organization too. */
  get(organization: string, id: string): Awaitable<StoredUser | undefined>;

  /** The user with an id, in any organization. */
  findById(id: string): Awaitable<StoredUser | undefined>;

  /** The user with an email, in any letter case, over all organizations. */
  findByEmail(email: string): Awaitable<StoredUser | undefined>;

  /**
   * Adds a user.
   *
   * @param quota checked with the number of users; without it there is no limit
   * @throws Conflict if the email is taken, in any organization
   */
  create(organization: string, user: StoredUser, quota?: Quota): Promise<void>;

  /**
   * Replaces a user by the result of `change`, a pure function; no other change comes between. Id,
   * organization and email stay.
   *
   * @returns the user after the change; `undefined` if the organization has no such user
   * @throws Conflict if no active admin would remain; whatever `change` throws
   */
  change(
    organization: string,
    id: string,
    change: (user: StoredUser) => StoredUser,
  ): Promise<StoredUser | undefined>;

  /**
   * Deletes a user.
   *
   * @param seen called with the user who is deleted
   * @returns whether the organization had it
   * @throws Conflict if it is the last active admin
   */
  remove(organization: string, id: string, seen?: (before: StoredUser) => void): Promise<boolean>;
}
