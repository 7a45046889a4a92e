import { labelsSchema } from "../core/labels.ts";
import { withNone } from "../core/object-forms.ts";
import { boolean, dateTime, integer, list, object, string, word } from "../core/schema-parts.ts";
import type { Infer, Schema } from "../core/schema.ts";
import { RUNTIME_NAME } from "../fleet/schema.ts";

/** The states of a rollout; the first two are open. */
const STATES = ["running", "paused", "completed", "rolled_back", "superseded"] as const;
export type RolloutState = (typeof STATES)[number];

const MOST_STAGES = 20;
const MOST_NAMES = 1_000;
const MOST_HOLD_MINUTES = 43_200;

/** The action of a breached gate. */
const onBreach = word(
  "What a breached gate does: `pause` keeps the version where it is, `roll_back` returns all runtimes to the active version.",
  ["pause", "roll_back"],
);

const version = string("The policy version that is rolled out.", { examples: ["v2"] });

const gates = {
  title: "RolloutGates",
  type: "object",
  description: "The conditions under which a stage ends by itself.",
  properties: {
    min_runtimes: integer("The least number of runtimes that must report the version.", {
      minimum: 1,
    }),
    max_denied_increase_percent: integer(
      "The most percentage points by which the share of denied commands may lie above the share before the rollout.",
      { minimum: 0, maximum: 100 },
    ),
    max_offline: integer(
      "The most runtimes that may have the version and be silent for 15 minutes.",
      { minimum: 0 },
    ),
  },
} as const satisfies Schema;
export type RolloutGates = Infer<typeof gates>;

const stageProperties = {
  percent: integer("The percentage of the runtimes, chosen by a hash of their names.", {
    minimum: 1,
    maximum: 100,
  }),
  labels: { ...labelsSchema("The labels that the runtimes must have."), minProperties: 1 },
  names: {
    ...list(
      "The names of the runtimes.",
      string("The name of a runtime.", { maxLength: 512, ruled: RUNTIME_NAME }),
    ),
    minItems: 1,
    maxItems: MOST_NAMES,
  },
  hold_minutes: integer(
    "The minutes for which the stage runs at least, before its gates can pass.",
    {
      minimum: 0,
      maximum: MOST_HOLD_MINUTES,
    },
  ),
  gates,
} as const;

const stageDraft = {
  title: "RolloutStageDraft",
  type: "object",
  description:
    "A part of the fleet: the runtimes that match everything that is given. At least one of `percent`, `labels` and `names` is required.",
  strict: true,
  properties: {
    ...stageProperties,
    labels: { ...stageProperties.labels, strict: true },
    gates: { ...gates, title: "RolloutGatesDraft", strict: true },
  },
  ruled: { not: withNone("percent", "labels", "names") },
  examples: [{ percent: 5, hold_minutes: 60, gates: { min_runtimes: 10 } }],
} as const satisfies Schema;

/** The request for a rollout. */
export const rolloutDraft = {
  title: "RolloutDraft",
  type: "object",
  description: "A version for parts of the fleet, stage by stage.",
  required: ["version", "stages"],
  strict: true,
  properties: {
    version,
    stages: {
      ...list("The stages, first to last.", stageDraft),
      minItems: 1,
      maxItems: MOST_STAGES,
    },
    on_breach: { ...onBreach, default: "pause" },
  },
} as const satisfies Schema;
export type RolloutDraft = Infer<typeof rolloutDraft>;

const decided = object({
  description: "Counts of decided commands.",
  properties: {
    commands: integer("The commands with a decision."),
    denied: integer("Those of them that were denied."),
  },
});
export type Decided = Infer<typeof decided>;

/** The figures of a stage. */
const stageFigures = object({
  title: "RolloutFigures",
  description: "The runtimes of a stage and of the stages before it, and their commands.",
  optional: ["after"],
  properties: {
    assigned: integer("The runtimes of the fleet that get the version once the stage has started."),
    fetched: integer("Those of them that have fetched the version."),
    reporting: integer("Those of them whose last report names the version."),
    silent: integer("Those that have the version and have been silent for 15 minutes."),
    before: {
      ...decided,
      description: "The commands of these runtimes in the seven days before the rollout.",
    },
    after: { ...decided, description: "The commands since the stage started, by the version." },
  },
});
export type StageFigures = Infer<typeof stageFigures>;

/** A judgement of a stage's gates at a moment. */
const judgement = object({
  title: "RolloutJudgement",
  description: "What the gates of the current stage say at this moment.",
  properties: {
    outcome: word("`waiting`, `passed`, or `breached`.", ["waiting", "passed", "breached"]),
    by_itself: boolean("Whether the stage ends by itself. Otherwise a person advances it."),
    reasons: list("What is waited for, or what was breached.", string("A reason, as a sentence.")),
  },
});
export type RolloutJudgement = Infer<typeof judgement>;

const stage = {
  title: "RolloutStage",
  type: "object",
  description: "A stage of a rollout.",
  properties: {
    ...stageProperties,
    started_at: dateTime("When it started; absent before."),
    ended_at: dateTime("When the next stage started, or the rollout ended."),
    figures: stageFigures,
  },
} as const satisfies Schema;
export type RolloutStage = Infer<typeof stage>;

/** A rollout, as it is stored and answered. */
export const rollout = object({
  title: "Rollout",
  description: "The rollout of a policy version.",
  optional: ["reason", "ended_at", "judgement"],
  properties: {
    id: string("The id of the rollout. Ids sort by time."),
    version,
    base_version: string("The version that was active when the rollout was created."),
    on_breach: onBreach,
    state: word(
      "`running` and `paused` are open. `superseded` means that another version was activated meanwhile.",
      STATES,
    ),
    current_stage: integer("The number of the current stage, counted from 1."),
    stages: list("The stages, first to last.", stage),
    observed_from: dateTime(
      "Since when the gates observe the current stage: its start, or the last `resume`.",
    ),
    reason: string("Why the rollout was paused or ended, if a gate or another change did it."),
    created_at: dateTime("When it was created."),
    created_by: string("Who created it."),
    updated_at: dateTime("The time of its last step."),
    updated_by: string("Who took the last step: a user's email, `portal-api`, or `gate`."),
    ended_at: dateTime("When it ended; absent while it is open."),
    judgement,
  },
});
export type Rollout = Infer<typeof rollout>;

/** The organization's rollouts. */
export const rolloutList = object({
  title: "RolloutList",
  description: "The rollouts of the organization, newest first.",
  properties: { rollouts: list("The rollouts, without figures.", rollout) },
});

/** The body of a step. */
export const rolloutStep = {
  title: "RolloutStep",
  type: "object",
  description: "A step of a rollout.",
  properties: {
    stage: integer(
      "The current stage as the caller knows it. If another one is, the step is refused.",
      { minimum: 1, strict: true },
    ),
  },
} as const satisfies Schema;
