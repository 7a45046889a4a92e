import { whenReady, type Awaitable } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { BadInput } from "../core/errors.ts";
import { integer, string, word } from "../core/schema-parts.ts";
import type { Schema } from "../core/schema.ts";
import { formatTimestamp } from "../core/time.ts";
import type { Reply } from "../http/reply.ts";
import { type HeaderParameters, route, type Surface } from "../http/route.ts";
import { askerOf, checkDocument } from "./check.ts";
import { nameOf } from "./draft.ts";
import { answerList, answerSummaries, answerVersion } from "./listing.ts";
import { conditional, representationOf } from "./representation.ts";
import {
  policy,
  policyActivate,
  policyList,
  policySimulate,
  policySimulation,
  policySummaryList,
  policyValidate,
  policyValidation,
  VERSION_NAME,
  type Policy,
} from "./schema.ts";
import { runtimeNameOf } from "./runtime-name.ts";
import { simulate } from "./simulate.ts";
import type { PolicyStore } from "./store.ts";
import { noActivePolicy, noSuchVersion, storedPolicy } from "./stored-policy.ts";
import { LONGEST_WAIT, NOT_MODIFIED, type VersionWaiters, type WaitingFetch } from "./waiting.ts";

interface Needs {
  readonly policies: PolicyStore;
  readonly assignments: Candidates;
  readonly versionWaiters: Pick<VersionWaiters, "versions" | "wait">;
  readonly now: Clock;
}

/** The version of an open rollout, for the runtimes that it selects. */
interface Candidates {
  /** The policy that a runtime gets instead of the active one; `undefined`: the active one. */
  candidate(organization: string, runtime: string): Awaitable<Policy | undefined>;
}

const surfaces: readonly Surface[] = ["public", "v1"];
const tags = ["policies"] as const;
const params = {
  version: string("The name of a policy version.", {
    ruled: VERSION_NAME,
    examples: ["2026-11-20.1"],
  }),
} as const;

const ifNoneMatch = string("The entity tags of the client's copies. A current one gives a 304.");
const conditionalHeaders = { "If-None-Match": ifNoneMatch } as const satisfies HeaderParameters;
const policyOrList = { anyOf: [policy, policyList, policySummaryList] } as const satisfies Schema;
const replyHeaders = { ETag: "A strong entity tag of the response." };

interface ListingQuestion {
  readonly query: { readonly active?: string | undefined };
  readonly headers: { readonly "X-Runtime-Client"?: string | undefined };
}

/** Tells a runtime's fetch of the active version from a request for the list of all versions. */
function asksForActive({ query, headers }: ListingQuestion): boolean {
  return query.active === "true" || headers["X-Runtime-Client"] !== undefined;
}

/** The routes of policies: runtimes poll them; users try and roll back. */
export const policyRoutes = [
  route({
    method: "GET",
    path: "/policies",
    large: "sent",
    surfaces,
    access: "user",
    keys: "policy.read",
    summary: "Get the active policy, or list every version",
    description:
      "`active=true` or an `X-Runtime-Client` header selects the active Policy. Otherwise the response is a PolicyList, or a PolicySummaryList with `texts=false`.",
    tags,
    query: {
      active: {
        type: "string",
        enum: ["true"],
        forgiving: true,
        description: "`true` selects the active version; other values are ignored.",
      },
      wait: integer(
        "With a current `If-None-Match`: the seconds to wait for another version. The response is a 200 as soon as there is one, and otherwise a 304 at the end. The server may send the 304 earlier.",
        { minimum: 1, maximum: LONGEST_WAIT, examples: [30] },
      ),
      texts: word("`false` leaves `yaml` out of a list.", ["true", "false"]),
    },
    headers: {
      "X-Runtime-Client": string(
        "The name of a runtime. Any value, even an empty one, selects the active version.",
      ),
      "X-Runtime-Name": string(
        "The name of the runtime that fetches, in UTF-8. With the active version requested, the response is the version that is assigned to this runtime.",
        { examples: ["build-agent-7"] },
      ),
      ...conditionalHeaders,
    },
    replies: { 200: policyOrList, 304: policyOrList },
    replyHeaders,
    refuses: [400, 404, 500],
    turn: (input) => (asksForActive(input) ? undefined : "sent"),
    handle({ organization, query, headers, client }, needs: Needs) {
      const tag = headers["If-None-Match"];
      const { wait } = query;
      if (!asksForActive({ query, headers })) {
        if (wait !== undefined) throw new BadInput("wait: expected only with active=true");
        const answer = query.texts === "false" ? answerSummaries : answerList;
        return answer(organization, needs.policies, tag);
      }
      const runtime = runtimeNameOf(headers["X-Runtime-Name"]);
      const answer = (): Awaitable<Reply> => answerRuntime(organization, runtime, tag, needs);
      if (wait === undefined) return answer();
      const fetch = { organization, client, seconds: wait, answer };
      return answerChange(fetch, needs.versionWaiters);
    },
  }),
  route({
    method: "GET",
    path: "/policies/{version}",
    large: "sent",
    surfaces,
    access: "user",
    keys: "policy.read",
    summary: "Get a policy version",
    description: "A version never changes its text; only `active` changes.",
    tags,
    params,
    headers: conditionalHeaders,
    replies: { 200: policy, 304: policy },
    replyHeaders,
    refuses: [404, 500],
    async handle({ organization, params: { version }, headers }, { policies }: Needs) {
      const found = await storedPolicy(policies, organization, version);
      return answerVersion(found, headers["If-None-Match"]);
    },
  }),
  route({
    method: "POST",
    path: "/policies/{version}/activate",
    surfaces,
    access: "user",
    keys: "policy.publish",
    role: "operator",
    summary: "Activate a stored policy version",
    description: "Activating the active version changes nothing.",
    tags,
    params,
    body: policyActivate,
    replies: { 200: policy },
    refuses: [400, 404, 500],
    change: {
      action: "policy.activate",
      target: ({ params }) => ({ type: "policy", id: params.version }),
      after: (_, { version }) => ({ active: version }),
    },
    async handle({ organization, actor, params: { version }, note }, { policies, now }: Needs) {
      const at = formatTimestamp(now());
      const seen = (active: string): void => note({ before: { active } });
      const activated = await policies.activate(organization, version, at, nameOf(actor), seen);
      if (!activated) throw noSuchVersion(version);
      return activated;
    },
  }),
  route({
    method: "POST",
    path: "/policies/validate",
    surfaces,
    access: "user",
    keys: "policy.try",
    role: "viewer",
    summary: "Check a policy document without storing it",
    description:
      "The status is 200 for any text. `valid` says whether the text can be published, and `problems` lists what prevents it.",
    tags,
    body: policyValidate,
    question: true,
    replies: { 200: policyValidation },
    refuses: [400, 500, 503],
    async handle({ actor, body, client }) {
      const problems = await checkDocument(askerOf(client, actor), body.yaml);
      return { valid: problems.length === 0, problems };
    },
  }),
  route({
    method: "POST",
    path: "/policies/simulate",
    surfaces,
    access: "user",
    keys: "policy.try",
    role: "viewer",
    summary: "Decide a command",
    description: "Only documents with `schema: signalbox/policy/v1` can decide.",
    tags,
    body: policySimulate,
    question: true,
    replies: { 200: policySimulation },
    refuses: [400, 404, 500, 503],
    handle({ organization, actor, body, client }, { policies }: Needs) {
      return simulate(askerOf(client, actor), organization, body, policies);
    },
  }),
] as const;

/** Answers now, or later if nothing has changed. The versions are read first: a change meanwhile is then seen. */
function answerChange(fetch: WaitingFetch, waiters: Needs["versionWaiters"]): Awaitable<Reply> {
  return whenReady(waiters.versions(fetch.organization), (versions) =>
    whenReady(fetch.answer(), (answer) =>
      answer.status === NOT_MODIFIED ? waiters.wait(fetch, versions, answer) : answer,
    ),
  );
}

/** Answers with the policy of a runtime; without a name, with the active one. */
function answerRuntime(
  organization: string,
  runtime: string,
  tag: string | undefined,
  { policies, assignments }: Needs,
): Awaitable<Reply> {
  if (runtime === "") return answerActive(policies.active(organization), tag);
  return whenReady(assignments.candidate(organization, runtime), (candidate) =>
    answerActive(candidate ?? policies.active(organization), tag),
  );
}

/** Answers a conditional GET of the active policy; at once if the store answers at once. */
function answerActive(
  found: Awaitable<Policy | undefined>,
  ifNoneMatch: string | undefined,
): Awaitable<Reply> {
  return whenReady(found, (policy) => {
    if (!policy) throw noActivePolicy();
    return conditional(representationOf(policy), ifNoneMatch);
  });
}
