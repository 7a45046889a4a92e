import type { Setter } from "../auth/password.ts";
import type { Actor } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { BadInput, Forbidden, NotFound } from "../core/errors.ts";
import type { Role } from "../core/roles.ts";
import type { Infer } from "../core/schema.ts";
import { changedUser } from "./draft.ts";
import { checkAdminRemains } from "./last-admin.ts";
import type { StoredUser, userChange } from "./schema.ts";
import { checkUnchanged, requireCurrentPassword, type SignInServices } from "./sign-in.ts";

/** The user to change, and the caller who requests it. */
export interface UserChangeRequest {
  readonly id: string;
  readonly setter: Setter & { readonly actor: Actor | undefined };
  /** Called with the user as it was just before the change. */
  readonly seen: (before: StoredUser) => void;
}

/**
 * Changes a user. Everything that can refuse the change is checked before a password is hashed,
 * since the hash is the costly part; the store checks again what may have changed meanwhile.
 *
 * @throws NotFound, Forbidden for the own role or a wrong current password, BadInput if the current
 *   password is missing, Conflict if no active admin would remain, TooMany after too many failures
 */
export async function changeUser(
  services: SignInServices & { readonly now: Clock },
  { id, setter, seen }: UserChangeRequest,
  { password, current_password: current, ...rest }: Infer<typeof userChange>,
): Promise<StoredUser> {
  const { users, passwords, now } = services;
  const { organization, actor } = setter;
  const user = await users.get(organization, id);
  if (!user) throw noUser(id);
  const isOwn = actor?.kind === "user" && actor.id === id;
  const setsOwnPassword = isOwn && password !== undefined;
  if (isOwn) checkOwnRole(user, rest.role);
  checkAdminRemains(await users.activeAdmins(organization), user, changedUser(user, rest, now()));
  if (setsOwnPassword) {
    if (current === undefined) {
      throw new BadInput("current_password: required to change your own password");
    }
    await requireCurrentPassword(services, user, current, setter);
  }
  const passwordHash = password === undefined ? undefined : await passwords.hash(password, setter);
  const changed = await users.change(organization, id, (latest) => {
    if (isOwn) checkOwnRole(latest, rest.role);
    if (setsOwnPassword) checkUnchanged(latest, user);
    seen(latest);
    return changedUser(latest, { ...rest, passwordHash }, now());
  });
  if (!changed) throw noUser(id);
  return changed;
}

/** The refusal of an id that no user of the organization has. */
export function noUser(id: string): NotFound {
  return new NotFound(`No user has the id "${id}"`);
}

function checkOwnRole(user: StoredUser, role: Role | undefined): void {
  if (role === undefined || role === user.role) return;
  throw new Forbidden("role: users cannot change their own, ask another admin");
}
