import type { ActivityStore } from "../activity/store.ts";
import { requireAccepted, type Actor, type Awaitable } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { Conflict, NotFound } from "../core/errors.ts";
import type { IdSource } from "../core/ids.ts";
import { string } from "../core/schema-parts.ts";
import { formatTimestamp } from "../core/time.ts";
import { reply } from "../http/reply.ts";
import { route, type Surface } from "../http/route.ts";
import { nameOf } from "../policies/draft.ts";
import type { PolicyStore } from "../policies/store.ts";
import { storedPolicy } from "../policies/stored-policy.ts";
import { begun, rolloutBody } from "./draft.ts";
import { figuresOf } from "./figures.ts";
import { endingAction, gateEntry } from "./gate-entry.ts";
import { readRollout, readRollouts, type ReadingNeeds } from "./reading.ts";
import { rollout, rolloutList, rolloutStep, type Rollout } from "./schema.ts";
import { GATE, isOpen } from "./state.ts";
import { factsOf, takeStep } from "./steps.ts";
import type { RolloutStore } from "./store.ts";

interface Needs extends ReadingNeeds {
  readonly activity: Pick<ActivityStore, "append">;
  readonly rollouts: RolloutStore;
  readonly policies: PolicyStore;
  readonly now: Clock;
  readonly ids: IdSource;
}

const surfaces: readonly Surface[] = ["public", "v1"];
const tags = ["rollouts"] as const;
const params = {
  id: string("The id of a rollout.", { examples: ["01kb5w0m9g"] }),
} as const;

/** The routes that the same callers may use as those of publishing. */
const publishing = { surfaces, access: "user", keys: "policy.publish", tags } as const;

/** The input of a step. */
interface StepInput {
  readonly organization: string;
  readonly actor: Actor | undefined;
  readonly params: { readonly id: string };
  readonly body: { readonly stage?: number | undefined };
  readonly client: {
    readonly gone: AbortSignal | undefined;
    acceptance(): () => Awaitable<boolean>;
  };
  readonly note: (note: { readonly before: object & Readonly<Record<string, unknown>> }) => void;
}

type PersonStep = "advance" | "pause" | "resume" | "roll_back";

/** Takes a step for a person. */
async function takeFor(
  { organization, actor, params: { id }, body, client, note }: StepInput,
  needs: Needs,
  kind: PersonStep,
): Promise<Rollout> {
  const at = needs.now();
  const known = await needs.rollouts.get(organization, id);
  if (known === undefined) throw noSuchRollout(id);
  const figures = await figuresOf(needs, organization, known, at, client.gone);
  // The figures may have taken long.
  await requireAccepted(client.acceptance(), "The credentials ended before the step was taken");
  const { current_stage: stage } = known;
  const step = { kind, ...(body.stage !== undefined && { stage: body.stage }) };
  const stepping = {
    ...{ by: nameOf(actor), at: formatTimestamp(at) },
    figures: figures[stage - 1],
  };
  const taken = await takeStep(needs, organization, id, step, stepping);
  if (taken === undefined) throw noSuchRollout(id);
  note({ before: factsOf(taken.before) });
  return taken.after;
}

/** The row of a step, without its path and texts. */
function stepRow(kind: PersonStep) {
  return {
    method: "POST",
    ...publishing,
    large: "made",
    role: "operator",
    params,
    body: rolloutStep,
    replies: { 200: rollout },
    refuses: [400, 404, 409, 500],
    change: {
      action: `rollout.${kind}`,
      target: ({ params }: { readonly params: { readonly id: string } }) => ({
        type: "rollout",
        id: params.id,
      }),
      after: (_: unknown, answer: object) => factsOf(answer as Rollout),
    },
    handle: (input: StepInput, needs: Needs) => takeFor(input, needs, kind),
  } as const;
}

/** The routes of rollouts. */
export const rolloutRoutes = [
  route({
    method: "POST",
    path: "/rollouts",
    ...publishing,
    role: "operator",
    summary: "Roll a policy version out to a part of the fleet",
    description:
      "The first stage starts at once. An organization has at most one open rollout. Publishing or activating another version ends it.",
    body: rolloutBody,
    replies: { 201: rollout },
    refuses: [400, 404, 409, 500],
    change: {
      action: "rollout.create",
      target: (_, answer) => ({ type: "rollout", ...(answer && { id: answer.id }) }),
      after: (_, answer) => ({
        ...factsOf(answer as Rollout),
        ...{ version: answer.version, stages: answer.stages.length },
      }),
    },
    async handle({ organization, actor, body }, needs: Needs) {
      const { rollouts, policies, now, ids } = needs;
      const { version } = body;
      await storedPolicy(policies, organization, version);
      const base = await policies.activeVersion(organization);
      if (base === "") throw new Conflict("No policy is active: activate one first");
      if (base === version) throw new Conflict(`Version "${version}" is the active one already`);
      await endSuperseded(organization, base, needs);
      const created = begun(body, { id: ids(), base, by: nameOf(actor), now: now() });
      await rollouts.create(organization, created);
      return reply(201, created);
    },
  }),
  route({
    method: "GET",
    path: "/rollouts",
    large: "made",
    ...publishing,
    summary: "List the rollouts, newest first",
    description: "The figures of an open rollout are in `GET /rollouts/{id}`.",
    replies: { 200: rolloutList },
    refuses: [500],
    handle: async ({ organization }, needs: Needs) => ({
      rollouts: await readRollouts(needs, organization, needs.now()),
    }),
  }),
  route({
    method: "GET",
    path: "/rollouts/{id}",
    large: "made",
    ...publishing,
    summary: "Get a rollout with the figures of its stages",
    description:
      "The figures and the judgement of an open rollout are those of this moment. The stages of an ended one keep the figures with which they ended.",
    params,
    replies: { 200: rollout },
    refuses: [404, 500],
    async handle({ organization, params: { id }, client }, needs: Needs) {
      const found = await readRollout(needs, organization, id, needs.now(), client.gone);
      if (found === undefined) throw noSuchRollout(id);
      return found;
    },
  }),
  route({
    ...stepRow("advance"),
    path: "/rollouts/{id}/advance",
    summary: "End the current stage of a rollout",
    description:
      "The next stage starts, whatever the gates say. The end of the last stage makes the version the active one.",
  }),
  route({
    ...stepRow("pause"),
    path: "/rollouts/{id}/pause",
    summary: "Pause a rollout",
    description: "Runtimes keep their versions, and no gate acts.",
  }),
  route({
    ...stepRow("resume"),
    path: "/rollouts/{id}/resume",
    summary: "Resume a paused rollout",
    description: "The gates observe the current stage anew.",
  }),
  route({
    ...stepRow("roll_back"),
    path: "/rollouts/{id}/roll_back",
    summary: "Roll a rollout back",
    description: "All runtimes get the active version again.",
  }),
];

/** Ends the open rollout if another version than its base is active by now. This step has its own entry, as one of the gates. */
async function endSuperseded(organization: string, active: string, needs: Needs): Promise<void> {
  const [newest] = await needs.rollouts.list(organization);
  if (!newest || !isOpen(newest) || newest.base_version === active) return;
  const stepping = { by: GATE, at: formatTimestamp(needs.now()) };
  const step = { kind: "activated", version: active } as const;
  const taken = await takeStep(needs, organization, newest.id, step, stepping).catch(
    (error: unknown) => {
      if (error instanceof Conflict) return undefined; // a round of the gates came first
      throw error;
    },
  );
  if (taken === undefined) return;
  const action = endingAction(newest, active);
  const entry = gateEntry(needs.ids, organization, action, stepping.at, taken);
  await needs.activity.append(organization, entry);
}

function noSuchRollout(id: string): NotFound {
  return new NotFound(`There is no rollout "${id}"`);
}
