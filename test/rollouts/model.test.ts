/**
 * Rollouts against a naive model: random steps, restarts, and kills in the middle of a step. After a kill the stores
 * must be in the state before the step or after it, once the next round has judged them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { assignedVersion } from "../../src/core/assigned-version.ts";
import { Conflict } from "../../src/core/errors.ts";
import type { Rollout } from "../../src/rollouts/schema.ts";
import type { Step } from "../../src/rollouts/state.ts";
import { settled, takeStep } from "../../src/rollouts/steps.ts";
import { FilePolicies } from "../../src/storage/files/policies.ts";
import { FileRollouts } from "../../src/storage/files/rollouts.ts";
import { isOrganizationId, Layout } from "../../src/storage/layout.ts";
import { draftOf } from "../policies/store-suite.ts";
import { newFiles } from "../storage/files/fleet-engine.ts";
import { systemError, type ForgetfulFiles } from "../support/forgetful-files.ts";
import { rolloutOf } from "./store-suite.ts";

const layout = new Layout("/data");
const AT = "2026-11-20T20:30:00.000Z";
const STEPPING = { by: "ada", at: AT };
const VERSIONS = ["v1", "v2", "v3"] as const;

/** The whole state, as plainly as possible. Of the rollouts only the newest is kept: the others have ended. */
interface Model {
  readonly active: string;
  readonly newest?: {
    readonly id: string;
    readonly version: string;
    readonly base: string;
    readonly onBreach: "pause" | "roll_back";
    readonly state: string;
    readonly stage: number;
    readonly stages: number;
  };
}

type Action =
  | {
      readonly kind: "create";
      readonly version: string;
      readonly stages: number;
      readonly onBreach: "pause" | "roll_back";
    }
  | { readonly kind: "activate"; readonly version: string }
  | { readonly kind: "advance" | "pause" | "resume" | "roll_back" | "pass" | "breach" }
  | { readonly kind: "restart" };

/** The model after an action; `undefined` if the action is refused. */
function expectedAfter(model: Model, action: Action, id: string): Model | undefined {
  const { active, newest } = model;
  const isRunning = newest?.state === "running";
  const isPaused = newest?.state === "paused";
  const to = (change: object): Model => ({
    active,
    newest: { ...(newest as NonNullable<typeof newest>), ...change },
  });
  switch (action.kind) {
    case "restart":
      return model;
    case "activate": {
      if (action.version === active || (!isRunning && !isPaused)) {
        return { ...model, active: action.version };
      }
      const state = action.version === newest.version ? "completed" : "superseded";
      return { ...to({ state }), active: action.version };
    }
    case "create": {
      if (isRunning || isPaused || action.version === active) return undefined;
      const { version, stages, onBreach } = action;
      const created = { id, version, stages, onBreach, base: active, state: "running", stage: 1 };
      return { active, newest: created };
    }
    case "pause":
      return isRunning ? to({ state: "paused" }) : undefined;
    case "resume":
      return isPaused ? to({ state: "running" }) : undefined;
    case "roll_back":
      return isRunning || isPaused ? to({ state: "rolled_back" }) : undefined;
    case "breach":
      if (!isRunning) return undefined;
      return to({ state: newest.onBreach === "pause" ? "paused" : "rolled_back" });
    default:
      if (!isRunning) return undefined;
      if (newest.stage < newest.stages) return to({ stage: newest.stage + 1 });
      return { ...to({ state: "completed" }), active: newest.version };
  }
}

interface Opened {
  readonly policies: FilePolicies;
  readonly rollouts: FileRollouts;
}

async function open(files: ForgetfulFiles): Promise<Opened> {
  const names = await files.readDirectory(layout.organizations).catch(() => []);
  const ids = names.filter(isOrganizationId);
  const policies = await FilePolicies.open(files, layout, ids);
  const active = (organization: string): string => policies.activeVersion(organization);
  return { policies, rollouts: await FileRollouts.open(files, layout, ids, active) };
}

/** Does an action to the stores, as a person or a gate does. */
async function act(opened: Opened, action: Action, id: string, stage: number): Promise<void> {
  const { policies, rollouts } = opened;
  const [newest] = rollouts.list("default");
  if (action.kind === "activate") {
    await policies.activate("default", action.version, AT, "ada");
    return void (await discover(opened));
  }
  if (action.kind === "create") {
    const base = policies.activeVersion("default");
    if (base === action.version) throw new Conflict("active already");
    const stages = Array.from({ length: action.stages }, (_, i) => ({ names: [`s${i + 1}`] }));
    const { version, onBreach: on_breach } = action;
    const created = rolloutOf(id, { version, base_version: base, on_breach, stages });
    return rollouts.create("default", created);
  }
  if (action.kind === "restart" || newest === undefined) throw new Conflict("nothing to do");
  const gates = { breach: { stage, reason: "bad" }, pass: { stage } };
  const more = action.kind === "breach" || action.kind === "pass" ? gates[action.kind] : {};
  const step = { kind: action.kind, ...more } as Step;
  await takeStep(opened, "default", newest.id, step, STEPPING);
}

/** Does the first part of each round of the service: it ends a rollout whose base is no longer active. */
async function discover(opened: Opened): Promise<void> {
  const version = opened.policies.activeVersion("default");
  for (const { rollout } of opened.rollouts.open()) {
    if (rollout.base_version === version) continue;
    await takeStep(opened, "default", rollout.id, { kind: "activated", version }, STEPPING);
  }
}

function seen({ policies, rollouts }: Opened): Model {
  const active = policies.activeVersion("default");
  const [newest] = rollouts.list("default");
  if (newest === undefined) return { active };
  const { id, version, base_version: base, on_breach, state, current_stage, stages } = newest;
  const counts = { stage: current_stage, stages: stages.length };
  return { active, newest: { id, version, base, onBreach: on_breach, state, ...counts } };
}

/** Checks that each runtime is assigned what the model says, whatever is cached. */
function checkAssignments({ rollouts }: Opened, { active, newest }: Model): void {
  const isOpen = newest?.state === "running" || newest?.state === "paused";
  for (let n = 1; n <= 4; n++) {
    const wanted = isOpen && n <= Math.min(newest.stage, newest.stages) ? newest.version : active;
    assert.equal(assignedVersion(rollouts.expected("default"), { name: `s${n}` }), wanted);
  }
}

const version = fc.constantFrom(...VERSIONS);
const onBreach = fc.constantFrom("pause" as const, "roll_back" as const);
const plain = fc.constantFrom(
  "advance",
  "pause",
  "resume",
  "roll_back",
  "pass",
  "breach",
  "restart",
);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("create" as const),
      version,
      stages: fc.integer({ min: 1, max: 4 }),
      onBreach,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("activate" as const), version }) },
  { weight: 8, arbitrary: plain.map((kind) => ({ kind }) as Action) },
);
/** After how many file operations the process is killed; with power loss or without. */
const kill = fc.record({ after: fc.nat(40), isPowerCut: fc.boolean() });

test("rollouts agree with a naive model, through restarts and kills in the middle of a step", async () => {
  let taken = 0;
  let killed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(action, fc.option(kill, { freq: 4 })), { maxLength: 40, size: "max" }),
      async (script) => {
        let files = await newFiles();
        let opened = await open(files);
        for (const name of VERSIONS) {
          const draft = { ...draftOf(name, "a: 1"), activates: name === "v1" };
          await opened.policies.publish("default", draft);
        }
        let model: Model = { active: "v1" };
        for (const [n, [what, fatal]] of script.entries()) {
          const id = `r${n}`;
          const after = expectedAfter(model, what, id);
          if (fatal !== null) {
            let left = fatal.after;
            files.before = () => {
              if (left-- <= 0) throw systemError("EIO");
            };
          }
          const outcome = await act(opened, what, id, model.newest?.stage ?? 1).then(
            () => "done",
            (error: unknown) => (error instanceof Conflict ? "refused" : "failed"),
          );
          if (fatal !== null || what.kind === "restart") {
            files = fatal?.isPowerCut ? files.powerCut(() => 0) : files.restarted();
            opened = await open(files);
            await discover(opened);
            const present = seen(opened);
            // A step that was answered is kept; any other one happened wholly or not at all.
            const isAfter = outcome === "done" || isDeepStrictEqual(present, after ?? model);
            killed += outcome === "failed" ? 1 : 0;
            if (isAfter) model = after ?? model;
          } else {
            assert.equal(outcome, after === undefined ? "refused" : "done", JSON.stringify(what));
            taken += outcome === "done" ? 1 : 0;
            model = after ?? model;
          }
          assert.deepEqual(seen(opened), model);
          checkAssignments(opened, model);
        }
      },
    ),
    { numRuns: 150 },
  );
  assert.ok(taken > 50 && killed > 20, `${taken} steps and ${killed} kills in a step`);
});

test("what is read between an activation and the next round is what the round will find", () => {
  const open: Rollout = rolloutOf("r1");
  assert.equal(settled(open, "v1", AT), open);
  assert.equal(settled(open, "v2", AT).state, "completed");
  assert.equal(settled(open, "v3", AT).state, "superseded");
  assert.equal(settled({ ...open, state: "rolled_back" }, "v3", AT).state, "rolled_back");
});
