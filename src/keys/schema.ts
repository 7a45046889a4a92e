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
  name: string("What the key is for."),
  prefix: string("The key's first characters, by which people know it."),
  scopes: string(SCOPES),
  revoked: boolean("Whether the key is refused."),
  created_at: dateTime("When it was created."),
  last_used_at: dateTime("When it was last accepted; absent while it never was."),
  expires_at: dateTime("From when on it is refused; absent where it never expires."),
} as const satisfies Readonly<Record<string, Schema>>;

const given = ["id", "name", "prefix", "scopes", "revoked", "created_at"] as const;

/** The public form of a key. */
export const apiKey = {
  title: "APIKey",
  type: "object",
  description: "A credential of runtimes, without the part that is secret.",
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
    organization_id: string("The organization it acts for."),
    hash: string("The key's SHA-256, in hexadecimal."),
  },
} as const satisfies Schema;
export type StoredKey = Infer<typeof storedKey>;

export const apiKeyList = object({
  title: "APIKeyList",
  description: "The organization's keys.",
  properties: { api_keys: list("The keys, newest first.", apiKey) },
});

export const apiKeyCreate = {
  title: "APIKeyCreate",
  type: "object",
  description: "A key to be created.",
  required: ["name"],
  properties: {
    name: string("What the key is for.", { maxLength: MAX_TEXT, examples: ["build agents"] }),
    scopes: string(SCOPES, { maxLength: MAX_TEXT, default: "runtime", examples: ["report"] }),
    expires_in_days: integer("After how many days it is refused; without it, it never expires.", {
      minimum: 1,
      maximum: 3650,
      examples: [90],
    }),
  },
} as const satisfies Schema;

export const apiKeyCreated = {
  title: "APIKeyCreated",
  type: "object",
  description: "A new key, and its secret text, which is answered this once.",
  required: [...given, "api_key", "warning"] as const,
  properties: {
    ...shown,
    api_key: string("The key, to be sent as `X-API-Key`."),
    warning: string("Advises to store the key now, and names `scopes` that limit nothing."),
  },
} as const satisfies Schema;

export const revokeResult = object({
  title: "RevokeResult",
  description: "A key is revoked.",
  properties: { id: string("The key's id."), status: always("revoked") },
});
