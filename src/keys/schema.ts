import { KEY_SCOPES, scopeInWords } from "../core/key-scopes.ts";
import { always, boolean, dateTime, integer, list, object, string } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";

const MAX_TEXT = 256;

const SCOPES =
  "What the key may do: " +
  KEY_SCOPES.map((scope) => `\`${scope}\` is ${scopeInWords(scope)}`).join("; ") +
  ". Any other text acts as `runtime`.";

const shown = {
  id: string("The key's id."),
  name: string("The purpose of the key."),
  prefix: string("The first characters of the key, which identify it."),
  scopes: string(SCOPES),
  revoked: boolean("Whether the key is revoked."),
  created_at: dateTime("The time of creation."),
  last_used_at: dateTime("The time of the last use; absent without one."),
  expires_at: dateTime("The time from which the key is refused; absent if it never expires."),
} as const satisfies Readonly<Record<string, Schema>>;

const given = ["id", "name", "prefix", "scopes", "revoked", "created_at"] as const;

/** The public form of a key. */
const apiKey = {
  title: "APIKey",
  type: "object",
  description: "An API key without its secret text.",
  required: given,
  properties: shown,
} as const satisfies Schema;
export type ApiKey = Infer<typeof apiKey>;

/** A stored key: `apiKeyOf` makes the public form. */
export const storedKey = {
  type: "object",
  required: [...given, "organization_id", "hash"] as const,
  properties: {
    ...shown,
    organization_id: string("The organization of the key."),
    hash: string("The SHA-256 hash of the key, in hexadecimal."),
  },
} as const satisfies Schema;
export type StoredKey = Infer<typeof storedKey>;

export const apiKeyList = object({
  title: "APIKeyList",
  description: "The API keys of the organization.",
  properties: { api_keys: list("The keys, newest first.", apiKey) },
});

export const apiKeyCreate = {
  title: "APIKeyCreate",
  type: "object",
  description: "A new API key.",
  required: ["name"],
  properties: {
    name: string("The purpose of the key: not only white space.", {
      maxLength: MAX_TEXT,
      ruled: { pattern: "\\S" },
      examples: ["build agents"],
    }),
    scopes: string(SCOPES, { maxLength: MAX_TEXT, default: "runtime", examples: ["report"] }),
    expires_in_days: integer(
      "The number of days until the key expires. Without it the key never expires.",
      {
        minimum: 1,
        maximum: 3650,
        examples: [90],
      },
    ),
  },
} as const satisfies Schema;

export const apiKeyCreated = {
  title: "APIKeyCreated",
  type: "object",
  description: "A new API key with its secret text, which only this response contains.",
  required: [...given, "api_key", "warning"] as const,
  properties: {
    ...shown,
    api_key: string("The secret text of the key. Send it as `X-API-Key`."),
    warning: string("Advice to store the key, and a note if the scope limits nothing."),
  },
} as const satisfies Schema;

export const revokeResult = object({
  title: "RevokeResult",
  description: "The result of revoking a key.",
  properties: { id: string("The key's id."), status: always("revoked") },
});
