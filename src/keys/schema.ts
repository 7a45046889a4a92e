import { KEY_SCOPES, scopeInWords } from "../core/key-scopes.ts";
import type { Infer, Schema } from "../core/schema.ts";

const MAX_TEXT = 256;

const SCOPES =
  "What the key may do: " +
  KEY_SCOPES.map((scope) => `\`${scope}\` is ${scopeInWords(scope)}`).join("; ") +
  ". Any other text acts as `runtime`.";

const shown = {
  id: { type: "string", description: "The key's id." },
  name: { type: "string", description: "What the key is for." },
  prefix: { type: "string", description: "The key's first characters, by which people know it." },
  scopes: { type: "string", description: SCOPES },
  revoked: { type: "boolean", description: "Whether the key is refused." },
  created_at: { type: "string", format: "date-time", description: "When it was created." },
  last_used_at: {
    type: "string",
    format: "date-time",
    description: "When it was last accepted; absent while it never was.",
  },
  expires_at: {
    type: "string",
    format: "date-time",
    description: "From when on it is refused; absent where it never expires.",
  },
} as const satisfies Readonly<Record<string, Schema>>;

const always = ["id", "name", "prefix", "scopes", "revoked", "created_at"] as const;

/** The public form of a key. */
export const apiKey = {
  title: "APIKey",
  type: "object",
  description: "A credential of runtimes, without the part that is secret.",
  required: always,
  properties: shown,
} as const satisfies Schema;
export type ApiKey = Infer<typeof apiKey>;

/** A stored key: `apiKeyOf` makes the public form. */
export const storedKey = {
  type: "object",
  required: [...always, "organization_id", "hash"] as const,
  properties: {
    ...shown,
    organization_id: { type: "string", description: "The organization it acts for." },
    hash: { type: "string", description: "The key's SHA-256, in hexadecimal." },
  },
} as const satisfies Schema;
export type StoredKey = Infer<typeof storedKey>;

export const apiKeyList = {
  title: "APIKeyList",
  type: "object",
  description: "The organization's keys.",
  required: ["api_keys"],
  properties: {
    api_keys: { type: "array", items: apiKey, description: "The keys, newest first." },
  },
} as const satisfies Schema;

export const apiKeyCreate = {
  title: "APIKeyCreate",
  type: "object",
  description: "A key to be created.",
  required: ["name"],
  properties: {
    name: {
      type: "string",
      maxLength: MAX_TEXT,
      description: "What the key is for.",
      examples: ["build agents"],
    },
    scopes: {
      type: "string",
      maxLength: MAX_TEXT,
      default: "runtime",
      description: SCOPES,
      examples: ["report"],
    },
    expires_in_days: {
      type: "integer",
      minimum: 1,
      maximum: 3650,
      description: "After how many days it is refused; without it, it never expires.",
      examples: [90],
    },
  },
} as const satisfies Schema;

export const apiKeyCreated = {
  title: "APIKeyCreated",
  type: "object",
  description: "A new key, and its secret text, which is answered this once.",
  required: [...always, "api_key", "warning"] as const,
  properties: {
    ...shown,
    api_key: { type: "string", description: "The key, to be sent as `X-API-Key`." },
    warning: {
      type: "string",
      description: "Advises to store the key now, and names `scopes` that limit nothing.",
    },
  },
} as const satisfies Schema;

export const revokeResult = {
  title: "RevokeResult",
  type: "object",
  description: "A key is revoked.",
  required: ["id", "status"],
  properties: {
    id: { type: "string", description: "The key's id." },
    status: { type: "string", description: "Always `revoked`.", examples: ["revoked"] },
  },
} as const satisfies Schema;
