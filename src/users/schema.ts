import { NEW_PASSWORD } from "../auth/new-password.ts";
import type { Role } from "../core/roles.ts";
import {
  always,
  boolean,
  dateTime,
  integer,
  list,
  object,
  string,
  word,
} from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";
import { EMAIL } from "./email.ts";

export const roles = ["admin", "operator", "viewer"] as const satisfies readonly Role[];

/** The longest name of a user. */
const MAX_NAME = 256;
/** Far above the longest possible password; bounds the work of refusing one. */
const MAX_PASSWORD_TEXT = 1_024;

const id = string("The user's id.");
const organizationId = string("The user's organization.");
const email = string("The user's email, unique over all organizations in any letter case.", {
  format: "email",
  maxLength: 254,
  ruled: EMAIL,
  examples: ["ada@example.com"],
});
const name = string("The user's name. The default is the email.", {
  maxLength: MAX_NAME,
  examples: ["Ada Lovelace"],
});
const role = word(
  "The user's role. It restricts the user only while `ROLES` is `enforced`.",
  roles,
);
const active = boolean("Whether the user can sign in and use tokens.");
const password = {
  type: "string",
  format: "password",
  maxLength: MAX_PASSWORD_TEXT,
  ruled: { minLength: 1 },
} as const satisfies Schema;
const newPassword = {
  ...password,
  ruled: NEW_PASSWORD,
  description: "The new password, 10 to 256 characters.",
} as const satisfies Schema;

/** The public form of a user. */
export const user = object({
  title: "User",
  description: "A user, who can sign in.",
  properties: { id, name, email, role, active, organization_id: organizationId },
});
export type User = Infer<typeof user>;

/** A stored user: `userOf` makes the public form. */
export const storedUser = {
  type: "object",
  required: [
    ...user.required,
    "password_hash",
    "credential_version",
    "created_at",
    "updated_at",
  ] as const,
  properties: {
    ...user.properties,
    password_hash: string("The scrypt hash and its parameters."),
    credential_version: integer(
      "The current credential version. Tokens with another version are refused.",
      { minimum: 1 },
    ),
    ended_tokens: list("The tokens that a sign-out ended and that have not expired.", {
      type: "object",
      required: ["id", "exp"],
      properties: {
        id: string("The token's signature."),
        exp: integer("The expiry of the token, in seconds of Unix time."),
        cv: integer("The credential version of the token, if it has one."),
      },
    }),
    created_at: dateTime("The time of creation."),
    updated_at: dateTime("The time of the last change."),
  },
} as const satisfies Schema;
export type StoredUser = Infer<typeof storedUser>;

export const userList = object({
  title: "UserList",
  description: "The users of the organization.",
  properties: { users: list("The users, oldest first.", user) },
});

export const userCreate = object({
  title: "UserCreate",
  description: "A new user of the caller's organization.",
  optional: ["name", "role"],
  properties: { email, name, role: { ...role, default: "viewer" }, password: newPassword },
});

export const userChange = {
  title: "UserChange",
  type: "object",
  description: "The changes of a user. Absent fields keep their values.",
  properties: {
    name,
    role,
    active,
    password: newPassword,
    current_password: {
      ...password,
      description: "The caller's current password; required to change one's own password.",
    },
  },
} as const satisfies Schema;

export const userDeleted = object({
  title: "UserDeleted",
  description: "The result of deleting a user.",
  properties: { id: string("The id of the deleted user."), status: always("deleted") },
});

export const loginRequest = object({
  title: "LoginRequest",
  description: "The credentials of a user.",
  properties: { email, password: { ...password, description: "The user's password." } },
});

export const loginResult = object({
  title: "LoginResult",
  description: "The result of a sign-in.",
  properties: {
    token: string("A JWT. Send it as `Authorization: Bearer <token>`."),
    expires_at: dateTime("The expiry of the token."),
    user,
  },
});

export const loggedOut = object({
  title: "LogoutResult",
  description: "The result of a sign-out.",
  properties: { status: always("ok") },
});

export const passwordChange = object({
  title: "PasswordChange",
  description: "The caller's current and new password.",
  properties: {
    current: { ...password, description: "The current password." },
    password: newPassword,
  },
});

export const passwordChanged = object({
  title: "PasswordChanged",
  description: "The result of a password change. All earlier tokens are refused.",
  properties: { status: always("ok") },
});
