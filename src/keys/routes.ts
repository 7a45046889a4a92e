import { string } from "../core/schema-parts.ts";
import { createApiKey } from "../auth/api-key.ts";
import type { Clock } from "../core/clock.ts";
import { NotFound } from "../core/errors.ts";
import type { IdSource } from "../core/ids.ts";
import type { Quotas } from "../core/quota.ts";
import { jsonList, reply } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { apiKeyCreateBody, apiKeyOf, draftKey, keyWarning } from "./draft.ts";
import { apiKeyCreated, apiKeyList, revokeResult } from "./schema.ts";
import type { KeyStore } from "./store.ts";

interface Needs {
  readonly keys: KeyStore;
  readonly now: Clock;
  readonly ids: IdSource;
  readonly quotas: Pick<Quotas, "apiKeys">;
}

/** The routes of the organization's API keys. */
export const keyRoutes = [
  route({
    method: "GET",
    path: "/api-keys",
    surfaces: ["v1"],
    access: "user",
    summary: "List the organization's API keys",
    description: "The newest key comes first. The list includes revoked keys.",
    tags: ["api-keys"],
    large: "made",
    replies: { 200: apiKeyList },
    refuses: [500],
    async handle({ organization, client }, { keys }: Needs) {
      return jsonList("api_keys", await keys.list(organization), apiKeyOf, client.party);
    },
  }),
  route({
    method: "POST",
    path: "/api-keys",
    surfaces: ["v1"],
    access: "user",
    role: "operator",
    summary: "Create an API key",
    description: "Only this response contains the secret text; the service keeps a hash.",
    tags: ["api-keys"],
    body: apiKeyCreateBody,
    replies: { 201: apiKeyCreated },
    refuses: [400, 429, 500],
    change: {
      action: "key.create",
      target: ({ body }, answer) => ({ type: "key", id: answer?.id, name: body.name }),
      after: (_, { prefix, scopes, expires_at }) => ({ prefix, scopes, expires_at }),
    },
    async handle({ organization, body }, { keys, now, ids, quotas }: Needs) {
      const fresh = createApiKey();
      const key = draftKey(organization, body, fresh, ids(), now());
      await keys.create(organization, key, quotas.apiKeys);
      return reply(201, { ...apiKeyOf(key), api_key: fresh.text, warning: keyWarning(key) });
    },
  }),
  route({
    method: "DELETE",
    path: "/api-keys/{id}",
    surfaces: ["v1"],
    access: "user",
    role: "operator",
    summary: "Revoke an API key",
    description:
      "The next request with the key is refused. Revoking a revoked key changes nothing.",
    tags: ["api-keys"],
    params: {
      id: string("The key's id.", {
        ruled: { minLength: 1 },
        examples: ["01m81jf4re0003h6thynpxry68"],
      }),
    },
    replies: { 200: revokeResult },
    refuses: [404, 500],
    change: {
      action: "key.revoke",
      target: ({ params }) => ({ type: "key", id: params.id }),
    },
    async handle({ organization, params: { id }, note }, { keys }: Needs) {
      const known = await keys.revoke(organization, id);
      if (!known) throw new NotFound(`No API key has the id "${id}"`);
      const { name, revoked } = known;
      note({ before: { name, revoked }, after: { name, revoked: true } });
      return { id, status: "revoked" };
    },
  }),
];
