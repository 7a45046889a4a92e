import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../src/core/clock.ts";

import { isWeekend } from "../../src/demo/company.ts";
import { policyHistory, POLICY_TEXTS } from "../../src/demo/policy-history.ts";
import { versionAt } from "../../src/demo/runtime.ts";
import { examine } from "../../src/policies/examine.ts";

const FRIDAY = Date.parse("2026-11-20T20:30:00Z");

for (const [version, yaml] of POLICY_TEXTS) {
  test(`version ${version} of the example is valid, and its tests pass`, () => {
    const { document, problems } = examine({ yaml, command: undefined });
    assert.deepEqual(problems, []);
    assert.ok((document?.tests.length ?? 0) >= 4);
    assert.ok(document?.rules.every(({ effect, reason }) => effect === "allow" || reason));
  });
}

test("every version is published once, and one is activated again", () => {
  const published = policyHistory(FRIDAY).filter(({ description }) => description !== undefined);
  assert.deepEqual(
    published.map(({ version }) => version),
    [...POLICY_TEXTS.keys()],
  );
  const [rollback, ...others] = policyHistory(FRIDAY).filter((change) => !change.description);
  assert.equal(rollback?.version, "v4");
  assert.deepEqual(others, []);
});

test("changes are made on working days of the last two weeks, on any day of the week", () => {
  for (let day = 0; day < 7; day++) {
    const now = FRIDAY + day * DAY_MS;
    const times = policyHistory(now).map(({ at }) => at);
    assert.deepEqual(
      times,
      [...times].sort((a, b) => a - b),
    );
    assert.ok(times.every((at) => !isWeekend(at) && at < now && at > now - 15 * DAY_MS));
    assert.ok(now - (times[0] ?? now) > 12 * DAY_MS);
  }
});

test("a machine that no longer fetches the policy keeps its version", () => {
  const history = policyHistory(FRIDAY);
  assert.equal(versionAt(history, "runner-eu-1", FRIDAY), "v7");
  assert.equal(versionAt(history, "runner-us-3", FRIDAY), "v4");
  assert.equal(versionAt(history, "agent-costs-1", FRIDAY), "v6");
  assert.equal(versionAt(history, "runner-eu-1", FRIDAY - 40 * DAY_MS), "v1");
});
