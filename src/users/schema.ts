import { NEW_PASSWORD } from "../auth/new-password.ts";
import type { Role } from "../core/roles.ts";
import type { Infer, Schema } from "../core/schema.ts";

const roles = ["admin", "operator", "viewer"] as const satisfies readonly Role[];

/** The longest name of a user. */
const MAX_NAME = 256;
/** Far above the longest possible password; bounds the work of refusing one. */
const MAX_PASSWORD_TEXT = 1_024;

const id = { type: "string", description: "The user's id." } as const satisfies Schema;
const organizationId = {
  type: "string",
  description: "The organization the user belongs to.",
} as const satisfies Schema;
const email = {
  type: "string",
  format: "email",
  maxLength: 254,
  description: "Signs the user in; unique over all organizations, whatever the letter case.",
  examples: ["ada@example.com"],
} as const satisfies Schema;
const name = {
  type: "string",
  maxLength: MAX_NAME,
  description: "How the user is called; the email where none was given.",
  examples: ["Ada Lovelace"],
} as const satisfies Schema;
const role = {
  type: "string",
  enum: roles,
  description: "What the user may do while `ROLES` is `enforced`; otherwise it restricts nothing.",
} as const satisfies Schema;
const active = {
  type: "boolean",
  description: "Whether the user can sign in and use tokens.",
} as const satisfies Schema;
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
export const user = {
  title: "User",
  type: "object",
  description: "A person who can sign in.",
  required: ["id", "name", "email", "role", "active", "organization_id"],
  properties: { id, name, email, role, active, organization_id: organizationId },
} as const satisfies Schema;
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
    password_hash: { type: "string", description: "The scrypt hash and its parameters." },
    credential_version: {
      type: "integer",
      minimum: 1,
      description: "Tokens that name another version are refused.",
    },
    ended_tokens: {
      type: "array",
      description: "Tokens that were ended by signing out and would still be in force.",
      items: {
        type: "object",
        required: ["id", "exp"],
        properties: {
          id: { type: "string", description: "The token's signature." },
          exp: { type: "integer", description: "When it ends by itself, in seconds of Unix time." },
          cv: { type: "integer", description: "The credential version in it, if it names one." },
        },
      },
    },
    created_at: { type: "string", format: "date-time", description: "When it was created." },
    updated_at: { type: "string", format: "date-time", description: "When it last changed." },
  },
} as const satisfies Schema;
export type StoredUser = Infer<typeof storedUser>;

export const userList = {
  title: "UserList",
  type: "object",
  description: "The users of the organization.",
  required: ["users"],
  properties: {
    users: { type: "array", items: user, description: "The users, oldest first." },
  },
} as const satisfies Schema;

export const userCreate = {
  title: "UserCreate",
  type: "object",
  description: "A user to be created in the caller's organization.",
  required: ["email", "password"],
  properties: { email, name, role: { ...role, default: "viewer" }, password: newPassword },
} as const satisfies Schema;

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

export const userDeleted = {
  title: "UserDeleted",
  type: "object",
  description: "A user was deleted.",
  required: ["id", "status"],
  properties: {
    id: { type: "string", description: "The deleted user's id." },
    status: { type: "string", description: "Always `deleted`.", examples: ["deleted"] },
  },
} as const satisfies Schema;

export const loginRequest = {
  title: "LoginRequest",
  type: "object",
  description: "An email and its password.",
  required: ["email", "password"],
  properties: { email, password: { ...password, description: "The user's password." } },
} as const satisfies Schema;

export const loginResult = {
  title: "LoginResult",
  type: "object",
  description: "The proof of a sign-in.",
  required: ["token", "expires_at", "user"],
  properties: {
    token: { type: "string", description: "A JWT, to be sent as `Authorization: Bearer <token>`." },
    expires_at: { type: "string", format: "date-time", description: "When the token ends." },
    user,
  },
} as const satisfies Schema;

export const loggedOut = {
  title: "LogoutResult",
  type: "object",
  description: "The token was ended; it is refused from now on.",
  required: ["status"],
  properties: { status: { type: "string", description: "Always `ok`.", examples: ["ok"] } },
} as const satisfies Schema;

export const passwordChange = {
  title: "PasswordChange",
  type: "object",
  description: "The caller's password, old and new.",
  required: ["current", "password"],
  properties: {
    current: { ...password, description: "The password as it is now." },
    password: newPassword,
  },
} as const satisfies Schema;

export const passwordChanged = {
  title: "PasswordChanged",
  type: "object",
  description: "The password was changed; every token made before is refused from now on.",
  required: ["status"],
  properties: { status: { type: "string", description: "Always `ok`.", examples: ["ok"] } },
} as const satisfies Schema;
