import { Conflict } from "../core/errors.ts";
import type { StoredUser } from "./schema.ts";

/**
 * Refuses a change that would leave the organization without an active admin. An organization that
 * never had one is not held up.
 *
 * @param after the user as it will be; `undefined` when it is to be deleted
 * @throws Conflict
 */
export function checkAdminRemains(
  users: readonly StoredUser[],
  before: StoredUser,
  after: StoredUser | undefined,
): void {
  if (!isActiveAdmin(before) || (after && isActiveAdmin(after))) return;
  if (users.some((user) => user.id !== before.id && isActiveAdmin(user))) return;
  throw new Conflict("The last active admin must stay: make somebody else an admin first");
}

function isActiveAdmin(user: StoredUser): boolean {
  return user.role === "admin" && user.active;
}
