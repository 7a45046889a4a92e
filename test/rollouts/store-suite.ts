import assert from "node:assert/strict";
import { test } from "node:test";
import { Conflict } from "../../src/core/errors.ts";
import type { PolicyStore } from "../../src/policies/store.ts";
import type { Rollout } from "../../src/rollouts/schema.ts";
import { stepped } from "../../src/rollouts/state.ts";
import { KEPT_LENGTH, type RolloutStore } from "../../src/rollouts/store.ts";
import { draftOf } from "../policies/store-suite.ts";

/** Stores over a place that is empty at first; `reopen` opens the same place as after a restart. */
export interface RolloutEngine {
  readonly policies: PolicyStore;
  readonly rollouts: RolloutStore;
  reopen(): Promise<RolloutEngine>;
}

const AT = "2026-11-20T20:30:00.000Z";
const STEPPING = { by: "ada@example.com", at: AT };

/** A rollout of `v2` over `v1`, in its first stage. */
export function rolloutOf(id: string, change: Partial<Rollout> = {}): Rollout {
  return {
    ...{ id, version: "v2", base_version: "v1", on_breach: "pause", state: "running" },
    current_stage: 1,
    stages: [{ names: ["a"], started_at: AT }, { percent: 100 }],
    ...{ observed_from: AT, created_at: AT, created_by: "ada@example.com" },
    ...{ updated_at: AT, updated_by: "ada@example.com" },
    ...change,
  };
}

/** The tests that every engine's rollouts pass. */
export function rolloutStoreSuite(engineName: string, open: () => Promise<RolloutEngine>): void {
  const it = (name: string, body: (engine: RolloutEngine) => Promise<void>): void => {
    void test(`${engineName}: ${name}`, async () => {
      const engine = await open();
      await engine.policies.publish("default", draftOf("v1", "a: 1"));
      await body(engine);
    });
  };

  it("an organization without rollouts expects the active version", async ({ rollouts }) => {
    assert.deepEqual(await rollouts.expected("default"), { active: "v1" });
    assert.deepEqual(await rollouts.expected("acme"), { active: "" });
    assert.deepEqual(await rollouts.list("default"), []);
    assert.deepEqual(await rollouts.open(), []);
    assert.equal(await rollouts.get("default", "r1"), undefined);
    assert.equal(await rollouts.update("default", "r1", (one) => one), undefined);
  });

  it("a second rollout is refused while one is open", async ({ rollouts }) => {
    await rollouts.create("default", rolloutOf("r1"));
    await assert.rejects(rollouts.create("default", rolloutOf("r2")), Conflict);
    await rollouts.create("acme", rolloutOf("r3"));
    const end = (rollout: Rollout): Rollout => stepped(rollout, { kind: "roll_back" }, STEPPING);
    assert.equal((await rollouts.update("default", "r1", end))?.state, "rolled_back");
    await rollouts.create("default", rolloutOf("r2"));
    const ids = (await rollouts.list("default")).map(({ id }) => id);
    assert.deepEqual(ids, ["r2", "r1"]);
    assert.deepEqual(
      (await rollouts.open()).map(({ organization, rollout }) => [organization, rollout.id]).sort(),
      [
        ["acme", "r3"],
        ["default", "r2"],
      ],
    );
  });

  it("a rollout and its steps survive a restart", async (engine) => {
    const first = rolloutOf("r1", {
      stages: [
        { labels: { constructor: "yes", env: "staging" }, percent: 5, gates: { max_offline: 0 } },
        { names: ["a\u0000b", "c"], hold_minutes: 10 },
      ],
    });
    await engine.rollouts.create("default", first);
    const second = await engine.reopen();
    assert.deepEqual(await second.rollouts.get("default", "r1"), first);
    const next = await second.rollouts.update("default", "r1", (rollout) =>
      stepped(rollout, { kind: "advance" }, STEPPING),
    );
    assert.equal(next?.current_stage, 2);
    const third = await engine.reopen();
    assert.deepEqual(await third.rollouts.list("default"), [next]);
    const { rollout } = await third.rollouts.expected("default");
    assert.equal(rollout?.stages.length, 2);
    assert.ok(rollout?.stages[1]?.names?.has("a\u0000b"));
  });

  it("an unchanged rollout is the same object, a changed one is another", async ({ rollouts }) => {
    await rollouts.create("default", rolloutOf("r1"));
    const { rollout } = await rollouts.expected("default");
    assert.equal((await rollouts.expected("default")).rollout, rollout);
    await rollouts.update("default", "r1", (one) => stepped(one, { kind: "advance" }, STEPPING));
    assert.notEqual((await rollouts.expected("default")).rollout, rollout);
  });

  it("a rollout has no effect once another version is active", async ({ policies, rollouts }) => {
    await rollouts.create("default", rolloutOf("r1"));
    await policies.publish("default", draftOf("v3", "a: 3"));
    assert.deepEqual(await rollouts.expected("default"), { active: "v3" });
  });

  it("a change that throws changes nothing", async ({ rollouts }) => {
    await rollouts.create("default", rolloutOf("r1"));
    const refused = rollouts.update("default", "r1", () => {
      throw new Conflict("no");
    });
    await assert.rejects(refused, { message: "no" });
    assert.deepEqual(await rollouts.get("default", "r1"), rolloutOf("r1"));
  });

  it("changes happen one after another", async ({ rollouts }) => {
    await rollouts.create("default", rolloutOf("r1", { stages: Array(9).fill({ percent: 50 }) }));
    const advance = () =>
      rollouts.update("default", "r1", (one) => stepped(one, { kind: "advance" }, STEPPING));
    await Promise.all(Array.from({ length: 8 }, advance));
    assert.equal((await rollouts.get("default", "r1"))?.current_stage, 9);
  });

  it("the runtimes that fetched are kept while the rollout is open", async (engine) => {
    const { rollouts } = engine;
    await rollouts.create("default", rolloutOf("r1"));
    await rollouts.addFetched("default", "r1", ["a", "b\u0000"]);
    await rollouts.addFetched("default", "r1", ["a", "c"]);
    await rollouts.addFetched("default", "r0", ["x"]);
    const again = (await engine.reopen()).rollouts;
    assert.deepEqual([...(await again.fetched("default", "r1"))].sort(), ["a", "b\u0000", "c"]);
    assert.equal((await again.fetched("default", "r0")).size, 0);
    await again.update("default", "r1", (one) => stepped(one, { kind: "roll_back" }, STEPPING));
    assert.equal((await again.fetched("default", "r1")).size, 0);
  });

  it("the oldest rollouts go once all of them are too long", async ({ rollouts }) => {
    const names = Array.from({ length: 1_000 }, (_, i) => `runtime-${i}`.padEnd(55, "x"));
    const ended = (id: string) => rolloutOf(id, { state: "rolled_back", stages: [{ names }] });
    const most = Math.floor(KEPT_LENGTH / JSON.stringify(ended("r10")).length);
    const ids = Array.from({ length: most + 2 }, (_, i) => `r${i + 10}`);
    for (const id of ids) await rollouts.create("default", ended(id));
    const kept = (await rollouts.list("default")).map(({ id }) => id);
    assert.deepEqual(kept, ids.slice(2).reverse());
  });

  it("restored rollouts are the same", async ({ rollouts }) => {
    const ended = stepped(rolloutOf("r1"), { kind: "roll_back" }, STEPPING);
    await rollouts.restore("default", [ended, rolloutOf("r2")]);
    assert.deepEqual(await rollouts.list("default"), [rolloutOf("r2"), ended]);
    await assert.rejects(rollouts.create("default", rolloutOf("r3")), Conflict);
  });
}
