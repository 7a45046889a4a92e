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

const roles = ["admin", "operator", "viewer"] as const satisfies readonly Role[];

/** The longest name of a user. */
const MAX_NAME = 256;
/** Far above the longest possible password; bounds the work of refusing one. */
const MAX_PASSWORD_TEXT = 1_024;

const id = string("The user's id.");
const organizationId = string("The organization the user belongs to.");
const email = string(
  "Signs the user in; unique over all organizations, whatever the letter case.",
  { format: "email", maxLength: 254, examples: ["ada@example.com"] },
);
const name = string("How the user is called; the email where none was given.", {
  maxLength: MAX_NAME,
  examples: ["Ada Lovelace"],
});
const role = word(
  "What the user may do while `ROLES` is `enforced`; otherwise it restricts nothing.",
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
  description: "The password to set, 10 to 256 characters.",
} as const satisfies Schema;

/** The public form of a user. */
export const user = object({
  title: "User",
  description: "A person who can sign in.",
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
    credential_version: integer("Tokens that name another version are refused.", { minimum: 1 }),
    ended_tokens: list("Tokens that were ended by signing out and would still be in force.", {
      type: "object",
      required: ["id", "exp"],
      properties: {
        id: string("The token's signature."),
        exp: integer("When it ends by itself, in seconds of Unix time."),
        cv: integer("The credential version in it, if it names one."),
      },
    }),
    created_at: dateTime("When it was created."),
    updated_at: dateTime("When it last changed."),
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
  description: "A user to be created in the caller's organization.",
  optional: ["name", "role"],
  properties: { email, name, role: { ...role, default: "viewer" }, password: newPassword },
});

export const userChange = {
  title: "UserChange",
  type: "object",
  description: "What is to change; everything else stays. A new password ends the user's tokens.",
  properties: {
    name,
    role,
    active,
    password: newPassword,
    current_password: {
      ...password,
      description:
        "The caller's password as it is now: required to change one's own password, otherwise not looked at.",
    },
  },
} as const satisfies Schema;

export const userDeleted = object({
  title: "UserDeleted",
  description: "A user was deleted.",
  properties: { id: string("The deleted user's id."), status: always("deleted") },
});

export const loginRequest = object({
  title: "LoginRequest",
  description: "An email and its password.",
  properties: { email, password: { ...password, description: "The user's password." } },
});

export const loginResult = object({
  title: "LoginResult",
  description: "The proof of a sign-in.",
  properties: {
    token: string("A JWT, to be sent as `Authorization: Bearer <token>`."),
    expires_at: dateTime("When the token ends."),
    user,
  },
});

export const loggedOut = object({
  title: "LogoutResult",
  description: "The token was ended; it is refused from now on.",
  properties: { status: always("ok") },
});

export const passwordChange = object({
  title: "PasswordChange",
  description: "The caller's password, old and new.",
  properties: {
    current: { ...password, description: "The password as it is now." },
    password: newPassword,
  },
});

export const passwordChanged = object({
  title: "PasswordChanged",
  description: "The password was changed; every token made before is refused from now on.",
  properties: { status: always("ok") },
});
