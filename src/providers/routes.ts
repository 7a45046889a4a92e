import { string } from "../core/schema-parts.ts";
import type { AuditStore } from "../audit/store.ts";
import type { Catalog } from "../catalog/view.ts";
import type { Clock } from "../core/clock.ts";
import { NotFound } from "../core/errors.ts";
import { route } from "../http/route.ts";
import { allProviderNames, MOST_NAMED, providerRow, providerRows } from "./rows.ts";
import {
  overrideDeleted,
  provider,
  providerList,
  providerNames,
  providerOverride,
  type ProviderStatus,
} from "./schema.ts";
import type { ProviderOverrideStore } from "./store.ts";

interface Needs {
  readonly catalog: Catalog;
  readonly audit: Pick<AuditStore, "providerNames" | "providerUse">;
  readonly overrides: ProviderOverrideStore;
  readonly now: Clock;
}

const params = {
  id: string("The provider's id in the catalog.", {
    ruled: { minLength: 1 },
    examples: ["kubectl"],
  }),
} as const;

/** The routes of providers: the catalog's providers, as the caller's organization uses them. */
export const providerRoutes = [
  route({
    method: "GET",
    path: "/providers",
    large: "made", // as the dashboard, it may count all events of the last 24 hours
    surfaces: ["public", "v1"],
    access: "user",
    summary: "List the catalog's providers with their status",
    description: "The status is derived from the events of the last 24 hours, unless it was set.",
    tags: ["providers"],
    replies: { 200: providerList },
    refuses: [500],
    async handle({ organization }, { catalog, audit, overrides, now }: Needs) {
      const view = catalog.current();
      const { source, generated_at } = view.envelope;
      const use = await audit.providerUse(organization, [...view.declared.keys()], now());
      const providers = providerRows(view, use, await overrides.all(organization));
      return { catalog: source, generated_at, providers };
    },
  }),
  route({
    method: "GET",
    path: "/provider-names",
    large: "made",
    surfaces: ["public", "v1"],
    access: "user",
    summary: "List the names of all providers",
    description: "The names of the catalog, and at most 10,000 names that only events contain.",
    tags: ["providers"],
    replies: { 200: providerNames },
    refuses: [500],
    async handle({ organization, client }, { catalog, audit }: Needs) {
      const named = await audit.providerNames(organization, MOST_NAMED, client);
      return { providers: allProviderNames(catalog.current(), named) };
    },
  }),
  route({
    method: "PUT",
    path: "/providers/{id}",
    surfaces: ["v1"],
    access: "user",
    role: "operator",
    summary: "Set a provider's status",
    description: "The status stays until it is set again or lifted.",
    tags: ["providers"],
    params,
    body: providerOverride,
    replies: { 200: provider },
    refuses: [400, 404, 500],
    change: {
      action: "provider.set",
      target: ({ params }) => ({ type: "provider", id: params.id }),
      after: ({ body }) => ({ status: body.status }),
    },
    async handle({ organization, params, body, note }, { catalog, audit, overrides, now }: Needs) {
      const view = catalog.current();
      if (!view.declared.has(params.id)) throw unknownProvider(params.id);
      await overrides.set(organization, params.id, body.status, (status) =>
        note({ before: { status } }),
      );
      const use = await audit.providerUse(organization, [params.id], now());
      const row = providerRow(params.id, view, use, await overrides.all(organization));
      if (!row) throw unknownProvider(params.id);
      return row;
    },
  }),
  route({
    method: "DELETE",
    path: "/providers/{id}",
    surfaces: ["v1"],
    access: "user",
    role: "operator",
    summary: "Lift the status that was set for a provider",
    description: "The status code is 404 if no status was set.",
    tags: ["providers"],
    params,
    replies: { 200: overrideDeleted },
    refuses: [404, 500],
    change: {
      action: "provider.lift",
      target: ({ params }) => ({ type: "provider", id: params.id }),
    },
    async handle({ organization, params, note }, { overrides }: Needs) {
      const seen = (status: ProviderStatus): void => note({ before: { status } });
      if (!(await overrides.lift(organization, params.id, seen))) {
        throw new NotFound(`No status is set for provider "${params.id}"`);
      }
      return { id: params.id, status: "deleted" };
    },
  }),
];

function unknownProvider(id: string): NotFound {
  return new NotFound(`The catalog has no provider "${id}"`);
}
