import { Conflict } from "../core/errors.ts";
import type { StoredUser } from "./schema.ts";

/**
 * Refuses a change that would leave the organization without an active admin. An organization that
 * never had one is not restricted.
 *
 * @param after the user after the change; `undefined` if it is deleted
 * @throws Conflict
 */
export function checkAdminRemains(
  users: readonly StoredUser[],
  before: StoredUser,
  after: StoredUser | undefined,
): void {
  if (!isActiveAdmin(before) || (after && isActiveAdmin(after))) return;
  if (users.some((user) => user.id !== before.id && isActiveAdmin(user))) return;
  throw new Conflict("The last active admin must stay: make another user an admin first");
}

function isActiveAdmin(user: StoredUser): boolean {
  return user.role === "admin" && user.active;
}
