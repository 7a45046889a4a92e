import { Conflict } from "../core/errors.ts";
import type { PolicyStore } from "../policies/store.ts";
import type { Rollout } from "./schema.ts";
import { GATE, isOpen, stepped, type Step, type Stepping } from "./state.ts";
import type { RolloutStore } from "./store.ts";

/** The stores that a step changes. */
export interface StepNeeds {
  readonly rollouts: Pick<RolloutStore, "update">;
  readonly policies: Pick<PolicyStore, "activate" | "activeVersion">;
}

/** A rollout before and after a step. */
export interface Taken {
  readonly before: Rollout;
  readonly after: Rollout;
}

/**
 * Takes a step of a rollout. The last stage that ends makes the version the active one, before the rollout is stored as
 * completed: if a server dies in between, the rollout is found with its own version active, and is completed then.
 *
 * @returns `undefined` if there is no rollout with that id
 * @throws Conflict if the state does not allow the step, or another version was activated meanwhile
 */
export async function takeStep(
  { rollouts, policies }: StepNeeds,
  organization: string,
  id: string,
  step: Step,
  stepping: Stepping,
): Promise<Taken | undefined> {
  let before: Rollout | undefined;
  const after = await rollouts.update(organization, id, async (stored) => {
    before = stored;
    const { version, base_version: base } = stored;
    const active = await policies.activeVersion(organization);
    const found = step.kind === "activated" ? stored : settled(stored, active, stepping.at);
    const next = stepped(found, step, stepping);
    if (next.state === "completed" && active === base) {
      // The check runs in the change itself, so that no other activation comes in between.
      await policies.activate(organization, version, stepping.at, stepping.by, (present) => {
        if (present === base) return;
        throw new Conflict(`Version "${present}" was activated meanwhile, which ends the rollout`);
      });
    }
    return next;
  });
  return before && after && { before, after };
}

/** A rollout as it is at this moment: an open one has ended if another version than its base is active. */
export function settled(rollout: Rollout, active: string, at: string): Rollout {
  if (!isOpen(rollout) || active === rollout.base_version) return rollout;
  return stepped(rollout, { kind: "activated", version: active }, { by: GATE, at });
}

/** The facts about a rollout for the activity log. */
export function factsOf({ state, current_stage: stage, version, reason }: Rollout) {
  return {
    ...{ state, stage },
    ...(reason !== undefined && { reason }),
    ...(state === "completed" && { active: version }),
  };
}
