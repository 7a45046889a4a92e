import type { NewApiKey } from "../auth/api-key.ts";
import { DAY_MS } from "../core/clock.ts";
import { BadInput } from "../core/errors.ts";
import { isKeyScope, KEY_SCOPES } from "../core/key-scopes.ts";
import type { Infer } from "../core/schema.ts";
import { formatTimestamp } from "../core/time.ts";
import { bodyOf } from "../core/validate.ts";
import { apiKeyCreate, type ApiKey, type StoredKey } from "./schema.ts";

/** The body of a key's creation. */
export const apiKeyCreateBody = bodyOf(apiKeyCreate, (given) => {
  const name = given.name.trim();
  if (name === "") throw new BadInput("name: required");
  return { ...given, name };
});

/** Makes the record of a new key. The key cannot be computed from it. */
export function draftKey(
  organization: string,
  { name, scopes = "runtime", expires_in_days: days }: Infer<typeof apiKeyCreate>,
  { hash, prefix }: NewApiKey,
  id: string,
  now: number,
): StoredKey {
  return {
    id,
    organization_id: organization,
    name,
    prefix,
    scopes,
    revoked: false,
    hash,
    created_at: formatTimestamp(now),
    ...(days !== undefined && { expires_at: formatTimestamp(now + days * DAY_MS) }),
  };
}

const STORE_IT = "Store this key now: it is not shown again, and a lost key can only be replaced";

/** The warning for the creator of a key. */
export function keyWarning({ scopes }: Pick<StoredKey, "scopes">): string {
  if (isKeyScope(scopes)) return STORE_IT;
  return (
    `${STORE_IT}. The scope ${JSON.stringify(scopes)} limits nothing, and the key acts as runtime: ` +
    `expected ${KEY_SCOPES.join(", ")}`
  );
}

/** The public part of a key: everything but its hash. */
export function apiKeyOf(key: StoredKey): ApiKey {
  const { id, name, prefix, scopes, revoked, created_at, last_used_at, expires_at } = key;
  return {
    id,
    name,
    prefix,
    scopes,
    revoked,
    created_at,
    ...(last_used_at !== undefined && { last_used_at }),
    ...(expires_at !== undefined && { expires_at }),
  };
}
