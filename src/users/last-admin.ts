import { Conflict } from "../core/errors.ts";
import type { StoredUser } from "./schema.ts";

/**
 * Refuses a change that would leave the organization without an active admin. An organization that
 * never had one is not restricted.
 *
 * @param admins the active admins of the organization before the change
 * @param after the user after the change; `undefined` if it is deleted
 * @throws Conflict
 */
export function checkAdminRemains(
  admins: readonly StoredUser[],
  before: StoredUser,
  after: StoredUser | undefined,
): void {
  if (!isActiveAdmin(before) || (after && isActiveAdmin(after))) return;
  if (admins.some((admin) => admin.id !== before.id)) return;
  throw new Conflict("The last active admin must stay: make another user an admin first");
}

/** Whether a user is an admin that can sign in. */
export function isActiveAdmin(user: StoredUser): boolean {
  return user.role === "admin" && user.active;
}
