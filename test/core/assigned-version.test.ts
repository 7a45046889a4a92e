import assert from "node:assert/strict";
import { test } from "node:test";
import { assignedVersion, bucketOf, isSelected } from "../../src/core/assigned-version.ts";

const fleet = Array.from({ length: 10_000 }, (_, i) => ({ name: `build-${i}` }));
const selected = (id: string, percent: number) =>
  fleet.filter((runtime) => isSelected({ id, version: "v2", stages: [{ percent }] }, runtime));

test("a percentage selects about that part, and always the same runtimes", () => {
  for (const percent of [1, 5, 25, 50, 99]) {
    const part = selected("r1", percent).length;
    assert.ok(Math.abs(part - percent * 100) < 150, `${part} of 10,000 for ${percent}%`);
    assert.deepEqual(selected("r1", percent), selected("r1", percent));
  }
  assert.equal(selected("r1", 100).length, 10_000);
});

test("the runtimes of a percentage are among those of every greater one", () => {
  const five = new Set(selected("r1", 5));
  const more = new Set(selected("r1", 25));
  assert.ok([...five].every((runtime) => more.has(runtime)));
});

test("another rollout begins with other runtimes", () => {
  const first = new Set(selected("r1", 5));
  const shared = selected("r2", 5).filter((runtime) => first.has(runtime));
  assert.ok(shared.length < 100, `${shared.length} of 500`);
});

test("a runtime must match everything that a stage gives, and one started stage is enough", () => {
  const labels = { env: "staging" };
  const is = (stages: Parameters<typeof isSelected>[0]["stages"], runtime: object) =>
    isSelected({ id: "r1", version: "v2", stages }, { name: "a", ...runtime });
  assert.equal(is([{ labels }], { labels: { env: "staging", team: "x" } }), true);
  assert.equal(is([{ labels }], { labels: { env: "production" } }), false);
  assert.equal(is([{ labels }], {}), false);
  assert.equal(is([{ labels: { constructor: "x" } }], { labels: {} }), false);
  assert.equal(is([{ labels, names: new Set(["b"]) }], { labels }), false);
  assert.equal(is([{ labels }, { names: new Set(["a"]) }], {}), true);
  assert.equal(is([], {}), false);
});

test("a runtime that no stage selects should have the active version", () => {
  const rollout = { id: "r1", version: "v2", stages: [{ names: new Set(["a"]) }] };
  assert.equal(assignedVersion({ active: "v1", rollout }, { name: "a" }), "v2");
  assert.equal(assignedVersion({ active: "v1", rollout }, { name: "b" }), "v1");
  assert.equal(assignedVersion({ active: "v1" }, { name: "a" }), "v1");
});

test("the bucket of a name is the first bytes of a hash, as the documentation says", () => {
  // printf 'r1\nbuild-1' | sha256sum, the first 8 digits, modulo 10,000
  assert.equal(bucketOf("r1", "build-1"), 8374);
  assert.equal(bucketOf("r1", "a\u0000b"), bucketOf("r1", "a?b"));
});
