import { checkNewPassword } from "../auth/password.ts";
import type { Role } from "../core/roles.ts";
import type { ShownToken } from "../core/caller.ts";
import { SECOND_MS } from "../core/clock.ts";
import { formatTimestamp } from "../core/time.ts";
import { bodyOf } from "../core/validate.ts";
import { checkEmail } from "./email.ts";
import {
  loginRequest,
  passwordChange,
  userChange,
  userCreate,
  type StoredUser,
  type User,
} from "./schema.ts";

/** A new user without an organization: creating an organization assigns its id last. */
export type UserDraft = Omit<StoredUser, "organization_id">;

/** The data of a new user, beside the password. */
export interface Profile {
  readonly email: string;
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
}

/** The fields that a change sets; absent fields stay. */
export interface UserChange {
  readonly name?: string | undefined;
  readonly role?: Role | undefined;
  readonly active?: boolean | undefined;
  readonly passwordHash?: string | undefined;
}

type EndedToken = NonNullable<StoredUser["ended_tokens"]>[number];

const MAX_ENDED_TOKENS = 100;

/** The body of a user's creation. */
export const userCreateBody = bodyOf(userCreate, (given) => {
  checkEmail(given.email, "email");
  checkNewPassword(given.password, "password");
  return given;
});

export const userChangeBody = bodyOf(userChange, (given) => {
  if (given.password !== undefined) checkNewPassword(given.password, "password");
  return given;
});

/** The body of a sign-in. The password is only compared, so only its length is limited. */
export const loginBody = bodyOf(loginRequest, (given) => {
  checkEmail(given.email, "email");
  return given;
});

/** The body of a change of the caller's own password. */
export const passwordChangeBody = bodyOf(passwordChange, (given) => {
  checkNewPassword(given.password, "password");
  return given;
});

/** Makes a new, active user: by default a viewer who is named after the email. */
export function draftUser(
  { email, name, role = "viewer" }: Profile,
  passwordHash: string,
  id: string,
  now: number,
): UserDraft {
  const at = formatTimestamp(now);
  return {
    id,
    email,
    name: name?.trim() || email,
    role,
    active: true,
    password_hash: passwordHash,
    credential_version: 1,
    created_at: at,
    updated_at: at,
  };
}

/**
 * Changes a user. A new password and a deactivation raise the credential version, which ends every
 * earlier token.
 */
export function changedUser(user: StoredUser, change: UserChange, now: number): StoredUser {
  const { name, role = user.role, active = user.active, passwordHash } = change;
  const endsTokens = passwordHash !== undefined || (user.active && !active);
  return {
    ...user,
    name: name?.trim() || user.name,
    role,
    active,
    password_hash: passwordHash ?? user.password_hash,
    credential_version: user.credential_version + (endsTokens ? 1 : 0),
    updated_at: formatTimestamp(now),
  };
}

/**
 * Ends one token of a user, and drops the record of expired ones. A user has at most 100 such
 * records; one more raises the credential version instead, which ends every token of the user.
 *
 * @param now milliseconds
 */
export function withEndedToken(user: StoredUser, token: ShownToken, now: number): StoredUser {
  const { id, exp, cv } = token;
  const isInForce = (ended: EndedToken): boolean =>
    ended.exp > now / SECOND_MS && (ended.cv === undefined || ended.cv === user.credential_version);
  const others = (user.ended_tokens ?? []).filter((ended) => isInForce(ended) && ended.id !== id);
  if (cv !== undefined && others.length >= MAX_ENDED_TOKENS) {
    const named = others.filter((ended) => ended.cv === undefined); // the version does not end these
    return { ...user, ended_tokens: named, credential_version: user.credential_version + 1 };
  }
  const end = Math.min(Math.ceil(exp), Number.MAX_SAFE_INTEGER); // other issuers may sign fractions
  const ended: EndedToken = { id, exp: end, ...(cv !== undefined && { cv }) };
  return { ...user, ended_tokens: [...others, ended] };
}

/** The public part of a user: everything except the data about credentials. */
export function userOf({ id, name, email, role, active, organization_id }: StoredUser): User {
  return { id, name, email, role, active, organization_id };
}
