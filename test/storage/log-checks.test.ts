import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { createLog } from "../../src/core/log.ts";
import { runChecks } from "../../src/storage/log-checks.ts";

/** Checks that take one turn of the loop each, and a list of the finished steps in order. */
function checksOf(...sizes: readonly number[]) {
  const done: number[] = [];
  const checks = sizes.map((bytes) => ({
    what: `/log-${bytes}`,
    bytes,
    async run() {
      await turn();
      if (bytes === 13) throw new Error("No luck");
      done.push(bytes);
    },
  }));
  const lines: string[] = [];
  const log = createLog(
    "warn",
    () => 0,
    (line) => void lines.push(line),
  );
  return { checks, done, log, lines };
}

test("small logs are checked first, and those beyond the limit afterwards", async () => {
  const { checks, done, log } = checksOf(60, 10, 30, 1_000);
  const running = await runChecks(checks, 100, log);
  assert.deepEqual(done, [10, 30, 60]);
  await running.done;
  assert.deepEqual(done, [10, 30, 60, 1_000]);
});

test("closing waits for the current check", async () => {
  const { checks, done, log } = checksOf(1, 2, 3);
  const running = await runChecks(checks, 0, log);
  await running.close();
  assert.deepEqual(done, [1]);
});

test("a failed check is reported, and the others go on", async () => {
  const { checks, done, log, lines } = checksOf(10, 13, 20);
  await runChecks(checks, 100, log);
  assert.deepEqual(done, [10, 20]);
  assert.match(lines.join(""), /could not be checked.*\/log-13.*No luck/);
});
