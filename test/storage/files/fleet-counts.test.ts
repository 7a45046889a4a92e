import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isDrifted } from "../../../src/fleet/drift.ts";
import { statusAfter } from "../../../src/fleet/status.ts";
import type { FleetStore, StoredRuntime } from "../../../src/fleet/store.ts";
import { report } from "../../fleet/store-suite.ts";
import { newFiles, open, T0 } from "./fleet-engine.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ORGANIZATIONS = ["default", "acme"] as const;

type Step =
  | { readonly kind: "report"; readonly name: string; readonly version: string | undefined }
  | { readonly kind: "forget"; readonly name: string }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "count"; readonly shift: number; readonly active: string }
  | { readonly kind: "restart" };

const name = fc.constantFrom("a", "b", "c", "d", "e", "f");
const version = fc.constantFrom("v1", "v2", "v3", "__proto__");
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("report" as const),
      name,
      version: fc.option(version, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), name }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("wait" as const),
      ms: fc.constantFrom(
        1,
        14 * MINUTE_MS,
        15 * MINUTE_MS - 1,
        15 * MINUTE_MS,
        9 * HOUR_MS,
        24 * HOUR_MS,
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("count" as const),
      shift: fc.constantFrom(0, 0, 1, -1, 15 * MINUTE_MS, 24 * HOUR_MS, -24 * HOUR_MS),
      active: fc.oneof(version, fc.constantFrom("", "gone")),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
);

/** Counts the listed runtimes one by one. */
function naiveCounts(runtimes: readonly StoredRuntime[], now: number, active: string) {
  const all = runtimes.map(({ last_seen, policy_version }) => ({
    status: statusAfter(now - last_seen),
    policy_version,
  }));
  const are = (status: string) => all.filter((one) => one.status === status).length;
  const drifted = all.filter((one) => isDrifted(one, active)).length;
  return { online: are("online"), idle: are("idle"), drifted, total: all.length };
}

function naivePolicies(runtimes: readonly StoredRuntime[], now: number) {
  const versions = new Set(runtimes.flatMap(({ policy_version }) => policy_version ?? []));
  return [...versions].sort().map((version) => {
    const own = runtimes.filter(({ policy_version }) => policy_version === version);
    const present = own.filter(({ last_seen }) => statusAfter(now - last_seen) !== "offline");
    return { version, runtimes: own.length, present: present.length };
  });
}

async function check(
  store: FleetStore,
  models: ReadonlyMap<string, ReadonlyMap<string, StoredRuntime>>,
  now: number,
  active: string,
): Promise<void> {
  for (const [organization, model] of models) {
    const runtimes = [...model.values()];
    const expected = naiveCounts(runtimes, now, active);
    assert.deepEqual(await store.counts(organization, now, { active }), expected);
    const policies = await store.policies(organization, now, 10);
    assert.deepEqual(
      policies.toSorted((a, b) => (a.version < b.version ? -1 : 1)),
      naivePolicies(runtimes, now),
    );
  }
}

test("the counts equal those of the list while runtimes come, go, age and the server restarts", async () => {
  const anyStep = fc.tuple(fc.constantFrom(...ORGANIZATIONS), step);
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 60, size: "max" }), async (steps) => {
      const files = await newFiles();
      let store = await open(files);
      const models = new Map(ORGANIZATIONS.map((id) => [id, new Map<string, StoredRuntime>()]));
      let now = T0;
      for (const [organization, taken] of steps) {
        const model = models.get(organization);
        assert.ok(model);
        if (taken.kind === "wait") now += taken.ms;
        else if (taken.kind === "count")
          await check(store, models, now + taken.shift, taken.active);
        else if (taken.kind === "forget") {
          assert.equal(await store.forget(organization, taken.name), model.delete(taken.name));
        } else if (taken.kind === "restart") {
          await store.close();
          store = await open(files);
        } else {
          const { name, version: policy_version } = taken;
          const given = { name, ...(policy_version && { policy_version }) };
          await report(store, organization, given, now);
          model.set(name, { ...model.get(name), ...given, last_seen: now });
        }
      }
      await check(store, models, now, "v1");
      await store.close();
    }),
    { numRuns: 40 },
  );
});
