/** The changes that the command line offers, made by a running server or directly in its directory. */
import type { ActivityEntry } from "../activity/schema.ts";
import type { UnitOfWork } from "../activity/unit-of-work.ts";
import { createApiKey } from "../auth/api-key.ts";
import type { Passwords } from "../auth/password.ts";
import { DEFAULT_ORGANIZATION } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { BadInput } from "../core/errors.ts";
import type { IdSource } from "../core/ids.ts";
import { formatTimestamp } from "../core/time.ts";
import { isObject } from "../core/validate.ts";
import { apiKeyCreateBody, apiKeyOf, draftKey, keyWarning } from "../keys/draft.ts";
import type { KeyStore } from "../keys/store.ts";
import type { OrganizationStore } from "../organizations/store.ts";
import { draftUser, userCreateBody, userOf } from "../users/draft.ts";
import { emailTaken } from "../users/email.ts";
import type { UserStore } from "../users/store.ts";

export interface ChangeServices {
  /** Makes a change and records it. */
  readonly commit: UnitOfWork<{
    readonly users: Pick<UserStore, "create">;
    readonly keys: Pick<KeyStore, "create">;
  }>;
  readonly users: Pick<UserStore, "findByEmail">;
  readonly organizations: Pick<OrganizationStore, "get">;
  readonly passwords: Passwords;
  readonly now: Clock;
  readonly ids: IdSource;
}

/** The changes by name, each with the function that reads and makes it. */
export const CHANGES = { "add-user": addUser, "create-key": createKey } as const;
export type ChangeName = keyof typeof CHANGES;

/**
 * Creates a user: `email`, `password`, `role`, `name`, and the `organization` if it is not the default.
 *
 * @throws BadInput naming the invalid field; Conflict if the email is taken
 */
async function addUser(services: ChangeServices, asked: unknown): Promise<object> {
  const { commit, users, passwords, ids, now } = services;
  const organization = await organizationOf(services, asked);
  const email: unknown = isObject(asked) ? asked["email"] : undefined;
  const body = userCreateBody.read(isObject(asked) ? { name: email, ...asked } : asked);
  if (await users.findByEmail(body.email)) throw emailTaken(body.email);
  const hash = await passwords.hash(body.password);
  const user = { ...draftUser(body, hash, ids(), now()), organization_id: organization };
  const { role, name } = user;
  const target = { type: "user", id: user.id, name: user.email };
  const what = { action: "user.create", target, after: { role, name } };
  return commit(async (stores) => {
    await stores.users.create(organization, user);
    return { result: userOf(user), entry: entryOf(services, organization, what) };
  });
}

/**
 * Creates an API key: `name`, the `organization` if it is not the default one, `scopes` if it is
 * not `runtime`, and `expires_in_days` if it is to expire.
 *
 * @returns the public form of the key, its text in `api_key`, and a `warning` for users
 */
async function createKey(services: ChangeServices, asked: unknown): Promise<object> {
  const { commit, ids, now } = services;
  const organization = await organizationOf(services, asked);
  const fresh = createApiKey();
  const key = draftKey(organization, apiKeyCreateBody.read(asked), fresh, ids(), now());
  const { prefix, scopes, expires_at } = key;
  const target = { type: "key", id: key.id, name: key.name };
  const after = { prefix, scopes, expires_at };
  const result = { ...apiKeyOf(key), api_key: fresh.text, warning: keyWarning(key) };
  return commit(async (stores) => {
    await stores.keys.create(organization, key);
    const entry = entryOf(services, organization, { action: "key.create", target, after });
    return { result, entry };
  });
}

async function organizationOf(services: ChangeServices, asked: unknown): Promise<string> {
  const id: unknown = isObject(asked) ? asked["organization"] : undefined;
  if (id === undefined) return DEFAULT_ORGANIZATION;
  if (typeof id === "string" && (await services.organizations.get(id))) return id;
  throw new BadInput(`organization: there is none with the id ${JSON.stringify(id)}`);
}

/** The activity entry of a change that a command makes. */
function entryOf(
  { ids, now }: ChangeServices,
  organization: string,
  what: Pick<ActivityEntry, "action" | "target" | "after">,
): ActivityEntry {
  return {
    id: ids(),
    organization_id: organization,
    timestamp: formatTimestamp(now()),
    actor: { kind: "command" },
    request_id: ids(),
    surface: "command",
    ...what,
    outcome: "done",
  };
}
