import type { Passwords, Setter, SignIn } from "../auth/password.ts";
import type { LoginThrottle } from "../auth/throttle.ts";
import type { Awaitable } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { Conflict, Forbidden, NotFound, Unauthenticated } from "../core/errors.ts";
import { changedUser } from "./draft.ts";
import type { StoredUser } from "./schema.ts";
import type { UserStore } from "./store.ts";

/** The services that verify a password. */
export interface SignInServices {
  readonly users: UserStore;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
}

/**
 * Finds the active user with this email and password. An unknown email, a wrong password and an
 * inactive user are refused in the same words and after the same time.
 *
 * @param seen called with the user of this email, if there is one, unless the attempt is refused at once
 * @throws Unauthenticated, or TooMany after too many failures
 */
export async function signIn(
  services: SignInServices,
  by: SignIn,
  password: string,
  seen: (known: StoredUser | undefined) => void = () => {},
): Promise<StoredUser> {
  const { email } = by;
  const find = async (): Promise<StoredUser | undefined> => {
    const known = await services.users.findByEmail(email);
    seen(known);
    return known;
  };
  const user = await provenUser(services, email, password, by, find);
  if (!user) throw new Unauthenticated("The email or the password is wrong");
  return user;
}

/**
 * Replaces the caller's own password, given the current one.
 *
 * @throws NotFound if the user was deleted, Forbidden if `current` is wrong, TooMany after too many
 *   failures, Conflict if the password was changed meanwhile
 */
export async function changePassword(
  services: SignInServices,
  setter: Setter & { readonly actor: { readonly id: string } },
  { current, password }: { readonly current: string; readonly password: string },
  now: Clock,
): Promise<void> {
  const { users, passwords } = services;
  const { organization, actor } = setter;
  const { id } = actor;
  const user = await users.get(organization, id);
  if (!user) throw userGone();
  await requireCurrentPassword(services, user, current, setter);
  const passwordHash = await passwords.hash(password, setter);
  const changed = await users.change(organization, id, (latest) => {
    checkUnchanged(latest, user);
    return changedUser(latest, { passwordHash }, now());
  });
  if (!changed) throw userGone();
}

/**
 * Checks that a caller knows the current password of the own user.
 *
 * @throws Forbidden if it is wrong, TooMany after too many failures
 */
export async function requireCurrentPassword(
  services: SignInServices,
  user: StoredUser,
  current: string,
  setter: Setter,
): Promise<void> {
  const proven = await provenUser(services, user.email, current, setter, () => user);
  if (!proven) throw new Forbidden("The current password is wrong");
}

/**
 * Checks that the verified password is still the one to be replaced.
 *
 * @throws Conflict
 */
export function checkUnchanged(latest: StoredUser, proven: StoredUser): void {
  if (latest.credential_version === proven.credential_version) return;
  throw new Conflict("The password or the user was changed meanwhile: sign in again");
}

/** The refusal for a caller whose own user was deleted. */
export function userGone(): NotFound {
  return new NotFound("The user of this token was deleted");
}

async function provenUser(
  { passwords, throttle }: SignInServices,
  email: string,
  password: string,
  by: SignIn | Setter,
  find: () => Awaitable<StoredUser | undefined>,
): Promise<StoredUser | undefined> {
  const attempt = await throttle.begin(email, by.address);
  let user: StoredUser | undefined;
  let isRight: boolean;
  try {
    user = await find();
    isRight = await passwords.verify(password, user?.password_hash, by);
  } catch (error) {
    await attempt.abandoned();
    throw error;
  }
  if (!user?.active || !isRight) {
    await attempt.failed();
    return undefined;
  }
  await attempt.succeeded();
  return user;
}
