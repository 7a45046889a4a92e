import { BadInput } from "../core/errors.ts";
import { checkedLabels } from "../core/labels.ts";
import { formatTimestamp } from "../core/time.ts";
import { bodyOf } from "../core/validate.ts";
import { rolloutDraft, type Rollout, type RolloutDraft } from "./schema.ts";

/** The most characters of a rollout's stages as JSON: 1,000 names of 60 characters fit. */
export const STAGES_LENGTH = 64 << 10;

/** The body of a new rollout. */
export const rolloutBody = bodyOf(rolloutDraft, checked);

type StageDraft = RolloutDraft["stages"][number];

function checked(draft: RolloutDraft): RolloutDraft {
  const stages = draft.stages.map((stage, i) => checkedStage(stage, `stages[${i}]`));
  if (JSON.stringify(stages).length > STAGES_LENGTH) {
    throw new BadInput(
      `stages: expected at most ${STAGES_LENGTH} characters of names and labels; select runtimes by a label`,
    );
  }
  return { ...draft, stages };
}

function checkedStage(stage: StageDraft, place: string): StageDraft {
  const { percent, labels, names } = stage;
  if (percent === undefined && labels === undefined && names === undefined) {
    throw new BadInput(`${place}: expected at least one of percent, labels and names`);
  }
  const given = names?.map((name) => name.trim());
  if (given?.includes("")) throw new BadInput(`${place}.names: expected names that are not empty`);
  return {
    ...stage,
    ...(labels && { labels: checkedLabels(labels, `${place}.labels`) }),
    ...(given && { names: [...new Set(given)] }),
  };
}

/** The circumstances of a new rollout. */
interface Beginning {
  readonly id: string;
  /** The active version. */
  readonly base: string;
  readonly by: string;
  /** In milliseconds. */
  readonly now: number;
}

/** A rollout whose first stage starts. */
export function begun(
  { version, stages, on_breach = rolloutDraft.properties.on_breach.default }: RolloutDraft,
  { id, base, by, now }: Beginning,
): Rollout {
  const at = formatTimestamp(now);
  return {
    ...{ id, version, base_version: base, on_breach, state: "running", current_stage: 1 },
    stages: stages.map((stage, i) => (i === 0 ? { ...stage, started_at: at } : stage)),
    ...{ observed_from: at, created_at: at, created_by: by, updated_at: at, updated_by: by },
  };
}
