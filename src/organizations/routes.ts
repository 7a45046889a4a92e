import { string } from "../core/schema-parts.ts";
import type { Passwords } from "../auth/password.ts";
import { DEFAULT_ORGANIZATION } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { NotFound } from "../core/errors.ts";
import type { IdSource } from "../core/ids.ts";
import { checkQuota, type Quotas } from "../core/quota.ts";
import { formatTimestamp } from "../core/time.ts";
import { reply } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { draftUser } from "../users/draft.ts";
import { emailTaken } from "../users/email.ts";
import type { UserStore } from "../users/store.ts";
import { organizationChangeBody, organizationCreateBody } from "./draft.ts";
import { organization, organizationList, type Organization } from "./schema.ts";
import { SLUG, slugTaken } from "./slug.ts";
import type { OrganizationStore } from "./store.ts";

interface Needs {
  readonly organizations: OrganizationStore;
  readonly users: Pick<UserStore, "findByEmail">;
  readonly passwords: Passwords;
  readonly now: Clock;
  readonly ids: IdSource;
  readonly quotas: Pick<Quotas, "organizations">;
}

const params = {
  id: string("The organization's id.", { ruled: SLUG, examples: ["acme-railways"] }),
} as const;

/** The routes that list, create and rename organizations. */
export const organizationRoutes = [
  route({
    method: "GET",
    path: "/organizations",
    surfaces: ["v1"],
    access: "user",
    summary: "List the organizations that the caller may see",
    description:
      "Callers of the default organization see all organizations, others only their own.",
    tags: ["organizations"],
    large: "made",
    replies: { 200: organizationList },
    refuses: [500],
    async handle({ organization: own }, { organizations }: Needs) {
      if (own === DEFAULT_ORGANIZATION) return { organizations: await organizations.list() };
      const found = await organizations.get(own);
      return { organizations: found ? [found] : [] };
    },
  }),
  route({
    method: "POST",
    path: "/organizations",
    surfaces: ["v1"],
    access: "user",
    role: "admin",
    defaultOnly: "Only callers of the default organization create organizations",
    summary: "Create an organization with its first admin",
    description: "Only callers of the default organization create organizations.",
    tags: ["organizations"],
    body: organizationCreateBody,
    replies: { 201: organization },
    refuses: [400, 409, 429, 500],
    change: {
      action: "organization.create",
      target: ({ body }, answer) => ({ type: "organization", id: answer?.id, name: body.name }),
      after: ({ body }, { name, slug }) => ({ name, slug, admin_email: body.admin_email }),
    },
    async handle(input, needs: Needs) {
      const { body } = input;
      const { organizations, users, passwords, now, ids, quotas } = needs;
      // The store refuses all of these as well, but only after the cost of a hash.
      checkQuota(quotas.organizations, await organizations.count());
      if (body.slug !== undefined && (await organizations.get(body.slug))) {
        throw slugTaken(body.slug);
      }
      if (await users.findByEmail(body.admin_email)) throw emailTaken(body.admin_email);
      const hash = await passwords.hash(body.admin_password, input);
      const admin = draftUser({ email: body.admin_email, role: "admin" }, hash, ids(), now());
      const draft = { name: body.name, slug: body.slug, created_at: formatTimestamp(now()) };
      return reply(201, await organizations.create(draft, admin, quotas.organizations));
    },
  }),
  route({
    method: "GET",
    path: "/organizations/{id}",
    large: "listed",
    surfaces: ["v1"],
    access: "user",
    summary: "Read an organization",
    description: "An unknown organization and one that the caller may not see are 404.",
    tags: ["organizations"],
    params,
    replies: { 200: organization },
    refuses: [404, 500],
    async handle({ organization: own, params: { id } }, { organizations }: Needs) {
      const found = maySee(own, id) ? await organizations.get(id) : undefined;
      if (!found) throw new NotFound(`No organization has the id "${id}"`);
      return found;
    },
  }),
  route({
    method: "PATCH",
    path: "/organizations/{id}",
    surfaces: ["v1"],
    access: "user",
    role: "admin",
    summary: "Rename the caller's own organization",
    description: "The id and the slug stay.",
    tags: ["organizations"],
    params,
    body: organizationChangeBody,
    replies: { 200: organization },
    refuses: [400, 404, 500],
    change: {
      action: "organization.rename",
      target: ({ params }) => ({ type: "organization", id: params.id }),
      after: (_, { name }) => ({ name }),
    },
    async handle({ organization: own, params: { id }, body, note }, { organizations, now }: Needs) {
      const at = formatTimestamp(now());
      const seen = ({ name }: Organization): void => note({ before: { name } });
      const renamed = id === own ? await organizations.rename(id, body.name, at, seen) : undefined;
      if (!renamed) throw new NotFound(`No organization with the id "${id}" is yours to rename`);
      return renamed;
    },
  }),
];

/** The default organization is the operator's; its callers see all organizations. */
function maySee(own: string, id: string): boolean {
  return own === DEFAULT_ORGANIZATION || own === id;
}
