import { formatTimestamp } from "../core/time.ts";
import type { PolicyStore } from "../policies/store.ts";
import type { RolloutAssignments } from "./assignments.ts";
import { figuresOf, type FigureNeeds } from "./figures.ts";
import { judge } from "./gates.ts";
import type { Rollout } from "./schema.ts";
import { isOpen } from "./state.ts";
import { settled } from "./steps.ts";
import type { RolloutStore } from "./store.ts";

/** The stores that rollouts are read from. */
export interface ReadingNeeds extends FigureNeeds {
  readonly rollouts: Pick<RolloutStore, "fetched" | "get" | "list">;
  readonly policies: Pick<PolicyStore, "activeVersion">;
  readonly assignments: Pick<RolloutAssignments, "flush">;
}

/** Reads the rollouts without figures, newest first, as they are at this moment. */
export async function readRollouts(
  { rollouts, policies }: Pick<ReadingNeeds, "rollouts" | "policies">,
  organization: string,
  now: number,
): Promise<readonly Rollout[]> {
  const active = await policies.activeVersion(organization);
  const at = formatTimestamp(now);
  return (await rollouts.list(organization)).map((one) => settled(one, active, at));
}

/** Reads a rollout with the figures of its stages and the judgement of the current one. */
export async function readRollout(
  needs: ReadingNeeds,
  organization: string,
  id: string,
  now: number,
  signal?: AbortSignal,
): Promise<Rollout | undefined> {
  const found = await needs.rollouts.get(organization, id);
  if (found === undefined) return undefined;
  await needs.assignments.flush(organization);
  const active = await needs.policies.activeVersion(organization);
  const present = settled(found, active, formatTimestamp(now));
  const figures = await figuresOf(needs, organization, present, now, signal);
  const own = figures[present.current_stage - 1];
  return {
    ...present,
    stages: present.stages.map((stage, i) => ({ ...stage, figures: figures[i] })),
    ...(own && isOpen(present) && { judgement: judge(present, own, now) }),
  };
}
