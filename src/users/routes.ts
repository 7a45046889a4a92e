import { string } from "../core/schema-parts.ts";
import type { Passwords } from "../auth/password.ts";
import type { LoginThrottle } from "../auth/throttle.ts";
import type { TokenIssuer } from "../auth/tokens.ts";
import { DEFAULT_ORGANIZATION } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import type { IdSource } from "../core/ids.ts";
import { checkQuota, type Quotas } from "../core/quota.ts";
import { formatTimestamp } from "../core/time.ts";
import { jsonList, reply } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { changeUser, noUser } from "./change-user.ts";
import {
  draftUser,
  loginBody,
  passwordChangeBody,
  userChangeBody,
  userCreateBody,
  userOf,
  withEndedToken,
} from "./draft.ts";
import { emailTaken } from "./email.ts";
import {
  loggedOut,
  loginResult,
  passwordChanged,
  user,
  userDeleted,
  userList,
  type StoredUser,
} from "./schema.ts";
import { changePassword, signIn, userGone } from "./sign-in.ts";
import type { UserStore } from "./store.ts";

interface Needs {
  readonly users: UserStore;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly tokens: TokenIssuer;
  readonly now: Clock;
  readonly ids: IdSource;
  readonly quotas: Pick<Quotas, "users">;
}

const params = {
  id: string("The user's id.", {
    ruled: { minLength: 1 },
    examples: ["01m81jf4re0003h6thynpxry68"],
  }),
} as const;

/** The routes of signing in, and of the organization's users. */
export const userRoutes = [
  route({
    method: "POST",
    path: "/auth/login",
    surfaces: ["v1"],
    access: "open",
    summary: "Sign in with email and password",
    description:
      "The status is 429 after five failures for one email from one address within a minute, or twenty failures from one address.",
    tags: ["auth"],
    body: loginBody,
    replies: { 200: loginResult },
    refuses: [400, 401, 429, 500],
    change: {
      action: "login.succeeded",
      target: ({ body }, answer) => ({ type: "user", id: answer?.user.id, name: body.email }),
      refusals: { 401: "login.failed" },
    },
    async handle({ body, address, client, note }, needs: Needs) {
      const by = { email: body.email, address, client };
      const found = await signIn(needs, by, body.password, (known) => {
        const organization = known?.organization_id ?? DEFAULT_ORGANIZATION;
        note({ caller: { organization, actor: undefined } });
      });
      const { id, email, role, organization_id: organization } = found;
      note({ caller: { organization, actor: { kind: "user", id, email, role } } });
      const { token, expiresAt } = needs.tokens.issue(found);
      return { token, expires_at: formatTimestamp(expiresAt), user: userOf(found) };
    },
  }),
  route({
    method: "GET",
    path: "/auth/me",
    surfaces: ["v1"],
    access: "always",
    summary: "Read the signed-in user",
    description: "The response has the current data of the user, not the data in the token.",
    tags: ["auth"],
    replies: { 200: user },
    refuses: [404, 500],
    async handle({ organization, actor }, { users }: Needs) {
      const found = await users.get(organization, actor.id);
      if (!found) throw userGone();
      return userOf(found);
    },
  }),
  route({
    method: "POST",
    path: "/auth/logout",
    surfaces: ["v1"],
    access: "always",
    role: "viewer",
    summary: "Sign out",
    description:
      "The token is refused from the next request on. Its streams and exports end within 15 seconds, and its export tickets end at once.",
    tags: ["auth"],
    replies: { 200: loggedOut },
    refuses: [404, 500],
    change: {
      action: "logout",
      target: ({ actor }) => ({ type: "user", id: actor.id, name: actor.email }),
    },
    async handle({ organization, actor, token }, { users, now }: Needs) {
      const changed = await users.change(organization, actor.id, (found) =>
        withEndedToken(found, token, now()),
      );
      if (!changed) throw userGone();
      return { status: "ok" };
    },
  }),
  route({
    method: "PUT",
    path: "/auth/password",
    surfaces: ["v1"],
    access: "always",
    role: "viewer",
    summary: "Change the caller's own password",
    description:
      "All tokens of the user end, including the token of this request. A wrong current password is 403 and counts as a failed sign-in.",
    tags: ["auth"],
    body: passwordChangeBody,
    replies: { 200: passwordChanged },
    refuses: [400, 403, 404, 409, 429, 500],
    change: {
      action: "password.change",
      target: ({ actor }) => ({ type: "user", id: actor.id, name: actor.email }),
      after: () => ({ password: "changed" }),
    },
    async handle(input, needs: Needs) {
      await changePassword(needs, input, input.body, needs.now);
      return { status: "ok" };
    },
  }),
  route({
    method: "GET",
    path: "/users",
    surfaces: ["v1"],
    access: "user",
    summary: "List the organization's users",
    description: "The oldest user comes first. The list includes deactivated users.",
    tags: ["users"],
    large: "made",
    replies: { 200: userList },
    refuses: [500],
    async handle({ organization, client }, { users }: Needs) {
      return jsonList("users", await users.list(organization), userOf, client.party);
    },
  }),
  route({
    method: "POST",
    path: "/users",
    surfaces: ["v1"],
    access: "user",
    role: "admin",
    summary: "Create a user",
    description: "The status is 409 if a user of any organization has the email.",
    tags: ["users"],
    body: userCreateBody,
    replies: { 201: user },
    refuses: [400, 409, 429, 500],
    change: {
      action: "user.create",
      target: ({ body }, answer) => ({ type: "user", id: answer?.id, name: body.email }),
      after: (_, created) => shownFacts(created),
    },
    async handle(input, needs: Needs) {
      const { organization, body } = input;
      const { users, passwords, now, ids, quotas } = needs;
      // The store refuses both as well, but only after the cost of a hash.
      checkQuota(quotas.users, await users.count(organization));
      if (await users.findByEmail(body.email)) throw emailTaken(body.email);
      const hash = await passwords.hash(body.password, input);
      const created = { ...draftUser(body, hash, ids(), now()), organization_id: organization };
      await users.create(organization, created, quotas.users);
      return reply(201, userOf(created));
    },
  }),
  route({
    method: "GET",
    path: "/users/{id}",
    surfaces: ["v1"],
    access: "user",
    summary: "Read a user",
    description: "An unknown user and a user of another organization are 404.",
    tags: ["users"],
    params,
    replies: { 200: user },
    refuses: [404, 500],
    async handle({ organization, params }, { users }: Needs) {
      const found = await users.get(organization, params.id);
      if (!found) throw noUser(params.id);
      return userOf(found);
    },
  }),
  route({
    method: "PATCH",
    path: "/users/{id}",
    surfaces: ["v1"],
    access: "user",
    role: "admin",
    summary: "Change a user",
    description:
      "A new password or a deactivation ends the tokens of the user. The status is 403 for changing one's own role or for a wrong `current_password`.",
    tags: ["users"],
    params,
    body: userChangeBody,
    replies: { 200: user },
    refuses: [400, 403, 404, 409, 429, 500],
    change: {
      action: "user.change",
      target: ({ params }, answer) => ({ type: "user", id: params.id, name: answer?.email }),
      after: ({ body }, changed) => ({
        ...shownFacts(changed),
        ...(body.password === undefined ? {} : { password: "changed" }),
      }),
    },
    async handle(input, needs: Needs) {
      const { params, body, note } = input;
      const seen = (before: StoredUser): void => note({ before: shownFacts(before) });
      return userOf(await changeUser(needs, { id: params.id, setter: input, seen }, body));
    },
  }),
  route({
    method: "DELETE",
    path: "/users/{id}",
    surfaces: ["v1"],
    access: "user",
    role: "admin",
    summary: "Delete a user",
    description: "The tokens of the user end. The last active admin cannot be deleted.",
    tags: ["users"],
    params,
    replies: { 200: userDeleted },
    refuses: [404, 409, 500],
    change: {
      action: "user.delete",
      target: ({ params }) => ({ type: "user", id: params.id }),
    },
    async handle({ organization, params, note }, { users }: Needs) {
      const seen = (before: StoredUser): void =>
        note({ before: { email: before.email, ...shownFacts(before) } });
      if (!(await users.remove(organization, params.id, seen))) throw noUser(params.id);
      return { id: params.id, status: "deleted" };
    },
  }),
];

/** The facts about a user in the activity log. */
function shownFacts({ name, role, active }: Pick<StoredUser, "name" | "role" | "active">) {
  return { name, role, active };
}
