/**
 * The states of a rollout. A step that a table does not have is refused with a 409.
 *
 * | State     | advance, pass                      | pause  | breach               | resume  | roll_back   | activated |
 * |-----------|------------------------------------|--------|----------------------|---------|-------------|-----------|
 * | running   | next stage; after last: completed  | paused | paused, rolled_back  | –       | rolled_back | see below |
 * | paused    | –                                  | –      | –                    | running | rolled_back | see below |
 * | completed, rolled_back, superseded: no step.                                                                       |
 *
 * A breach does what the rollout's `on_breach` says. `activated` is the discovery that another version is active than
 * at the beginning: the rollout is `completed` if it is the rollout's own version, otherwise `superseded`.
 */
import type { Expected, OpenRollout, Selector } from "../core/assignment.ts";
import { Conflict } from "../core/errors.ts";
import type { Rollout, RolloutState, StageFigures } from "./schema.ts";

/** The actor of steps that the service takes by itself. */
export const GATE = "gate" as const;

/** A step of a rollout. */
export type Step =
  | { readonly kind: "advance" | "pause" | "resume" | "roll_back"; readonly stage?: number }
  | { readonly kind: "pass"; readonly stage: number }
  | { readonly kind: "breach"; readonly stage: number; readonly reason: string }
  | { readonly kind: "activated"; readonly version: string };

/** The author of a step, and its time in RFC 3339. */
export interface Stepping {
  readonly by: string;
  readonly at: string;
  /** The figures of the current stage, which are kept when the stage ends. */
  readonly figures?: StageFigures | undefined;
}

/** Whether a rollout can still take steps. */
export function isOpen({ state }: { readonly state: RolloutState }): boolean {
  return state === "running" || state === "paused";
}

/**
 * Takes a step.
 *
 * @throws Conflict if the state does not allow it, or another stage is the current one
 */
export function stepped(rollout: Rollout, step: Step, stepping: Stepping): Rollout {
  requireAllowed(rollout, step);
  switch (step.kind) {
    case "advance":
    case "pass":
      return rollout.current_stage < rollout.stages.length
        ? inNextStage(rollout, stepping)
        : ended(rollout, "completed", stepping);
    case "pause":
      return changed(rollout, { state: "paused" }, stepping);
    case "resume":
      return changed(rollout, { state: "running", observed_from: stepping.at }, stepping);
    case "roll_back":
      return ended(rollout, "rolled_back", stepping);
    case "breach":
      return rollout.on_breach === "pause"
        ? changed(rollout, { state: "paused", reason: step.reason }, stepping)
        : ended(rollout, "rolled_back", stepping, step.reason);
    case "activated": {
      const isOwn = step.version === rollout.version;
      const reason = `Version "${step.version}" was activated`;
      return ended(rollout, isOwn ? "completed" : "superseded", stepping, reason);
    }
  }
}

/** The part of a rollout that decides assignments; `undefined` if the rollout has no effect. */
export function openRolloutOf(rollout: Rollout | undefined): OpenRollout | undefined {
  if (rollout === undefined || !isOpen(rollout)) return undefined;
  const { id, version, stages, current_stage } = rollout;
  return { id, version, stages: stages.slice(0, current_stage).map(selectorOf) };
}

/** The runtimes of a stage, as assignments need them. */
export function selectorOf({ percent, labels, names }: Rollout["stages"][number]): Selector {
  return { percent, labels, names: names && new Set(names) };
}

/** The versions that runtimes should have: a rollout from another version than the active one has no effect. */
export function expectedOf(
  active: string,
  base: string | undefined,
  rollout: OpenRollout | undefined,
): Expected {
  return rollout !== undefined && base === active ? { active, rollout } : { active };
}

function requireAllowed({ version, state, current_stage: current }: Rollout, step: Step): void {
  const { kind } = step;
  const isAllowed =
    kind === "activated" || kind === "roll_back"
      ? isOpen({ state })
      : state === (kind === "resume" ? "paused" : "running");
  if (!isAllowed) {
    throw new Conflict(`The rollout of "${version}" is ${stateWord(state)}${wayOut(state, kind)}`);
  }
  const known = "stage" in step ? step.stage : undefined;
  if (known !== undefined && known !== current) {
    throw new Conflict(`stage: ${known} is not the current stage, expected ${current}`);
  }
}

/** The word for the state of a rollout. */
export function stateWord(state: RolloutState): string {
  return state === "rolled_back" ? "rolled back" : state;
}

function wayOut(state: RolloutState, kind: Step["kind"]): string {
  return state === "paused" && kind === "advance" ? ": resume it first" : "";
}

function changed(rollout: Rollout, change: Partial<Rollout>, { by, at }: Stepping): Rollout {
  const { reason: _, ...rest } = rollout;
  return { ...rest, ...change, updated_at: at, updated_by: by };
}

function inNextStage(rollout: Rollout, stepping: Stepping): Rollout {
  const { current_stage: current, stages } = withEndedStage(rollout, stepping);
  const { at } = stepping;
  const next = {
    current_stage: current + 1,
    stages: stages.map((stage, i) => (i === current ? { ...stage, started_at: at } : stage)),
    observed_from: at,
  };
  return changed(rollout, next, stepping);
}

function ended(
  rollout: Rollout,
  state: RolloutState,
  stepping: Stepping,
  reason?: string,
): Rollout {
  const { stages } = withEndedStage(rollout, stepping);
  const change = { state, stages, ended_at: stepping.at, ...(reason !== undefined && { reason }) };
  return changed(rollout, change, stepping);
}

function withEndedStage(rollout: Rollout, { at, figures }: Stepping): Rollout {
  const { current_stage: current, stages } = rollout;
  const end = (stage: Rollout["stages"][number]) => ({
    ...stage,
    ended_at: at,
    ...(figures && { figures }),
  });
  return { ...rollout, stages: stages.map((one, i) => (i === current - 1 ? end(one) : one)) };
}
