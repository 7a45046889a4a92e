import { requireAccepted } from "../core/caller.ts";
import { HOUR_MS } from "../core/clock.ts";
import { BadInput, Conflict } from "../core/errors.ts";
import { quantity } from "../core/quantity.ts";
import type { Quotas } from "../core/quota.ts";
import { formatTimestamp } from "../core/time.ts";
import { reply } from "../http/reply.ts";
import { route } from "../http/route.ts";
import { askerOf, requireValid } from "../policies/check.ts";
import { draftPolicy, requireBase, type PolicyDraft } from "../policies/draft.ts";
import { policy, policyPublish, type PolicyPublish } from "../policies/schema.ts";
import type { PolicyStore } from "../policies/store.ts";
import { beginReplay, type ReplayClient, type ReplayNeeds } from "./replay.ts";
import { exceededLimit, policyConflict } from "./report.ts";

interface Needs extends ReplayNeeds {
  readonly policies: PolicyStore;
  readonly quotas: Pick<Quotas, "policyVersions">;
}

const NO_LONGER_ALLOWED =
  "The credentials ended while the version was checked, and it was not stored";

/** A version that would change more than its guard allows. */
class GuardExceeded extends Conflict {
  readonly #report: Uint8Array;

  constructor(message: string, report: Uint8Array) {
    super(message);
    this.#report = report;
  }

  override detail(): readonly [string, Uint8Array] {
    return ["replay", this.#report];
  }
}

/** The route that publishes. It is here because its guard joins two domains that do not import each other. */
export const publishRoutes = [
  route({
    method: "POST",
    path: "/policies",
    surfaces: ["public", "v1"],
    access: "user",
    keys: "policy.publish",
    role: "operator",
    summary: "Publish a policy version and make it active",
    description:
      "The version that was active before becomes inactive in the same step. With `activate: false` the version is only stored. With `guard` the version is replayed first.",
    tags: ["policies"],
    body: policyPublish,
    replies: { 201: policy, 409: policyConflict },
    refuses: [400, 429, 500, 503],
    change: {
      action: "policy.publish",
      target: ({ body }, answer) => ({ type: "policy", id: answer?.version ?? body.version }),
      after: (_, { active, version, name, description }) => ({
        ...(active ? { active: version } : { activated: false }),
        ...{ name, description },
      }),
    },
    async handle({ organization, surface, actor, body, client, note }, needs: Needs) {
      const { policies, now, quotas } = needs;
      const asker = askerOf(client, actor);
      const isAllowed = client.acceptance();
      let draft = draftPolicy(body, now(), actor);
      await requireValid(asker, draft.yaml);
      if (body.guard) {
        draft = await guarded(draft, body.guard, organization, { ...asker, isAllowed }, needs);
      }
      // The checks may have waited for minutes.
      await requireAccepted(isAllowed, NO_LONGER_ALLOWED);
      const quota = quotas.policyVersions(surface);
      const seen = (active: string): void => {
        if (draft.activates) note({ before: { active } });
      };
      return reply(201, await policies.publish(organization, draft, quota, seen));
    },
  }),
];

/**
 * Replays a draft over recent events.
 *
 * @returns the draft for the active version that it was compared with: if another one becomes active, it is refused
 * @throws GuardExceeded if it would change more than the guard allows
 */
async function guarded(
  draft: PolicyDraft,
  guard: NonNullable<PolicyPublish["guard"]>,
  organization: string,
  client: ReplayClient,
  needs: Needs,
): Promise<PolicyDraft> {
  const limits = [guard.max_newly_denied, guard.max_newly_allowed];
  if (limits.every((limit) => limit === undefined)) {
    throw new BadInput("guard: expected max_newly_denied or max_newly_allowed");
  }
  const active = await needs.policies.activeVersion(organization);
  requireBase(draft, active);
  const { window_hours: hours = policyPublish.properties.guard.properties.window_hours.default } =
    guard;
  const from = formatTimestamp(needs.now() + 1 - hours * HOUR_MS);
  const wanted = { yaml: draft.yaml, from, compare: "effects" } as const;
  const replay = await beginReplay(needs, client, organization, wanted);
  const judged = await replay.run();
  const exceeded = exceededLimit(judged, guard);
  if (exceeded === undefined) return { ...draft, base: active };
  const { word, events, limit } = exceeded;
  const message = `guard.max_newly_${word}: ${quantity(events, "event")} would be newly ${word}, expected at most ${limit}`;
  throw new GuardExceeded(message, judged.report);
}
