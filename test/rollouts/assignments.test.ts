import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { nextTurn } from "../../src/core/timers.ts";
import type { FleetStore } from "../../src/fleet/store.ts";
import { RolloutAssignments } from "../../src/rollouts/assignments.ts";
import { draftOf } from "../policies/store-suite.ts";
import { report } from "../fleet/store-suite.ts";
import { MemoryFleet } from "../support/memory-fleet.ts";
import { MemoryPolicies } from "../support/memory-policies.ts";
import { MemoryRollouts } from "../support/memory-rollouts.ts";
import { rolloutOf } from "./store-suite.ts";

async function open(isLater: boolean) {
  const policies = new MemoryPolicies();
  const rollouts = new MemoryRollouts(policies);
  const fleet = new MemoryFleet();
  for (const organization of ["default", "globex"]) {
    await policies.publish(organization, { ...draftOf("v2", "b: 2"), activates: false });
    await policies.publish(organization, draftOf("v1", "a: 1"));
  }
  for (const name of ["a", "b"]) await report(fleet, "default", { name });
  await report(fleet, "default", { name: "stage-1", labels: { env: "staging" } });
  const later = <T>(value: T) => (isLater ? Promise.resolve(value) : value);
  const asked: Pick<FleetStore, "labels"> & { known: FleetStore["known"] } = {
    known: (...of) => later(fleet.known(...of)),
    labels: (...of) => later(fleet.labels(...of)),
  };
  const assignments = new RolloutAssignments({
    policies: {
      // A new object, as a store that keeps its policies elsewhere gives.
      async get(organization, version) {
        const found = policies.get(organization, version);
        return found && { ...found };
      },
    },
    fleet: asked,
    rollouts: {
      expected: (organization) => later(rollouts.expected(organization)),
      addFetched: (...given) => rollouts.addFetched(...given),
    },
  });
  return { assignments, rollouts, fleet, asked };
}

for (const isLater of [false, true]) {
  const how = isLater ? "stores that answer later" : "stores that answer at once";

  test(`without a rollout every runtime gets the active version: ${how}`, async () => {
    const { assignments } = await open(isLater);
    assert.equal(await assignments.assigned("default", "stage-1"), "v1");
    assert.equal(await assignments.candidate("default", "stage-1"), undefined);
    assert.equal(await assignments.assigned("acme", "stage-1"), "");
  });

  test(`the runtimes that a started stage selects get the version: ${how}`, async () => {
    const { assignments, rollouts } = await open(isLater);
    const stages = [{ names: ["a"] }, { labels: { env: "staging" } }];
    await rollouts.create("default", rolloutOf("r1", { stages }));
    const all = async () =>
      Promise.all(["a", "stage-1", "b"].map(async (name) => assignments.assigned("default", name)));
    assert.deepEqual(await all(), ["v2", "v1", "v1"]);
    await rollouts.update("default", "r1", (one) => ({ ...one, current_stage: 2 }));
    assert.deepEqual(await all(), ["v2", "v2", "v1"]);
    const policy = await assignments.candidate("default", "stage-1");
    assert.deepEqual([policy?.version, policy?.active], ["v2", false]);
    assert.equal(await assignments.candidate("default", "a"), policy, "the same object");
    assert.equal(await assignments.candidate("default", "b"), undefined);
  });

  test(`fetches are stored once, and again after a failure: ${how}`, async () => {
    const { assignments, rollouts } = await open(isLater);
    await rollouts.create("default", rolloutOf("r1", { stages: [{ percent: 100 }] }));
    await assignments.candidate("default", "a");
    await assignments.candidate("default", "a");
    await assignments.candidate("default", "nobody of the fleet");
    await assignments.flush("default");
    assert.deepEqual([...rollouts.fetched("default", "r1")], ["a"]);
    await assignments.candidate("default", "b");
    const { addFetched } = rollouts;
    rollouts.addFetched = () => Promise.reject(new Error("EIO"));
    await assert.rejects(assignments.flush("default"), /EIO/);
    rollouts.addFetched = addFetched;
    await assignments.flush("default");
    assert.deepEqual([...rollouts.fetched("default", "r1")], ["a", "b"]);
  });
}

test("a runtime counts after its first report, even if two flushes overlap", async () => {
  const { assignments, rollouts, fleet, asked } = await open(false);
  await rollouts.create("default", rolloutOf("r1", { stages: [{ percent: 100 }] }));
  await assignments.candidate("default", "new");
  const { known } = asked;
  const answers: (() => void)[] = [];
  // The first flush asks for the fleet before the report, and gets its answer after the second flush has asked.
  asked.known = async (...of) => {
    const answer = await known(...of);
    await new Promise<void>((resolve) => answers.push(resolve));
    return answer;
  };
  const first = assignments.flush("default");
  await report(fleet, "default", { name: "new" });
  const second = assignments.flush("default");
  while (answers.length < 2) await nextTurn();
  for (const answer of answers) answer();
  await Promise.all([first, second]);
  asked.known = known;
  for (const name of ["a", "b"]) {
    await assignments.candidate("default", name);
    await assignments.flush("default");
  }
  assert.deepEqual([...rollouts.fetched("default", "r1")].sort(), ["a", "b", "new"]);
});

test("the fetches of all organizations are stored side by side", async () => {
  const { assignments, rollouts, asked } = await open(false);
  for (const organization of ["default", "globex"]) {
    await rollouts.create(organization, rolloutOf("r1", { stages: [{ percent: 100 }] }));
    await assignments.candidate(organization, "a");
  }
  const { known } = asked;
  const answers: (() => void)[] = [];
  asked.known = async (...of) => {
    await new Promise<void>((resolve) => answers.push(resolve));
    return known(...of);
  };
  const flushing = assignments.flushAll();
  while (answers.length < 2) await nextTurn(); // neither waits for the other
  for (const answer of answers) answer();
  assert.equal((await flushing).size, 0);
});

test("an ended rollout is forgotten once its fetches are stored", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const { assignments, rollouts } = await open(false);
  await rollouts.create("default", rolloutOf("r1", { stages: [{ percent: 100 }] }));
  const policy = new WeakRef((await assignments.candidate("default", "a")) ?? {});
  const isKept = async (): Promise<boolean> => {
    await nextTurn(); // a reference keeps its target until the turn has ended
    collect();
    return policy.deref() !== undefined;
  };
  assert.deepEqual(await assignments.flushAll(), new Map());
  assert.equal(await isKept(), true);
  await rollouts.update("default", "r1", (one) => ({ ...one, state: "completed" }));
  assert.deepEqual(await assignments.flushAll(), new Map());
  assert.equal(await isKept(), false);
  assert.equal(await assignments.candidate("default", "a"), undefined);
});
